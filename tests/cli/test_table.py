"""Tables for terminals and web pages."""

from sash.cli.table import Table


def test_a_table_for_terminals_has_all_rows() -> None:
    assert Table("t", ("a", "b"), (("x", "1"), ("[y]", "miss"))).rich().row_count == 2


def test_a_table_for_the_web_escapes_its_cells_and_marks_verdicts() -> None:
    text = Table("a & b", ("<who>", "says"), (("<b>", "miss"), ('"', "not measured"))).html()
    assert "<b>" not in text and "&lt;b&gt;" in text and "a &amp; b" in text and "&quot;" in text
    assert '<td class="miss">miss</td>' in text and '<td class="not-measured">' in text
