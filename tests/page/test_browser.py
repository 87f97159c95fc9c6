"""The page of a stream in a real browser."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from playwright.sync_api import Browser

import sash
from sash.page.records import BucketRows, SliceFacts
from tests.page.browser import Viewer, open_browser
from tests.page.pages import FACTS, hand_page
from tests.page.smart_home import Home

pytestmark = pytest.mark.browser

Look = Callable[..., Viewer]
MARKUP = "<script>alert(1)</script>"
POSITIONS = """async values => {
  const { position } = await import("./static/format.js");
  return values.map((each) => position(each, "time"));
}"""
TICKS = """async ([ranges, unit]) => {
  const { ticks } = await import("./static/format.js");
  return ranges.map(([from, to]) => ticks(from, to, 8, unit));
}"""
CONTRAST = Path(__file__).with_name("contrast.js").read_text(encoding="utf-8")


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    with open_browser() as browser:
        yield browser


@pytest.fixture
def look(browser: Browser) -> Iterator[Callable[..., Viewer]]:
    """Open tabs; at the end of the test, none may have had an error or asked another machine."""
    viewers: list[Viewer] = []

    def look(url: str, width: int = 1300, **options: Any) -> Viewer:
        viewers.append(Viewer.open(browser, url, width, **options))
        return viewers[-1]

    yield look
    for viewer in viewers:
        viewer.close()


@pytest.fixture(scope="module")
def home() -> Iterator[Home]:
    home = Home()
    home.push(12_000)
    with home.page:
        yield home


def at(second: float) -> datetime:
    return datetime.fromtimestamp(1_767_225_600 + second, UTC)


def figure(name: str) -> str:
    return f".figure:has(.label:text-is('{name}')) .value"


# --- now and time --------------------------------------------------------------------------------------


def test_numbers_move_and_a_window_closes(home: Home, look: Look) -> None:
    viewer = look(home.page.url)
    assert viewer.text("#title") == "smart home"
    open_bar = "[aria-label='Windows of shape'] .window[data-state='open']"
    viewer.wait("selector => document.querySelector(selector)", open_bar)
    before, label = viewer.text("#why"), viewer.tab.locator(open_bar).first.get_attribute("aria-label")
    assert label is not None
    figures = viewer.tab.locator(".figure .value").all_inner_texts()
    home.push(16_000)  # more than ten minutes: every tumbling window that was open is closed
    name = label.partition(",")[0] + "," + label.partition(",")[2].partition(",")[0]  # its query and its edges
    viewer.wait("name => document.querySelector(`.window[data-state='closed'][aria-label^='${name}']`)", name)
    viewer.wait("before => document.getElementById('why').textContent !== before", before)
    shown = "Array.from(document.querySelectorAll('.figure .value'), each => each.innerText)"
    viewer.wait(f"before => JSON.stringify({shown}) !== JSON.stringify(before)", figures)
    assert viewer.tab.locator(".figure.alarm").count() == 0


def test_a_window_says_what_it_waits_for_to_pointers_and_keyboards(home: Home, look: Look) -> None:
    viewer = look(home.page.url)
    track = viewer.tab.get_by_role("group", name="Windows of hour")
    bars = track.locator(".window[data-state='open']")
    bars.first.wait_for()
    bars.first.hover(force=True)
    detail = viewer.text("#window-detail")
    assert detail.startswith(("hour [2026-01-01", "hour [2025-12-31"))
    assert ", open, 24 keys. It closes when a row at" in detail
    track.locator("[tabindex='0']").focus()
    viewer.tab.keyboard.press("Home")
    first = viewer.text("#window-detail")
    viewer.tab.keyboard.press("ArrowRight")
    second = viewer.text("#window-detail")
    viewer.tab.keyboard.press("End")
    assert len({first, second, viewer.text("#window-detail")}) == 3
    viewer.tab.keyboard.press("ArrowDown")
    assert not viewer.text("#window-detail").startswith("hour ")


def test_the_histogram_names_the_delay_that_covers_the_rows(home: Home, look: Look) -> None:
    viewer = look(home.page.url)
    viewer.tab.locator("#lateness .covering").wait_for()
    assert "would have covered 99.9 % of the rows" in viewer.text("#covering")
    viewer.tab.locator("#lateness-table summary").click()
    rows, columns = "#lateness-table tbody tr", "#lateness .column"
    counts = (f"document.querySelectorAll('{each}').length" for each in (rows, columns))
    viewer.wait(f"() => {' === '.join(counts)}")


def test_rejected_rows_are_listed_with_their_reasons(look: Look) -> None:
    query = sash.query("minute", sash.tumbling("1 minute"), peak=sash.max("load"))
    stream = sash.Stream(query, on="ts", by="plug", watermark="5 seconds")
    with sash.page(stream) as page:
        stream.push({"ts": [at(0), at(200)], "plug": ["a", "a"], "load": [1.0, 2.0]})
        viewer = look(page.url)
        assert viewer.text("#late .empty") == "No row was rejected."
        stream.push({"ts": [at(10)], "plug": [MARKUP], "load": [77.5]})
        viewer.tab.locator("#late tbody tr").wait_for()
        cells = viewer.tab.locator("#late tbody td").all_inner_texts()
        assert cells[0] == "2026-01-01 00:00:10" and cells[1] == "3 min 5 s" and "watermark" in cells[2]
        assert MARKUP in cells[3] and "77.5" in cells[3]


# --- results -------------------------------------------------------------------------------------------


def columns_of(
    results: list[tuple[float, float]], question: dict[str, str], answer: dict[str, float]
) -> list[list[float]]:
    """Return the M4 of every pixel column, from all results."""
    start, end, width = answer["from"], answer["to"], int(question["width"])
    assert all(float(question[name]) == answer[name] for name in ("from", "to") if name in question)
    found: dict[int, list[tuple[float, float]]] = {}
    for moment, value in results:
        if start <= moment <= end:
            pixel = min(width - 1, math.floor((moment - start) / (end - start) * width))
            found.setdefault(pixel, []).append((moment, value))
    columns = []
    for pixel, points in sorted(found.items()):
        low, high = (choose(value for _, value in points) for choose in (min, max))
        low_at, high_at = (next(t for t, value in points if value == extreme) for extreme in (low, high))
        columns.append([pixel, *points[0], *points[-1], low_at, low, high_at, high])
    return columns


def test_the_line_is_the_m4_of_all_results_at_every_zoom(home: Home, look: Look) -> None:
    viewer = look(home.page.url, width=420)  # fewer pixel columns than results
    viewer.wait("() => document.querySelector('#chart-range').textContent")
    viewer.tab.select_option("#choose-query", "hour")
    viewer.tab.select_option("#choose-key", "2 / 3")
    viewer.tab.select_option("#choose-aggregate", "mean")
    for button in ("+", "+", "←", "−", "All"):
        viewer.tab.wait_for_timeout(150)
        viewer.tab.locator(".buttons button", has_text=button).click()
    viewer.tab.wait_for_timeout(300)
    own = [each for each in viewer.answers() if each[0]["key"] == "2 / 3" and each[0]["aggregate"] == "mean"]
    assert len({(answer["from"], answer["to"]) for _, answer in own}) >= 4
    results = home.results("hour", "2 / 3", "mean")
    pixels = viewer.tab.evaluate("Math.round(document.querySelector('#chart .u-over').clientWidth * devicePixelRatio)")
    for question, answer in own:
        assert answer["columns"] == columns_of(results, question, answer)
    assert int(own[-1][0]["width"]) == pixels and own[-1][1]["count"] == len(results)


def test_drag_wheel_and_keys_zoom_the_line(home: Home, look: Look) -> None:
    viewer = look(home.page.url)
    viewer.wait("() => document.querySelector('#chart-range').textContent.includes('results')")
    viewer.tab.locator("#chart").scroll_into_view_if_needed()
    box = viewer.tab.locator("#chart .u-over").bounding_box()
    assert box is not None
    x, y, width = box["x"], box["y"] + 40, box["width"]

    def zoomed(act: Callable[[], None]) -> tuple[float, float]:
        picture, text, answers = viewer.picture(), viewer.text("#chart-range"), len(viewer.m4)
        act()
        viewer.wait("before => document.querySelector('#chart-range').textContent !== before", text)
        assert viewer.picture() != picture
        while len(viewer.m4) == answers:
            viewer.tab.wait_for_timeout(10)
        answer = viewer.answers()[-1][1]
        return answer["from"], answer["to"]

    def drag() -> None:
        viewer.tab.mouse.move(x + 0.25 * width, y)
        viewer.tab.mouse.down()
        viewer.tab.mouse.move(x + 0.75 * width, y, steps=4)
        viewer.tab.mouse.up()

    whole = viewer.answers()[-1][1]
    start, end = whole["from"], whole["to"]
    begin, until = zoomed(drag)
    assert begin == pytest.approx(start + 0.25 * (end - start), abs=0.01 * (end - start))
    assert until == pytest.approx(start + 0.75 * (end - start), abs=0.01 * (end - start))
    nearer = zoomed(lambda: viewer.tab.mouse.wheel(0, -100))  # a drag has focused the chart
    assert begin < nearer[0] < nearer[1] < until
    earlier = zoomed(lambda: viewer.tab.keyboard.press("ArrowLeft"))
    assert earlier[0] < nearer[0] and earlier[1] - earlier[0] == pytest.approx(nearer[1] - nearer[0])
    assert zoomed(lambda: viewer.tab.keyboard.press("Home")) == (start, end)
    assert viewer.tab.get_by_role("button", name="All").get_attribute("aria-pressed") == "true"


@pytest.mark.parametrize("motion", ["no-preference", "reduce"])
def test_revised_results_flash_without_motion_where_that_is_preferred(look: Look, motion: str) -> None:
    query = sash.query("minute", sash.tumbling("1 minute"), peak=sash.max("load"))
    stream = sash.Stream(query, on="ts", by="plug", watermark="5 seconds", allowed_lateness="10 minutes")
    with sash.page(stream) as page:
        stream.push({"ts": [at(60 * each) for each in range(9)], "plug": ["a"] * 9, "load": [1.0] * 9})
        viewer = look(page.url, reduced_motion=motion)
        viewer.wait("() => document.querySelector('#chart-range').textContent.includes('7 results')")
        stream.push({"ts": [at(65)], "plug": ["a"], "load": [50.0]})
        flash = viewer.tab.locator("#chart .flash")
        flash.wait_for(state="attached")
        animation = flash.evaluate("element => getComputedStyle(element).animationName")
        assert animation == ("none" if motion == "reduce" else "flash")
        viewer.wait("() => document.querySelector('#chart-range').textContent.includes('to 50')")
        viewer.tab.locator("[aria-label='Windows of minute'] .window[data-state='revised']").wait_for()


def test_numbers_are_positions_too(look: Look) -> None:
    query = sash.query("ten", sash.tumbling(10), total=sash.sum("x"))
    stream = sash.Stream(query, on="n")
    with sash.page(stream) as page:
        stream.push({"n": list(range(100)), "x": [1.0] * 100}, watermark=95)
        viewer = look(page.url)
        viewer.wait("() => document.querySelector('#chart-range').textContent.includes('from 10 to 90')")
        assert viewer.text("#timeline .watermark") == "watermark 95"
        assert not viewer.tab.locator("#choose-key").is_visible()


def test_the_newest_results_are_followed(look: Look) -> None:
    query = sash.query("ten", sash.tumbling(10), total=sash.sum("x"))
    stream = sash.Stream(query, on="n", watermark=0)
    with sash.page(stream) as page:
        stream.push({"n": list(range(1000)), "x": [1.0] * 1000})
        viewer = look(page.url)
        viewer.wait("() => document.querySelector('#chart-range').textContent.includes('from 10 to 990')")
        viewer.tab.get_by_role("button", name="Follow").click()
        viewer.wait("() => document.querySelector('#chart-range').textContent.includes(': 25 results')")
        stream.push({"n": list(range(1000, 2001)), "x": [2.0] * 1001})
        viewer.wait("() => document.querySelector('#chart-range').textContent.includes('from 20 to 20.')")
        answer = viewer.answers()[-1][1]
        assert answer["to"] - answer["from"] == pytest.approx(245) and answer["bounds"] == [10, 2000]


def test_positions_are_written_as_python_writes_them(home: Home, look: Look) -> None:
    viewer = look(home.page.url)
    moments = [-86_400.5, -0.25, 0.0, 951_782_399.999999, 1_767_225_600.0, 1_767_225_600.000001, 4_102_444_799.5]
    texts = viewer.tab.evaluate(POSITIONS, moments)
    epoch = datetime(1970, 1, 1, tzinfo=UTC)
    expected = [(epoch + timedelta(seconds=each)).strftime("%Y-%m-%d %H:%M:%S.%f") for each in moments]
    assert texts == [each.rstrip("0").rstrip(".") if each.endswith("0") else each for each in expected]


@pytest.mark.parametrize("unit", ["time", "number"])
def test_ticks_are_round_and_few(home: Home, look: Look, unit: str) -> None:
    viewer = look(home.page.url)
    ranges = [(start, start + 1.7 * 10.0**power) for start in (-5.5, 0.0, 1_767_225_611.3) for power in range(-3, 9)]
    for (start, end), found in zip(ranges, viewer.tab.evaluate(TICKS, [ranges, unit]), strict=True):
        places = [each["at"] for each in found]
        assert 2 <= len(places) <= 9 and places == sorted(places)
        assert all(start <= place <= end for place in places)
        assert len({round(b - a, 6) for a, b in itertools.pairwise(places)}) <= 1
        assert unit == "time" or len({each["text"] for each in found}) == len(found)


# --- safety and access -----------------------------------------------------------------------------------


def test_panels_say_what_they_cannot_show_and_list_buckets(look: Look) -> None:
    source, page = hand_page()
    with page:
        viewer = look(page.url)
        notes = (("late", f"With {MARKUP}, more."), ("keys", "Of a sample."))
        source.inbox.put(dataclasses.replace(FACTS, notes=notes))
        source.inbox.put(BucketRows(7, 1234, ((MARKUP, 1000), ("b", 234))))
        source.inbox.put(SliceFacts(MARKUP, ((0.0, 1.0, None, ("q",)),), "Read a minute ago."))
        viewer.tab.locator("#buckets-body tbody tr").wait_for()
        assert viewer.tab.locator("#buckets-body td").all_inner_texts()[::2] == ["7", "1,234"]
        assert viewer.tab.locator("#keys-body tbody tr").first.inner_text().split("\t")[-2:] == ["1,000", "7"]
        assert viewer.text("#late .note") == f"With {MARKUP}, more." and viewer.text("#keys .note") == "Of a sample."
        assert not viewer.tab.locator("#batches .note").is_visible()
        viewer.wait("() => document.querySelector('#sharing').innerText.includes('Read a minute ago.')")
        assert viewer.tab.locator("#chart").bounding_box()["height"] == 0  # type: ignore[index]  # no result yet


def test_results_that_are_no_longer_kept_are_named(look: Look) -> None:
    query = sash.query("ten", sash.tumbling(10), total=sash.sum("x"))
    stream = sash.Stream(query, on="n", watermark=0)
    stream.push({"n": [0, 15], "x": [1.0, 1.0]})
    with sash.page(stream, keep_results=50) as page:
        for begin in range(20, 2000, 100):
            stream.push({"n": list(range(begin, begin + 100)), "x": [1.0] * 100})
        viewer = look(page.url)
        viewer.wait(
            "() => /no longer keeps \\d+ older results/.test(document.querySelector('#chart-range').textContent)"
        )
        assert viewer.text("#results .note").startswith("The line begins where the page was opened.")


def test_names_that_look_like_markup_are_text(look: Look) -> None:
    query = sash.query(MARKUP, sash.tumbling("1 minute"), **{"<b>peak</b>": sash.max("load")})
    stream = sash.Stream(query, on="ts", by="plug", watermark="5 seconds")
    with sash.page(stream, title=MARKUP) as page:
        stream.push({"ts": [at(0), at(70), at(200)], "plug": [MARKUP] * 3, "load": [1.0, 3.0, 2.0]})
        viewer = look(page.url)
        viewer.wait("() => document.querySelector('#chart-range').textContent.includes('results')")
        for place in ("#title", "#timeline", "#choose-query", "#choose-key", "#keys", "#chart-range", "#sharing"):
            viewer.wait("([place, text]) => document.querySelector(place).innerText.includes(text)", [place, MARKUP])
        viewer.tab.locator("#windows-table summary").click()
        viewer.wait("(text) => document.querySelector('#windows-table').innerText.includes(text)", MARKUP)
        assert viewer.tab.locator("body script, b").count() == 0


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_a_narrow_screen_scrolls_in_one_direction_and_text_has_contrast(home: Home, look: Look, scheme: str) -> None:
    viewer = look(home.page.url, width=360, color_scheme=scheme)
    viewer.wait("() => document.querySelector('#chart-range').textContent.includes('results')")
    assert viewer.tab.evaluate("document.documentElement.scrollWidth") <= 360
    assert viewer.tab.evaluate(CONTRAST) == []
    assert viewer.tab.evaluate("getComputedStyle(document.body).colorScheme") == "light dark"
    background = "getComputedStyle(document.body).backgroundColor"
    before = viewer.tab.evaluate(background)
    viewer.tab.locator("#theme").click(click_count=1 if scheme == "dark" else 2)  # system, light, dark
    if scheme == "light":
        viewer.wait("() => document.documentElement.dataset.theme === 'dark'")
    assert viewer.tab.evaluate(background) != before


def test_controls_and_charts_have_names_and_tables(home: Home, look: Look) -> None:
    viewer = look(home.page.url)
    viewer.wait("() => document.querySelector('#chart-range').textContent.includes('results')")
    tab = viewer.tab
    for landmark in ("banner", "navigation", "main", "contentinfo"):
        assert tab.get_by_role(landmark).count() == 1  # type: ignore[arg-type]
    regions = ["Now", "Time", "Results", "Sharing", "Micro-batches", "Keys", "Late rows"]
    assert [tab.get_by_role("region", name=name, exact=True).count() for name in regions] == [1] * 7
    for name in ("Query", "Aggregate"):
        assert tab.get_by_role("combobox", name=name).count() == 1
    assert tab.locator("#why").get_attribute("aria-live") == "polite"
    nameless = """() => [...document.querySelectorAll("button, select, input, [role=img], [tabindex='0']")]
      .filter((each) => each.checkVisibility() && !each.labels?.length && !each.textContent.trim()
        && !each.ariaLabel && !each.getAttribute("aria-labelledby")).map((each) => each.outerHTML.slice(0, 80))"""
    assert tab.evaluate(nameless) == []
    for details in tab.locator("details").all():
        details.locator("summary").click()
        details.locator("tbody tr").first.wait_for()
    assert tab.evaluate("document.documentElement.scrollWidth") <= 1300


def test_the_end_of_the_page_is_a_message(look: Look) -> None:
    query = sash.query("minute", sash.tumbling("1 minute"), peak=sash.max("load"))
    stream = sash.Stream(query, on="ts", watermark="5 seconds")
    page = sash.page(stream)
    stream.push({"ts": [at(0), at(70)], "load": [1.0, 3.0]})
    viewer = look(page.url)
    viewer.wait("() => document.querySelector('#state').textContent === 'running'")
    page.close()
    viewer.wait("() => document.querySelector('#connection').textContent")
    assert "The page was closed." in viewer.text("#connection")
    assert viewer.tab.get_by_role("button", name="Connect again").count() == 1
    stream.push({"ts": [at(200)], "load": [1.0]})  # the stream continues
