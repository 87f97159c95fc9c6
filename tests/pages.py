"""The pages that users read, and the blocks of code in them."""

import re
from collections.abc import Iterator
from pathlib import Path

__all__ = ["DOCS", "PAGES", "blocks", "needs_spark"]

ROOT = Path(__file__).parents[1]
DOCS = ROOT / "docs"
PAGES = (*sorted(ROOT.glob("*.md")), *sorted(DOCS.rglob("*.md")))

_BLOCK = re.compile(r"^```(\S*)\n(.*?)^```$", re.S | re.M)
_SPARK = re.compile(r"^(?:>>>|\.\.\.) .*\bspark\.", re.M)


def blocks(page: Path) -> Iterator[tuple[str, str]]:
    """Language and content of each block of a page."""
    for found in _BLOCK.finditer(page.read_text(encoding="utf-8")):
        yield found[1], found[2]


def needs_spark(page: Path) -> bool:
    """Whether an example of a page calls a session."""
    return any(_SPARK.search(content) for language, content in blocks(page) if language == "pycon")
