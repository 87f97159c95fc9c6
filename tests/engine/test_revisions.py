"""What was sent is remembered as long as another window may come in its place, and no longer."""

import sash

VISITS = sash.query("q", sash.session(gap=4), n=sash.count())


def test_what_was_sent_is_forgotten_once_the_session_in_its_place_is_final() -> None:
    stream = sash.Stream(VISITS, on="t", allowed_lateness=3)
    revisions, most = [], 0
    for start in range(0, 3000, 30):
        # [start, start + 4) is sent, then joined: the session stays open until it is sent as [start, start + 16)
        for positions, mark in [([0], 5), ([4], 6), ([8], 8), ([12], 12), ([], 17), ([], 21)]:
            found = stream.push({"t": [start + each for each in positions]}, watermark=start + mark).to_pylist()
            revisions += [row["revision"] for row in found]
            assert stream.state is not None
            most = max(most, len(stream.state.emitted["q"]))
        assert stream.state is not None and len(stream.state.emitted["q"]) == 0
    assert revisions == [0, 1] * 100
    assert most == 1


def test_keys_are_freed_with_what_was_sent_of_them() -> None:
    stream = sash.Stream(VISITS, on="t", by="k", allowed_lateness=3)
    sizes = []
    for at in range(0, 4000, 10):
        keys = list(range(at, at + 40))
        stream.push({"t": [at] * 40, "k": keys}, watermark=at + 5)
        stream.push({"t": [at + 4] * 40, "k": keys})
        assert stream.state is not None
        sizes.append(stream.state_bytes)
        assert len(stream.state.emitted["q"]) <= 80
    assert max(sizes[200:]) <= max(sizes[:200])


def test_an_open_session_remembers_each_of_those_that_it_joined() -> None:
    stream = sash.Stream(VISITS, on="t", allowed_lateness=60)
    stream.push({"t": range(0, 50, 5)}, watermark=60)
    assert stream.state is not None and len(stream.state.emitted["q"]) == 10
    # Rows between them make one of all, which is open for as long as rows follow.
    stream.push({"t": [*range(2, 50, 5), *range(50, 150, 3)]})
    stream.push({}, watermark=140)
    assert len(stream.state.emitted["q"]) == 10
    found = stream.push({}, watermark=154).to_pylist()
    assert [(row["window_start"], row["window_end"], row["revision"]) for row in found] == [(0, 153, 1)]
    assert len(stream.state.emitted["q"]) == 1
    stream.push({}, watermark=214)
    assert len(stream.state.emitted["q"]) == 0
