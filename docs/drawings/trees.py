"""The algorithms that keep a window as a tree, drawn from their state."""

from docs.drawings.canvas import Canvas
from docs.drawings.folds import LEFT, RIGHT, Group, heading, named, sheet, strip
from docs.drawings.queues import alone, kept
from docs.drawings.spans import PI, Run, Span, costs

from sash.algebra.fields import length, load
from sash.swag import amta
from sash.swag.finger_tree import KIDS, LEVEL, NEWEST, OLDEST, ROOT, SIZE, TIMES, entry_of, fold_of
from sash.swag.flat_slots import slot_at
from sash.swag.flat_tree import leaves

__all__ = ["PICTURES"]


def flat_fat() -> Canvas:
    """A wrapped ring of leaves, and the path that the last insert repaired."""
    run = Run("flat_fat", 6).slide(10)
    tree, _holes, cursor = run.state
    answer, used = run.query()
    canvas = Canvas("FlatFAT: a tree of folds over a ring of leaves (max)")
    y = heading(canvas)
    room = leaves(tree)
    cell = (RIGHT - LEFT) / room
    slots = {run.oldest + offset: slot_at(cursor, offset) for offset in range(run.newest - run.oldest)}
    changed = {(room + slots[run.newest - 1]) >> level for level in range(room.bit_length())}
    level_of = {node: node.bit_length() - 1 for node in range(1, 2 * room)}
    names = {0: "root", room.bit_length() - 1: "leaves, one per slot"}
    for node, level in level_of.items():
        width = cell * (room >> level)
        x, top = LEFT + (node - (1 << level)) * width, y + 34 * level
        span = load(tree, node)[0]
        color = "green" if node in changed else "grey" if span is None else "blue"
        strong = span is not None and span.end - span.start == room >> level and any(span is each for each in used)
        canvas.box(x + 2, top, width - 4, 26, color, strong=strong)
        canvas.text(x + width / 2, top + 13, "⊥" if span is None else str(span), 13, bold=strong)
        if x == LEFT and level in names:
            named(canvas, top + 13, names[level])
    y += 34 * room.bit_length()
    named(canvas, y + 5, "row in the slot")
    for position, slot in slots.items():
        words = {run.oldest: "oldest", run.newest - 1: "newest"}.get(position, f"row {position}")
        canvas.text(LEFT + (slot + 0.5) * cell, y + 5, words, 12, "grey")
    y += 30
    named(canvas, y, "query")
    parts = " ⊕ ".join(map(str, sorted(used)))
    canvas.text(LEFT, y, f"{parts} = {answer}: from the oldest to the end, then from slot 0 on", 13, anchor="start")
    named(canvas, y + 24, "last insert", "green")
    canvas.text(
        LEFT,
        y + 24,
        f"overwrites the evicted leaf, and repairs {room.bit_length() - 1} nodes above it",
        13,
        "green",
        "start",
    )
    strip(canvas, y + 36, costs("flat_fat", run.size), run.size)
    return canvas


def b_int() -> Canvas:
    run = Run("b_int", 10).slide(19)
    tree, (f, b) = run.state
    room = leaves(tree)
    groups = []
    for level, color in enumerate(("grey", "blue", "violet")):
        nodes = range(room >> level, 2 * room >> level)
        blocks = [span for node in nodes for span in load(tree, node) if span is not None]
        whole = [each for each in blocks if f <= each.start and each.end <= b and each.end - each.start == 1 << level]
        groups.append(Group(f"blocks of {1 << level}", sorted(whole), color))
    return sheet("B-Int: whole blocks, folded once (max)", run, groups, {"f": f, "b": b})


def binary_counter() -> Canvas:
    run = Run("amta", 12).slide(13)
    ring, _rights, tails, stack, sums, (f, m, e, depth) = run.state
    held = [span for level in range(length(tails)) for span in alone(tails, level) if span.end > f]
    groups = [
        Group("ring, as inserted", kept(ring, f, e), "grey"),
        Group("tail, partly evicted", [span for span in held if span.start < f], "grey"),
        Group("tails, one per level", [span for span in held if span.start >= f], "violet"),
        Group("stack, right of f", [span for place in range(depth) for span in alone(stack, place)], "amber"),
        Group("front", alone(sums, amta.FRONT), "blue"),
        Group("back", alone(sums, amta.BACK), "green"),
    ]
    return sheet("AMTA: a binary counter of folds (max)", run, groups, {"f": f, "m": m, "e": e})


ENTRY, GAP = 29, 16


def finger_tree_of() -> Canvas:
    """A tree of rows by position, after a row that came late."""
    run = Run("fiba", 24)
    late, arrival = 115, [*range(10, 200, 10), 115]
    for position in arrival:
        span = Span(position, position + 1, PI[run.newest])
        run.newest += 1
        run.steps.insert_at(run.monoid, run.state, position, (span,))
    answer, used = run.query()
    canvas = Canvas("FiBA: a B-tree with a finger at each end (max)")
    y = heading(canvas)
    entries, nodes, cursor = run.state
    root, oldest, newest = (cursor[each] for each in (ROOT, OLDEST, NEWEST))
    assert nodes[root + LEVEL] == 1

    def draw(node: int, x: float, top: float, color: str) -> None:
        fold = load(entries, fold_of(node))[0]
        size = nodes[node + SIZE]
        strong = any(fold is each for each in used)
        canvas.box(x, top, size * ENTRY, 44, color, strong=strong)
        for i in range(size):
            position, middle = nodes[node + TIMES + i], x + (i + 0.5) * ENTRY
            canvas.text(middle, top + 12, str(position), 10.5, "red" if position == late else "grey")
            canvas.text(middle, top + 31, str(load(entries, entry_of(node, i))[0]), 14)
        canvas.text(x + size * ENTRY / 2, top + 57, f"fold {fold}", 12, color, bold=strong)

    children = [nodes[root + KIDS + i] for i in range(nodes[root + SIZE] + 1)]
    wide = sum(nodes[child + SIZE] * ENTRY + GAP for child in children) - GAP
    x = (canvas.width - wide) / 2
    starts = []
    for child in children:
        starts.append(x)
        x += nodes[child + SIZE] * ENTRY + GAP
    middle = (starts[0] + x - GAP) / 2
    left = middle - nodes[root + SIZE] * ENTRY / 2
    below = y + 108
    for i, (child, start) in enumerate(zip(children, starts, strict=True)):
        foot = start + nodes[child + SIZE] * ENTRY / 2
        canvas.line((left + i * ENTRY, y + 44), (foot, below), "grey", 1)
        draw(child, start, below, {oldest: "blue", newest: "green"}.get(child, "grey"))
    draw(root, left, y, "violet")
    canvas.text(20, y + 12, "small: position", 12, "grey", "start")
    canvas.text(20, y + 29, "large: value", 12, "ink", "start")
    canvas.text(RIGHT, y + 12, f"red: the row at {late} came last", 12, "red", "end")
    for child, words, color in ((oldest, "oldest finger", "blue"), (newest, "newest finger", "green")):
        foot = starts[children.index(child)] + nodes[child + SIZE] * ENTRY / 2
        canvas.text(foot, below + 78, words, 12, color)
    y = below + 106
    named(canvas, y, "query")
    canvas.text(
        LEFT, y, f"{' ⊕ '.join(map(str, used))} = {answer}: oldest finger, root, newest finger", 13, anchor="start"
    )
    strip(canvas, y + 16, costs("fiba", 20), 20)
    return canvas


PICTURES = {"flat_fat": flat_fat, "b_int": b_int, "amta": binary_counter, "fiba": finger_tree_of}
