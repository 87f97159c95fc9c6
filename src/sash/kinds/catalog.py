"""The kinds of windows. To add one, list its class here."""

from collections.abc import Callable

from sash.errors import InvalidWindow
from sash.kinds.calendar import CalendarKind, ListedKind
from sash.kinds.count import CountKind
from sash.kinds.cumulative import CumulativeKind
from sash.kinds.kind import Kind, Setting
from sash.kinds.landmark import LandmarkKind
from sash.kinds.last_rows import LastRowsKind
from sash.kinds.last_time import LastTimeKind
from sash.kinds.punctuated import PunctuatedKind
from sash.kinds.session import SessionKind
from sash.kinds.sliding import SlidingKind
from sash.kinds.user_aware import UserAwareKind
from sash.kinds.user_forward import UserForwardKind
from sash.kinds.user_free import UserFreeKind
from sash.kinds.user_marked import UserMarkedKind
from sash.windows.window import Window

__all__ = ["KINDS", "kind_of", "savable_windows"]

KINDS: tuple[type[Kind], ...] = (
    SlidingKind,
    CumulativeKind,
    LandmarkKind,
    SessionKind,
    PunctuatedKind,
    CountKind,
    LastRowsKind,
    LastTimeKind,
    CalendarKind,
    ListedKind,
    UserFreeKind,
    UserForwardKind,
    UserMarkedKind,
    UserAwareKind,
)


def kind_of(window: Window, setting: Setting) -> Kind:
    """Return the kind of a window whose lengths are positions, bound to its stream."""
    for kind in KINDS:
        if isinstance(window, kind.describes):
            return kind(window, setting)
    raise InvalidWindow.unknown_kind(window, [kind.describes.__name__ for kind in KINDS])


def savable_windows() -> dict[str, Callable[..., Window]]:
    """Return functions that rebuild windows from their saved fields, by the names of the windows' classes."""
    return {kind.describes.__name__: kind.rebuild for kind in KINDS if kind.rebuild is not None}
