"""Results of windows from runs: merge the runs of each window, or slide a tally over windows that overlap often.

Merge     If windows hardly overlap, the runs of each window are merged, neighbouring runs first.
Chain     Windows that overlap often form a chain. The keys of all their slices are merged once. A tally counts the rows
          of each key, with sums over 64 and over 64 × 64 keys. It starts with the first window, which is merged by
          itself, or with the last window of the chain before, which was kept (`kept_windows`). A slice that enters or
          leaves costs three additions per key, and the first time a search for the key. A quantile is a short search
          down the sums; a mode, down a tournament of the counts (`range_modes`).
"""

from typing import Any

from sash.algebra.compiler import jitable, kernel
from sash.slicing.kept_windows import keep_window, note_window, read_window
from sash.slicing.run_merging import find_at_least, find_key, merge_all, merge_two
from sash.swag.range_modes import change, most_frequent, room_for

__all__ = ["BITS", "KEYS", "NEEDED", "TOP", "compute_windows_of_runs", "find_chains"]

# The places of the counters in `cursor`: the top of the arena or of lists, and the room that was missing when a kernel
# stopped; for lists, the top of their keys.
TOP, NEEDED, KEYS = range(3)
BITS = 6  # of a rank, per level of the tally


@kernel
def find_chains(
    order: Any, lengths: Any, lows: Any, highs: Any, longest: int, sizes: Any, begins: Any, covered: Any
) -> int:
    """Group windows that share slices into chains, and return how many; write the run lengths of both.

    A chain ends where it covers `longest` times the keys of its last window.
    """
    chains, low, high, size = 0, 0, 0, 0
    for place in range(len(lows)):
        is_long = place > 0 and covered[chains - 1] > longest * (size + 1)
        if place == 0 or lows[place] < low or lows[place] >= high or highs[place] < high or is_long:
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
def _merge_window(arena: Any, shelf: Any, order: Any, low: int, high: int, scratch: Any, start: int) -> int:
    """Merge the runs of slices in the scratch, from `start` on, and return where the merged run ends."""
    values, counts = arena
    begins, lengths, _rooms, _cursor = shelf
    own, own_counts, others, other_counts, ends = scratch
    out = start
    for at in range(low, high):
        begin = begins[order[at]]
        for k in range(begin, begin + lengths[order[at]]):
            own[out] = values[k]
            own_counts[out] = counts[k]
            out += 1
        ends[at - low] = out
    return merge_all(own, own_counts, start, ends, high - low, others, other_counts)


@jitable
def _finish_each(
    arena: Any, shelf: Any, order: Any, windows: Any, scratch: Any, shares: Any, out: Any, place: int, stop: int
) -> int:
    """Write the results of windows one by one, until `stop` or until lists do not fit; return the next window."""
    lows, highs = windows
    own, until = scratch[0], scratch[1]
    rows, distinct, below, above, between, modes, flat, listed, cursor = out
    while place < stop:
        size = _merge_window(arena, shelf, order, lows[place], highs[place], scratch, 0)
        if len(flat) > 0:
            if cursor[TOP] + size > len(flat):
                cursor[NEEDED] = size
                break
            for k in range(size):
                flat[cursor[TOP] + k] = cursor[KEYS] + k
                listed[cursor[KEYS] + k] = own[k]
            cursor[TOP] += size
            cursor[KEYS] += size
        if len(modes) > 0:
            most = 0
            for k in range(1, size):
                if until[k] > until[most]:  # on ties the smallest key stays
                    most = k
            if size > 0:
                modes[place] = own[most]
        for k in range(1, size):
            until[k] += until[k - 1]
        rows[place] = until[size - 1] if size > 0 else 0
        distinct[place] = size
        if size > 0:
            for j in range(len(shares)):
                at = shares[j] * (rows[place] - 1)
                rank = int(at)
                k = find_at_least(until, 0, size, rank + 1)
                below[j, place] = own[k]
                above[j, place] = own[k if rank + 1 < until[k] or k + 1 == size else k + 1]
                between[j, place] = at - rank
        place += 1
    return place


@jitable
def _rank_of(ones: Any, blocks: Any, heaps: Any, row: int) -> int:
    """Return the rank of the key of a row; rows are numbered from the smallest."""
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
def _sum_blocks(ones: Any, blocks: Any, heaps: Any, size: int) -> int:
    """Write the sums of each block and of each heap of blocks; return the sum of all."""
    total = 0
    for heap in range((size >> 2 * BITS) + 1):
        heaps[heap] = 0
    for block in range((size >> BITS) + 1):
        whole = 0
        for k in range(block << BITS, min((block + 1) << BITS, size)):
            whole += ones[k]
        blocks[block] = whole
        heaps[block >> BITS] += whole
        total += whole
    return total


@jitable
def _finish_chain(
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
    kept: Any,
    seats: Any,
    chain: int,
) -> int:
    """Write the results of the windows of a chain, until `stop` or until lists do not fit; return the next window."""
    values, counts = arena
    begins, lengths, _rooms, _cursor = shelf
    lows, highs = windows
    own, own_counts, keys, _key_counts, _ends = scratch
    ranks, ones, blocks, heaps, tree = tally
    rows, distinct, below, above, between, modes, flat, listed, cursor = out
    numbers, starts, slots = seats
    if starts[chain] >= 0:
        oldest = starts[chain]
        first_of_rest, different = read_window(kept, numbers[chain], oldest, own, own_counts)
    else:
        oldest, first_of_rest = lows[place], highs[place]
        different = _merge_window(arena, shelf, order, oldest, first_of_rest, scratch, 0)
    until = _merge_window(arena, shelf, order, first_of_rest, highs[stop - 1], scratch, different)
    for k in range(different, until):
        own_counts[k] = 0
    size = merge_two(own, own_counts, 0, different, until, keys, ones, 0)
    total = _sum_blocks(ones, blocks, heaps, size)
    first_key = cursor[KEYS]
    if len(flat) > 0:
        for k in range(size):
            listed[first_key + k] = keys[k]
        cursor[KEYS] += size
    room = room_for(size)
    for k in range(min(len(tree), 2 * room)):
        tree[k] = 0
    for k in range(size if len(modes) > 0 else 0):
        if ones[k] > 0:
            change(tree, room, k, ones[k])
    newest, left, entered = first_of_rest, 0, 0
    while place < stop:
        while newest < highs[place]:
            rank = 0
            begin = begins[order[newest]]
            for k in range(begin, begin + lengths[order[newest]]):
                rank = find_key(keys, rank, size, values[k])
                ranks[entered] = rank
                entered += 1
                different += int(ones[rank] == 0)
                ones[rank] += counts[k]
                blocks[rank >> BITS] += counts[k]
                heaps[rank >> 2 * BITS] += counts[k]
                total += counts[k]
                if len(modes) > 0:
                    change(tree, room, rank, counts[k])
            newest += 1
        while oldest < lows[place]:
            rank = 0
            begin = begins[order[oldest]]
            for k in range(begin, begin + lengths[order[oldest]]):
                if oldest < first_of_rest:
                    rank = find_key(keys, rank, size, values[k])
                else:
                    rank = ranks[left]
                    left += 1
                ones[rank] -= counts[k]
                blocks[rank >> BITS] -= counts[k]
                heaps[rank >> 2 * BITS] -= counts[k]
                total -= counts[k]
                if len(modes) > 0:
                    change(tree, room, rank, -counts[k])
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
                            flat[at] = first_key + k
                            at += 1
            cursor[TOP] = at
        rows[place] = total
        distinct[place] = different
        if len(modes) > 0 and total > 0:
            modes[place] = keys[most_frequent(tree, room)]
        if total > 0:
            for j in range(len(shares)):
                exact = shares[j] * (total - 1)
                row = int(exact)
                below[j, place] = keys[_rank_of(ones, blocks, heaps, row)]
                above[j, place] = keys[_rank_of(ones, blocks, heaps, min(row + 1, total - 1))]
                between[j, place] = exact - row
        place += 1
    if place == stop:
        low, high = lows[stop - 1], highs[stop - 1]
        keep_window(kept, numbers[chain], slots[chain], order, low, high, keys, ones, size, different)
    return place


@kernel
def compute_windows_of_runs(
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
    kept: Any,
    seats: Any,
) -> int:
    """Write the results of windows from `place` on; return the first window whose lists do not fit, or their number.

    `seats` are the seats of the chains, the places from which they start, or -1, and their keys. `tally` is None if no
    chain overlaps; the kernel is then compiled without `_finish_chain`, in a third of the time.
    """
    chain = 0
    while place < len(windows[0]):
        while begins[chain + 1] <= place:
            chain += 1
        stop = begins[chain + 1]
        if tally is not None and overlaps[chain]:
            place = _finish_chain(
                arena, shelf, order, windows, scratch, tally, shares, out, place, stop, kept, seats, chain
            )
        else:
            place = _finish_each(arena, shelf, order, windows, scratch, shares, out, place, stop)
            if place == stop:
                note_window(kept, seats[0][chain], order, windows[0][stop - 1], windows[1][stop - 1])
        if place < stop:
            break
    return place
