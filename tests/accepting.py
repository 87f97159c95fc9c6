"""Properties of the form "accepted or refused": they also demand that enough cases are accepted.

Such a property holds where everything is refused. So the same examples are drawn in every run, and counted.
"""

from collections.abc import Callable
from typing import Any

from hypothesis import given, settings
from hypothesis.strategies import SearchStrategy, sampled_from

__all__ = ["accepting", "mostly"]


def mostly(usual: SearchStrategy[Any], odd: SearchStrategy[Any]) -> SearchStrategy[Any]:
    """Three usual values to an odd one, however many kinds of odd values there are."""
    return sampled_from([usual, usual, usual, odd]).flatmap(lambda chosen: chosen)


def accepting(
    share: float, examples: int = 100, **cases: SearchStrategy[Any]
) -> Callable[[Callable[..., bool]], Callable[[], None]]:
    """Make a test of a property that returns whether its case was accepted: at least this share of them must be."""

    def decorate(check: Callable[..., bool]) -> Callable[[], None]:
        def test() -> None:
            accepted = []

            @settings(max_examples=examples, derandomize=True, database=None)
            @given(**cases)
            def run(**case: Any) -> None:
                accepted.append(check(**case))

            run()
            found = f"{sum(accepted)} of {len(accepted)} cases were accepted"
            assert share * len(accepted) <= sum(accepted) < len(accepted), found

        test.__name__, test.__doc__, test.__module__ = check.__name__, check.__doc__, check.__module__
        return test

    return decorate
