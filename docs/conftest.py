"""Examples that need a Spark session are run by tests/spark/test_docs.py; all others by pytest itself."""

from tests.pages import PAGES, needs_spark

collect_ignore = ["conf.py", *(str(page) for page in PAGES if needs_spark(page))]
