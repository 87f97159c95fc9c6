"""The page of a query on real Spark: progress and results of its files, its end, and its checkpoint."""

import json
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import sash
from tests.page.pages import Events, ask
from tests.page.test_m4 import brute_force
from tests.spark.streams import Feed, table

SECOND = 1_000_000
ten = sash.query("ten", sash.tumbling("10 seconds"), n=sash.count(), peak=sash.max("x"))


def seconds(*times: float) -> pa.Table:
    rows = [(int(t * SECOND), "a" if t % 2 else "b", float(t % 7)) for t in times]
    return table(rows, ("ts", "k", "x"), (pa.timestamp("us", "UTC"), pa.string(), pa.float64()))


def test_page_shows_a_query_its_files_its_end_and_its_checkpoint(spark: Any, tmp_path: Path) -> None:
    feed = Feed(spark, tmp_path, "ts timestamp, k string, x double")
    feed.add(seconds(*range(1, 40)), seconds(*range(30, 90), 3), seconds(*range(80, 120)))
    results = sash.aggregate(feed.stream(), ten, on="ts", by="k", watermark="2 seconds", late="keep")
    writer = results.writeStream.format("parquet").option("path", str(tmp_path / "out")).queryName("plugs")
    query = writer.option("checkpointLocation", feed.checkpoint).trigger(availableNow=True).start()
    with sash.page(query, stays=True) as page:
        events, panels = iter(Events(page, timeout=60)), dict[str, Any](now={"state": ""}, batches=(), late=())
        while panels["now"]["state"] != "stopped" or len(panels["batches"]) < 3 or not panels["late"]:
            name, data = next(events)
            panels[name] = data
        assert query.exception() is None
        # What the page draws equals what the files hold.
        rows = pq.read_table(tmp_path / "out").to_pylist()
        ends = {row["window_end"].timestamp(): row["peak"] for row in rows if (row["query"], row["k"]) == ("ten", "a")}
        _, body = ask(page, "/api/m4", query="ten", key="a", aggregate="peak", width=4, **{"from": 0, "to": 120})
        answer = json.loads(body)
        assert [tuple(each) for each in answer["columns"]] == brute_force(sorted(ends.items()), np.linspace(0, 120, 5))
        assert answer["count"] == len(ends) > 5
        _, series = ask(page, "/api/series")
        assert json.loads(series)["queries"][0]["aggregates"] == ["n", "peak"]
        # The state of the last micro-batch is in the checkpoint.
        slices: list[Any] = []
        while not slices:
            slices = json.loads(ask(page, "/api/sharing", key="a")[1])["slices"]
        assert (slices[-1]["start"], slices[-1]["end"], slices[-1]["cut_by"]) == (111.0, 120.0, ["ten"])
        while sum(each["rows"] for each in panels["keys"]["buckets"]) < 140:
            name, data = next(events)
            panels[name] = data
    # Rows of one micro-batch are not behind each other: in the second, 9 came before the newest row of the first,
    # and one at 3 came 36 seconds behind; in the third, 9 did.
    lateness = {each["from"]: each["rows"] for each in panels["time"]["lateness"]}
    assert lateness[0.0] == 140 - 19 and lateness[32.0] == 1 and sum(lateness.values()) == 140
    assert 36 <= panels["time"]["covering_delay"] < 36 * 1.25
    assert panels["time"]["delay"] == 2.0
    assert sum(each["rows"] for each in panels["keys"]["keys"]) == 140
    assert {each["key"] for each in panels["keys"]["keys"]} == {"a", "b"}
    sharing = panels["sharing"]
    assert sharing["fields"] and sharing["combines_per_row"] >= 1 and sharing["without_sharing"] >= 1
    assert panels["late"][-1]["position"] is not None and panels["late"][-1]["watermark"] is not None
    batches = panels["batches"]
    assert [each["rows"] for each in batches] == [39, 61, 40]
    assert all(each["phases"]["addBatch"] > 0 and each["written_bytes"] > 0 for each in batches)
    assert not any(each["restarted"] for each in batches)
    assert panels["time"]["watermark"] == 117.0
    assert panels["late"][0]["reason"]
    assert "ts=1970-01-01" in panels["late"][0]["row"]
    bars = {(each["start"], each["end"]): each["state"] for each in panels["time"]["queries"][0]["windows"]}
    assert bars[100.0, 110.0] == "closed"

    with sash.page(sash.state(feed.checkpoint), stays=True) as page:
        time_panel = Events(page).until("time")
        (own,) = time_panel["queries"]
        assert [(each["start"], each["end"], each["keys"]) for each in own["windows"]] == [(110.0, 120.0, 2)]
        _, body = ask(page, "/api/sharing", key="a")
        assert json.loads(body)["slices"][-1]["end"] == 120.0
