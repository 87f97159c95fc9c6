// Time: arrivals, watermark, allowed lateness and windows on the axis of event time.

import { drawAxis, percentOf, span } from "./axis.js";
import { $, el, fallback, keep, setAttribute, setText, svg, table } from "./dom.js";
import { clock, interval, number, position } from "./format.js";
import { drawLateness } from "./lateness.js";

/** The unit of positions, known from the first event `time`. */
export const positions = { unit: "time" };

const TRACK_PX = 150;
const [LEAST_PX, MOST_PX] = [3, 15];
const MOST_LANES = 64;
const HINT = "Point at a window, or move to it with Tab and the arrow keys: here it says what it waits for.";

let shown = null; // {query, start, end} of the window that the detail describes
let last = null;
const parts = {};

/** Draw the event `time`. */
export function showTime(time) {
    last = time;
    positions.unit = time.unit;
    if (!parts.arrivals) build();
    const [from, to] = visibleRange(time);
    const percent = percentOf(from, to);
    drawArrivals(time, percent);
    drawMarks(time, percent, from, to);
    for (const query of time.queries) query.lanes = lanesOf(query.windows, time.watermark);
    keep(
        parts.queries,
        time.queries,
        ({ name }) => name,
        makeQuery,
        (row, query) => updateQuery(row, query, percent),
    );
    drawAxis(parts.axis, from, to, time.unit);
    describe();
    drawLateness(time);
    fallback($("windows-table"), () => windowsTable(time));
}

function build() {
    parts.marks = el("div", { class: "marks", "aria-hidden": "true" });
    parts.watermark = el("div", { class: "mark watermark" }, el("span"));
    parts.newest = el("div", { class: "mark newest" }, el("span"));
    parts.lateness = el("div", { class: "band lateness" });
    parts.marks.append(parts.lateness, parts.newest, parts.watermark);
    parts.arrivals = svg(
        "svg",
        { class: "arrivals", preserveAspectRatio: "none", viewBox: "0 0 100 1", "aria-hidden": "true" },
        svg("path"),
    );
    parts.queries = el("div", { class: "queries" });
    parts.axis = el("div", { class: "axis", "aria-hidden": "true" });
    $("timeline").append(
        parts.marks,
        el(
            "div",
            { class: "row" },
            el("div", { class: "name", textContent: "arrivals" }),
            el("div", { class: "track" }, parts.arrivals),
        ),
        parts.queries,
        el("div", { class: "row" }, el("div", { class: "name" }), parts.axis),
    );
    new ResizeObserver(() => last && drawAxis(parts.axis, ...visibleRange(last), last.unit)).observe(parts.axis);
}

/** From the oldest to the newest of all that is drawn, with a little space on the right. */
function visibleRange({ arrivals, bucket, newest, watermark, queries }) {
    let [from, to] = [Infinity, -Infinity];
    const include = (at) => {
        if (at === null || !Number.isFinite(at)) return;
        from = Math.min(from, at);
        to = Math.max(to, at);
    };
    for (const [start] of arrivals) [start, start + bucket].forEach(include);
    for (const { windows } of queries) for (const { start, end } of windows) [start, end].forEach(include);
    [newest, watermark].forEach(include);
    if (!(to > from)) return Number.isFinite(from) ? [from - 1, from + 1] : [0, 1];
    return [from, to + (to - from) / 50];
}

function drawArrivals({ arrivals, bucket }, percent) {
    const most = Math.max(...arrivals.map(([, rows]) => rows), 1);
    const bars = arrivals.map(([start, rows]) => {
        const [left, right] = [percent(start), percent(start + bucket)];
        return `M${left.toFixed(3)} 1V${(1 - rows / most).toFixed(4)}H${(left + (right - left) * 0.9).toFixed(3)}V1Z`;
    });
    setAttribute(parts.arrivals.firstChild, "d", bars.join(""));
}

function drawMarks({ watermark, newest, allowed_lateness: allowed, unit }, percent, from, to) {
    const text = (at) => (unit === "time" ? clock(at, to - from) : position(at, unit));
    place(parts.watermark, watermark, percent, `watermark ${text(watermark)}`);
    place(parts.newest, newest, percent, `newest row ${text(newest)}`);
    parts.lateness.hidden = watermark === null || !(allowed > 0);
    if (!parts.lateness.hidden) span(parts.lateness, Math.max(from, watermark - allowed), watermark, percent);
}

/** The text stands on the side of its line that has more space. */
function place(mark, at, percent, text) {
    mark.hidden = at === null;
    if (at === null) return;
    const left = percent(at);
    mark.style.left = `${left}%`;
    mark.classList.toggle("leftwards", left > 50);
    setText(mark.firstChild, text);
}

/** Windows by lane: each in the first lane that is free at its start. */
function lanesOf(windows, watermark) {
    const all = [...windows].sort((a, b) => a.start - b.start || a.end - b.end);
    let lanes = pack(all);
    if (lanes.count > MOST_LANES) {
        // Those that end next to the watermark say most: what closed last, and what closes next.
        const distance = ({ end }) => Math.abs(end - (watermark ?? all.at(-1).end));
        const nearest = new Set([...all].sort((a, b) => distance(a) - distance(b)).slice(0, MOST_LANES));
        lanes = pack(all.filter((each) => nearest.has(each)));
    }
    const height = Math.max(LEAST_PX, Math.min(MOST_PX, Math.floor(TRACK_PX / lanes.count)));
    return { ...lanes, height, hidden: all.length - lanes.placed.length };
}

function pack(windows) {
    const ends = [];
    const placed = windows.map((each) => {
        const free = ends.findIndex((end) => end <= each.start);
        const lane = free < 0 ? ends.length : free;
        ends[lane] = each.end;
        return { ...each, lane };
    });
    return { placed, count: Math.max(1, ends.length) };
}

function makeQuery({ name }) {
    const track = el("div", { class: "track windows", role: "group", "aria-label": `Windows of ${name}` });
    track.addEventListener("keydown", (event) => moveFocus(event, track));
    return el(
        "div",
        { class: "row" },
        el("div", { class: "name" }, el("span", { class: "query" }), el("span", { class: "text" })),
        track,
    );
}

function updateQuery(row, query, percent) {
    const [name, track] = row.children;
    const { placed, hidden, height, count } = query.lanes;
    const text = query.text.startsWith(`${query.name}: `) ? query.text.slice(query.name.length + 2) : query.text;
    setText(name.firstChild, query.name);
    setText(name.lastChild, hidden ? `${text} · ${number(hidden)} more windows` : text);
    setAttribute(track, "data-empty", query.windows.length ? "" : "no window yet");
    setAttribute(name, "title", query.text);
    track.style.height = `${count * height}px`;
    const hadFocus = track.contains(document.activeElement) ? document.activeElement : null;
    keep(
        track,
        placed,
        ({ start, end }) => `${start} ${end}`,
        ({ start, end }) => makeWindow(query.name, start, end),
        (bar, each) => updateWindow(bar, query.name, each, height, percent),
    );
    if (!track.querySelector("[tabindex='0']") && track.lastChild) track.lastChild.tabIndex = 0;
    if (hadFocus && !hadFocus.isConnected)
        (track.querySelector("[tabindex='0']") ?? $("time")).focus({ preventScroll: true });
}

function makeWindow(query, start, end) {
    const bar = el("button", { type: "button", class: "window", tabIndex: -1 });
    const show = () => {
        shown = { query, start, end };
        describe();
    };
    bar.addEventListener("pointerenter", show);
    bar.addEventListener("focus", () => {
        for (const other of bar.parentElement.querySelectorAll("[tabindex='0']")) other.tabIndex = -1;
        bar.tabIndex = 0;
        show();
    });
    return bar;
}

function updateWindow(bar, query, { start, end, state, waits, keys, lane }, height, percent) {
    if (bar.dataset.state !== state) bar.dataset.state = state;
    span(bar, start, end, percent);
    bar.classList.toggle("thin", height < 6);
    bar.style.top = `${lane * height}px`;
    bar.style.height = `${height - 1}px`;
    setAttribute(bar, "aria-label", sentence(query, { start, end, state, waits, keys }));
}

function sentence(query, { start, end, state, waits, keys }) {
    const by = keys === null ? "" : keys === 1 ? ", 1 key" : `, ${number(keys)} keys`;
    return `${query} ${interval(start, end, positions.unit)}, ${state}${by}. ${waits}`;
}

/** Describe the chosen window as it is now, and mark it. */
function describe() {
    const query = last.queries.find(({ name }) => name === shown?.query);
    const found = query?.windows.find(({ start, end }) => start === shown.start && end === shown.end);
    setText($("window-detail"), found ? sentence(query.name, found) : HINT);
    for (const bar of parts.queries.querySelectorAll(".window.shown")) bar.classList.remove("shown");
    if (!found) return;
    const track = [...parts.queries.children][last.queries.indexOf(query)]?.querySelector(".track");
    track?.keptChildren?.get(`${found.start} ${found.end}`)?.classList.add("shown");
}

const KEYS = { ArrowLeft: -1, ArrowRight: 1, Home: -Infinity, End: Infinity };

/** Arrow keys: left and right within a query, up and down to the query above or below. */
function moveFocus(event, track) {
    const bars = [...track.children];
    const at = bars.indexOf(document.activeElement);
    if (event.key in KEYS) {
        bars[Math.max(0, Math.min(bars.length - 1, at + KEYS[event.key]))]?.focus();
    } else if (event.key === "ArrowUp" || event.key === "ArrowDown") {
        const tracks = [...parts.queries.querySelectorAll(".track")].filter((each) => each.children.length);
        const other = tracks[tracks.indexOf(track) + (event.key === "ArrowUp" ? -1 : 1)];
        other?.querySelector("[tabindex='0']")?.focus();
    } else return;
    event.preventDefault();
}

function windowsTable({ queries, unit }) {
    const rows = queries.flatMap(({ name, windows }) =>
        windows.map(({ start, end, state, keys, waits }) => [
            name,
            position(start, unit),
            position(end, unit, start),
            state,
            keys ?? "",
            waits,
        ]),
    );
    return table("Windows", ["Query", "Start", "End", "State", "Keys", "Waits for"], rows, [4]);
}
