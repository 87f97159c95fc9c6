"""A landmark window: one fixed window, [start, end)."""

from typing import Any, ClassVar

import numpy as np

from sash.kinds.kind import Kind, Moment, StreamView
from sash.slicing.window_manager import Ended, given_windows
from sash.windows.built_in import Landmark, landmark

__all__ = ["LandmarkKind"]


class LandmarkKind(Kind):
    """One fixed window."""

    describes = Landmark
    rebuild = staticmethod(landmark)
    spark_slices: ClassVar[bool] = True

    def points(self) -> list[Any]:
        return [self.window.start, self.window.end]

    def slices_per_window(self, edges_per_unit: float) -> float:
        return max(1.0, edges_per_unit * float(self.window.end - self.window.start))

    @property
    def lookback(self) -> Any:
        return self.window.end - self.window.start

    def due(self, held: StreamView, own: Any, moment: Moment) -> Ended:
        start, end, dtype = self.window.start, self.window.end, held.slices.firsts.dtype
        if not moment.after < end <= moment.until:
            return Ended.none(self.setting.dtype)
        keys = len(moment.slots)
        return given_windows(held.slices, moment.slots, np.full(keys, start, dtype), np.full(keys, end, dtype))

    def keep_from(self, final: Any) -> tuple[Any, Any]:
        highest = self.setting.highest
        return (self.window.start if self.window.end > final else highest), highest

    def next_end(self, held: StreamView) -> Any:
        numbers, _ = held.slices.list_all()
        start, end = self.window.start, self.window.end
        has_rows = (held.slices.lasts[numbers] >= start) & (held.slices.firsts[numbers] < end)
        return end if end > held.watermark and has_rows.any() else None
