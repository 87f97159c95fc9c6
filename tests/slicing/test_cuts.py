"""Ranks at which many count windows cut: computed one by one, or marked."""

import numpy as np
import pytest

from sash.slicing.cuts import CutMarks, Cuts, is_cut, next_cut


def cuts_of(*pairs: tuple[int, int]) -> Cuts:
    return Cuts(np.array([every for every, _ in pairs]), np.array([phase for _, phase in pairs]), -1)


MANY = cuts_of(*((every, every // 3) for every in range(7, 40, 2)))


def brute(cuts: Cuts, rank: int) -> bool:
    return any((rank - phase) % every == 0 for every, phase in zip(cuts.every, cuts.phase, strict=True))


@pytest.mark.parametrize("low", [-1, 0, 13, 1_000_003])
def test_marked_cuts_are_those_that_are_computed(low: int) -> None:
    marked = MANY.marked(low, low + 50, 10)
    assert marked.marks is not None
    for cuts in (MANY, marked):
        ranks = cuts.values(int)[0]
        for rank in range(low - 3, low + 60):
            assert is_cut(ranks, rank) == brute(MANY, rank)
            after = next(k for k in range(rank + 1, rank + 50) if brute(MANY, k))
            assert next_cut(ranks, rank) == after


def test_beyond_the_marks_cuts_are_computed() -> None:
    marked = MANY.marked(5, 20, 1)
    assert marked.marks is not None
    last = marked.first + len(marked.marks)
    ranks = marked.values(int)[0]
    for rank in (last - 1, last, last + 100):
        assert next_cut(ranks, rank) == next(k for k in range(rank + 1, rank + 50) if brute(MANY, k))
        assert is_cut(ranks, rank) == brute(MANY, rank)


def test_few_cuts_and_ranks_far_apart_are_not_marked() -> None:
    assert cuts_of((5, 0), (7, 1)).marked(0, 10, 10).marks is None
    assert MANY.marked(0, 10**9, 10).marks is None


def test_marks_are_used_again_for_later_rows() -> None:
    marks = CutMarks(MANY)
    first = marks.near(np.array([3, 9]), 10)
    assert marks.near(np.array([20]), 5) is first
    moved = marks.near(np.array([100_000]), 5)
    assert moved.marks is not None and moved.first == 100_000
    assert marks.near(np.array([3, 10**9]), 5).marks is None
    again = marks.near(np.array([3]), 5)
    assert again.marks is not None and again.first == 3


def test_the_first_cut_from_a_rank_on_may_be_the_rank_itself() -> None:
    ranks = np.array([0, 1, 2, 3, 50, 51])
    expected = [next(k for k in range(int(rank), int(rank) + 50) if brute(MANY, k)) for rank in ranks]
    assert MANY.from_ranks(ranks).tolist() == expected
    assert MANY.from_ranks(ranks[:0]).tolist() == []
