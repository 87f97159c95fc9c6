"""The tables of `sash algorithms` fit a terminal of 80 columns."""

import io

import pytest
from rich.console import Console

from sash.cli.algorithm_table import facts_tables
from sash.cli.table import Table

COLUMNS = 80


@pytest.mark.parametrize("table", facts_tables(), ids=lambda table: table.headings[1])
def test_a_table_fits_and_no_cell_is_wrapped(table: Table) -> None:
    terminal = Console(file=io.StringIO(), width=COLUMNS)
    terminal.print(table.rich())
    assert isinstance(terminal.file, io.StringIO)
    in_a_terminal, in_a_file = terminal.file.getvalue().splitlines(), table.text().splitlines()
    assert max(map(len, in_a_terminal + in_a_file)) <= COLUMNS
    assert len(in_a_terminal) == len(in_a_file) == 3 + len(table.rows)
