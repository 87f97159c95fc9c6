"""The one list of pictures: `python -m docs.drawings` writes them, the tests compare them."""

from collections.abc import Callable, Mapping

from docs.drawings import arrays, arrivals, frames, queues, slices, trees, windows
from docs.drawings.canvas import Canvas

__all__ = ["PICTURES"]

PICTURES: Mapping[str, Callable[[], Canvas]] = {
    **windows.PICTURES,
    **frames.PICTURES,
    **arrivals.PICTURES,
    **slices.PICTURES,
    **queues.PICTURES,
    **trees.PICTURES,
    **arrays.PICTURES,
}
