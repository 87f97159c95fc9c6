"""Leave the pages that need a Spark session to tests/spark/test_docs.py."""

import pytest
from tests.conftest import pytest_collection_finish as pytest_collection_finish
from tests.pages import PAGES, needs_spark

collect_ignore = ["conf.py", *(str(page) for page in PAGES if needs_spark(page))]


def pytest_itemcollected(item: pytest.Item) -> None:
    """Mark every page, so that `make compiled` can select its pages."""
    item.add_marker(pytest.mark.compiled)
