"""The algorithms for whole arrays, drawn from what their kernels write."""

import numpy as np
from docs.drawings.canvas import Canvas
from docs.drawings.folds import LEFT, RIGHT, Columns, Group, bars, heading, height, marks, named, rows
from docs.drawings.spans import MAX, PI, Span

from sash.algebra.fields import load, store
from sash.swag import pba, ranked
from sash.swag.shifted_sums import add_up_chunks, find_pivot, shift

__all__ = ["PICTURES"]

CHUNK, CHUNKS = 5, 3


def parallel_boundaries() -> Canvas:
    """The suffixes that a second thread sweeps, and the answers that the first one gives by them."""
    count = CHUNK * CHUNKS
    inputs, results, presences = MAX.allocate(count), MAX.allocate(count), ([0] * count,)
    for row in range(count):
        store(inputs, row, (Span(row, row + 1, PI[row]),))
    suffixes = MAX.allocate(CHUNKS * (CHUNK + 1))
    pba._back(MAX, inputs, -CHUNK, count - CHUNK, CHUNK, suffixes)
    pba._forward(MAX, inputs, 0, count, CHUNK, suffixes, (results, presences))
    chunk = CHUNK * (CHUNKS - 1)
    swept = [load(suffixes, (CHUNKS - 1) * (CHUNK + 1) + row)[0] for row in range(CHUNK)]
    answers = [load(results, chunk + row)[0] for row in range(CHUNK)]
    asked = 2
    prefixes = [Span(chunk, row + 1, max(PI[chunk : row + 1])) for row in range(chunk, count)]
    assert MAX.combine((swept[asked + 1],), (prefixes[asked],)) == (answers[asked],)
    canvas = Canvas("PBA: one thread computes suffixes, the other results (max, window of 5)")
    columns = Columns(0, count)
    top = heading(canvas)
    y = rows(canvas, columns, top + 16, 0, "rows of an array")
    edges = {f"chunk {k}": k * CHUNK for k in range(CHUNKS)}
    groups = [Group("suffixes: to the edge", swept, "violet"), Group("prefixes: from the edge", prefixes, "green")]
    marks(canvas, columns, top, y + sum(map(height, groups)), edges)
    for group, used in zip(groups, (swept[asked + 1], prefixes[asked]), strict=True):
        y = bars(canvas, columns, y, group, [used])
    y = bars(canvas, columns, y, Group("one of the answers", [answers[asked]], "ink")) + 8
    width = (RIGHT - LEFT) / (CHUNKS + 1)
    for thread, (name, verb, color, chunks) in enumerate(
        (("main thread", "results", "green", CHUNKS), ("second thread", "suffixes", "violet", CHUNKS - 1))
    ):
        line = y + 36 * thread
        named(canvas, line + 13, name, color)
        for k in range(chunks):
            canvas.box(LEFT + k * width + 2, line, width - 4, 26, color)
            canvas.text(LEFT + (k + 0.5) * width, line + 13, f"{verb} chunk {k}", 12)
            if thread:
                end = LEFT + (k + 1) * width
                canvas.line((end - 8, line), (end + 10, line - 9), color, arrow=True)
    canvas.text(LEFT + CHUNKS * width + 4, y + 13, "time →", 12, "grey", "start")
    return canvas


def ranks_as_bits() -> Canvas:
    """Two chunks in one order, and the bits of the rows that are in the window."""
    count, size = 16, 7
    data = np.array([10 * digit + row % 10 for row, digit in enumerate(PI[:count])])  # no ties, to be told apart
    half = count // 2
    ranks, in_order = np.empty(count, np.int64), np.empty(count)
    ranked._rank(data, ranked._order_in_chunks(data, half), 0, half, count, 0, ranks, in_order)
    end = 12
    window = range(end - size, end)
    words = np.zeros(2, np.uint64)
    for row in window:
        ranked._set(words, ranks[row])
    at = 0
    for _ in range(size // 2):
        at = ranked._one_from(words, at) + 1
    at = ranked._one_from(words, at)
    canvas = Canvas("Ranked: a median is the middle one of the bits that are set (window of 7)")
    columns = Columns(0, count)
    y = heading(canvas)
    for k, words_above in enumerate(("chunk c − 1", "chunk c")):
        canvas.text(columns.x(half * (k + 0.5)), y, words_above, 12, "grey", bold=True)
    y += 12
    named(canvas, y + 13, "values, by row")
    inside = {int(ranks[row]) for row in window}
    for row in range(count):
        canvas.box(columns.x(row) + 1, y, columns.cell - 2, 26, "blue" if row in window else "grey")
        canvas.text(columns.x(row + 0.5), y + 13, str(data[row]), 13)
    canvas.line((columns.x(half), y - 18), (columns.x(half), y + 30), "grey", 1, dashed=True)
    for row in window:
        canvas.line((columns.x(row + 0.5), y + 27), (columns.x(ranks[row] + 0.5), y + 74), "blue", 0.9)
    y += 76
    named(canvas, y + 13, "values, by rank")
    named(canvas, y + 43, "bit: in the window")
    for rank in range(count):
        color, found = ("blue" if rank in inside else "grey"), rank == at
        canvas.box(columns.x(rank) + 1, y, columns.cell - 2, 26, "green" if found else color, strong=found)
        canvas.text(columns.x(rank + 0.5), y + 13, f"{in_order[rank]:g}", 13, bold=found)
        canvas.text(columns.x(rank + 0.5), y + 43, "1" if rank in inside else "0", 13, color, bold=rank in inside)
    y += 70
    named(canvas, y, "query")
    below = sum(rank < at for rank in inside)
    canvas.text(LEFT, y, f"the median is {in_order[at]:g}: {below} bits are set before its own", 13, anchor="start")
    assert in_order[at] == np.median(data[window.start : window.stop])
    return canvas


def sums_of_differences() -> Canvas:
    """Rows less one row near their mean, and the sums that answer a window."""
    size, count = 5, 15
    data = [100 + digit for digit in PI[:count]]
    pivot = find_pivot((data,), 0, count)
    differences = [0.0] * (count + size)
    shift((data,), -size, count + size, pivot, differences)
    older, sums = ([0.0] * (count + 1), [0.0] * (count + 1)), tuple([0.0] * (count + 1) for _ in range(3))
    add_up_chunks(differences, size, count, older, sums)
    end = 13
    window = range(end - size, end)
    total, squares = sums[0][end], sums[1][end]
    canvas = Canvas(f"Shifted: sums of differences to a row near the mean (variance, window of {size})")
    columns = Columns(0, count)
    y = heading(canvas)
    for k in range(count // size):
        canvas.text(columns.x(size * (k + 0.5)), y, f"chunk {k}", 12, "grey", bold=True)
    y += 12
    for name, shown in (("values", data), (f"less {pivot}: y", differences[size:])):
        named(canvas, y + 13, name)
        for row, value in enumerate(shown):
            edge = end // size * size
            color = "grey" if row not in window else "violet" if row < edge else "green"
            canvas.box(columns.x(row) + 1, y, columns.cell - 2, 26, color)
            canvas.text(columns.x(row + 0.5), y + 13, f"{value:g}", 13)
        y += 34
    for k in range(1, count // size):
        canvas.line((columns.x(size * k), y - 84), (columns.x(size * k), y - 4), "grey", 1, dashed=True)
    edge = end // size * size
    suffix, prefix = sum(differences[size + end - size : size + edge]), sum(differences[size + edge : size + end])
    assert suffix + prefix == total
    named(canvas, y + 8, "sums of y and y²")
    for color, start, stop, word in (("violet", end - size, edge, "suffix"), ("green", edge, end, "prefix")):
        part = differences[size + start : size + stop]
        words = f"{word} {sum(part):g}, {sum(each * each for each in part):g}"
        canvas.line((columns.x(start) + 2, y), (columns.x(stop) - 2, y), color, 3)
        canvas.text(columns.x((start + stop) / 2), y + 14, words, 12, color)
    y += 44
    named(canvas, y, "query")
    spread = squares - total * total / size
    words = f"Σ(x − mean)² = {squares:g} − {total:g}² / {size} = {spread:g}"
    canvas.text(LEFT, y, words, 13, anchor="start")
    assert np.isclose(spread, np.var(data[window.start : window.stop]) * size)
    return canvas


PICTURES = {"pba": parallel_boundaries, "ranked": ranks_as_bits, "shifted": sums_of_differences}
