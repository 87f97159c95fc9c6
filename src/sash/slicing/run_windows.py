"""Windows of runs: merged one by one, or slid over by a tally where they overlap many times.

Windows   that hardly overlap are merged one by one, neighbouring runs first. Windows that overlap many times are a
          chain: the keys of all their slices are merged once, and over their ranks a tally is kept, summed by 64 and
          by 64 × 64. A slice that enters or leaves is three additions per key, a quantile a short walk down.
"""

from typing import Any

from sash.algebra.compiler import jitable, kernel
from sash.slicing.run_merging import at_least, united

__all__ = ["BITS", "NEEDED", "TOP", "chains_of", "finish"]

# Where the counters live in `cursor`: the top of the arena, and the room that was missing when a kernel stopped.
TOP, NEEDED = range(2)
BITS = 6  # of a rank, per level of the tally


@kernel
def chains_of(order: Any, lengths: Any, lows: Any, highs: Any, sizes: Any, begins: Any, covered: Any) -> int:
    """Part windows where one has no slice of the window before it; how long the runs of each window and chain are."""
    chains, low, high, size = 0, 0, 0, 0
    for place in range(len(lows)):
        if place == 0 or lows[place] < low or lows[place] >= high or highs[place] < high:
            low, high, size = lows[place], lows[place], 0
            begins[chains] = place
            covered[chains] = 0
            chains += 1
        while high < highs[place]:
            size += lengths[order[high]]
            covered[chains - 1] += lengths[order[high]]
            high += 1
        while low < lows[place]:
            size -= lengths[order[low]]
            low += 1
        sizes[place] = size
    begins[chains] = len(lows)
    return chains


@jitable
def _gathered(arena: Any, shelf: Any, order: Any, low: int, high: int, scratch: Any) -> int:
    """The run of a window, at the front of the scratch; gives its length."""
    values, counts = arena
    begins, lengths, _rooms, _cursor = shelf
    own, own_counts, others, other_counts, ends = scratch
    out = 0
    for at in range(low, high):
        begin = begins[order[at]]
        for k in range(begin, begin + lengths[order[at]]):
            own[out] = values[k]
            own_counts[out] = counts[k]
            out += 1
        ends[at - low] = out
    return united(own, own_counts, 0, ends, high - low, others, other_counts)


@jitable
def _each(
    arena: Any, shelf: Any, order: Any, windows: Any, scratch: Any, shares: Any, out: Any, place: int, stop: int
) -> int:
    """Windows one by one, until `stop` or until lists do not fit."""
    lows, highs = windows
    own, until = scratch[0], scratch[1]
    rows, distinct, below, above, between, flat, cursor = out
    while place < stop:
        size = _gathered(arena, shelf, order, lows[place], highs[place], scratch)
        if len(flat) > 0:
            if cursor[TOP] + size > len(flat):
                cursor[NEEDED] = size
                break
            for k in range(size):
                flat[cursor[TOP] + k] = own[k]
            cursor[TOP] += size
        for k in range(1, size):
            until[k] += until[k - 1]
        rows[place] = until[size - 1] if size > 0 else 0
        distinct[place] = size
        if size > 0:
            for j in range(len(shares)):
                at = shares[j] * (rows[place] - 1)
                rank = int(at)
                k = at_least(until, 0, size, rank + 1)
                below[j, place] = own[k]
                above[j, place] = own[k if rank + 1 < until[k] or k + 1 == size else k + 1]
                between[j, place] = at - rank
        place += 1
    return place


@jitable
def _rank_of(ones: Any, blocks: Any, heaps: Any, row: int) -> int:
    """The rank of the key of a row, rows being numbered from the smallest."""
    k = 0
    while row >= heaps[k]:
        row -= heaps[k]
        k += 1
    k <<= BITS
    while row >= blocks[k]:
        row -= blocks[k]
        k += 1
    k <<= BITS
    while row >= ones[k]:
        row -= ones[k]
        k += 1
    return k


@jitable
def _slid(
    arena: Any,
    shelf: Any,
    order: Any,
    windows: Any,
    scratch: Any,
    tally: Any,
    shares: Any,
    out: Any,
    place: int,
    stop: int,
) -> int:
    """Windows of a chain, until `stop` or until lists do not fit."""
    values, counts = arena
    begins, lengths, _rooms, _cursor = shelf
    lows, highs = windows
    keys = scratch[0]
    ranks, ones, blocks, heaps = tally
    rows, distinct, below, above, between, flat, cursor = out
    size = _gathered(arena, shelf, order, lows[place], highs[stop - 1], scratch)
    for k in range(size):
        ones[k] = 0
    for k in range((size >> BITS) + 1):
        blocks[k] = 0
    for k in range((size >> 2 * BITS) + 1):
        heaps[k] = 0
    oldest, newest, left, entered, total, different = lows[place], lows[place], 0, 0, 0, 0
    while place < stop:
        while newest < highs[place]:
            rank = 0
            begin = begins[order[newest]]
            for k in range(begin, begin + lengths[order[newest]]):
                rank = at_least(keys, rank, size, values[k])
                ranks[entered] = rank
                entered += 1
                different += int(ones[rank] == 0)
                ones[rank] += counts[k]
                blocks[rank >> BITS] += counts[k]
                heaps[rank >> 2 * BITS] += counts[k]
                total += counts[k]
            newest += 1
        while oldest < lows[place]:
            begin = begins[order[oldest]]
            for k in range(begin, begin + lengths[order[oldest]]):
                rank = ranks[left]
                left += 1
                ones[rank] -= counts[k]
                blocks[rank >> BITS] -= counts[k]
                heaps[rank >> 2 * BITS] -= counts[k]
                total -= counts[k]
                different -= int(ones[rank] == 0)
            oldest += 1
        if len(flat) > 0:
            if cursor[TOP] + different > len(flat):
                cursor[NEEDED] = different
                break
            at = cursor[TOP]
            for block in range((size >> BITS) + 1):
                if blocks[block] > 0:
                    for k in range(block << BITS, min((block + 1) << BITS, size)):
                        if ones[k] > 0:
                            flat[at] = keys[k]
                            at += 1
            cursor[TOP] = at
        rows[place] = total
        distinct[place] = different
        if total > 0:
            for j in range(len(shares)):
                exact = shares[j] * (total - 1)
                row = int(exact)
                below[j, place] = keys[_rank_of(ones, blocks, heaps, row)]
                above[j, place] = keys[_rank_of(ones, blocks, heaps, min(row + 1, total - 1))]
                between[j, place] = exact - row
        place += 1
    return place


@kernel
def finish(
    arena: Any,
    shelf: Any,
    order: Any,
    windows: Any,
    begins: Any,
    overlaps: Any,
    scratch: Any,
    tally: Any,
    shares: Any,
    out: Any,
    place: int,
) -> int:
    chain = 0
    while place < len(windows[0]):
        while begins[chain + 1] <= place:
            chain += 1
        stop = begins[chain + 1]
        if overlaps[chain]:
            place = _slid(arena, shelf, order, windows, scratch, tally, shares, out, place, stop)
        else:
            place = _each(arena, shelf, order, windows, scratch, shares, out, place, stop)
        if place < stop:
            break
    return place
