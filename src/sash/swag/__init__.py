"""HOW one window slides: every algorithm of the literature behind one door."""

from sash.swag.catalog import ALGORITHMS
from sash.swag.door import explain, fold, slide
from sash.swag.window import Window, open

__all__ = ["ALGORITHMS", "Window", "explain", "fold", "open", "slide"]
