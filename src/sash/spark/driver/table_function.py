"""Query text inside Spark SQL, as a table function."""

from collections.abc import Mapping
from typing import Any

from pyspark.sql import functions as F

from sash.algebra.aggregate import Template
from sash.errors import InvalidInput
from sash.spark.driver.worker_python import use_driver_python
from sash.spark.versions import check_table_functions
from sash.text.functions import functions_of

__all__ = ["register_functions"]


def register_functions(session: Any, *, name: str = "sash", functions: Mapping[str, Template] | None = None) -> None:
    """Register a table function for query text in a session: `SELECT * FROM sash(TABLE(events), 'SELECT …', 'ts')`.

    The text is that of `sash.sql`. Any table name in the text stands for the table in the first argument. Pass `on` and
    `by` after the text, if the text does not contain them. The function can use aggregates that are already registered,
    and those in `functions`.
    """
    if not isinstance(name, str) or not name.isidentifier():
        raise InvalidInput.option("name", name, "the name of a function, such as 'sash'")
    check_table_functions()
    use_driver_python(session)
    from sash.spark.driver.function_analysis import function_class

    session.udtf.register(name, F.udtf(function_class(functions_of(functions).own), useArrow=False))
