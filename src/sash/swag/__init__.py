"""HOW one window slides: the algorithms of the literature behind one interface.

>>> import sash
>>> sash.swag.slide([3, 1, 2, 5, 4], 3, sash.max(), algorithm="daba_lite")
[3, 3, 3, 5, 5]
>>> "daba_lite" in sash.swag.ALGORITHMS
True
"""

from sash.swag.catalog import ALGORITHMS
from sash.swag.fixed_window import FixedWindow, open_fixed
from sash.swag.slide import explain, fold, slide
from sash.swag.slide_many import slide_many
from sash.swag.window import Window, open

__all__ = ["ALGORITHMS", "FixedWindow", "Window", "explain", "fold", "open", "open_fixed", "slide", "slide_many"]
