// Results: choose a query, a key and an aggregate; the line is drawn from the M4 of the visible range and width.

import { LineChart } from "./chart.js";
import { $, fallback, setOptions, setText, table } from "./dom.js";
import { number, position } from "./format.js";
import { named } from "./keys.js";
import { ask } from "./requests.js";
import { View } from "./view.js";

const REFRESH_MS = 10_000; // queries and keys can be added while the stream runs
const LISTED = 100; // keys in one answer of api/series

let series = [];
let shareKeys = () => {};
let answer = null;
let question = null; // the AbortController of the question under way
let isStale = false; // results came while it was under way
let chart = null;
let frame = 0;
const kept = new Map(); // query → how many older results the page no longer keeps
let [isAsking, searched] = [false, ""]; // for the series, and with which text
const view = new View();

/** Ask what can be drawn, and listen to the controls; `setKeys` receives the keys of the first query. */
export function startResults(setKeys) {
    shareKeys = setKeys;
    chart = new LineChart($("chart"), {
        onRange: (from, to) => moved(() => view.set("fixed", from, to)),
        onZoom: (factor, share) => moved(() => view.zoom(factor, share)),
        onResize: () => request(),
    });
    $("choose").addEventListener("submit", (event) => event.preventDefault());
    $("choose-query").addEventListener("change", () => choose());
    for (const id of ["choose-key", "choose-aggregate"]) $(id).addEventListener("change", () => moved(() => {}));
    $("choose-other").addEventListener("input", refreshSeries);
    for (const button of $("choose").querySelectorAll("[data-move]")) {
        button.addEventListener("click", () => moved(() => view.move(button.dataset.move)));
    }
    $("chart").addEventListener("keydown", byKeyboard);
    refreshSeries();
    setInterval(() => document.hidden || refreshSeries(), REFRESH_MS);
}

/** Receive the event `results`. */
export function showResults({ query, latest, revised, dropped }) {
    kept.set(query, dropped);
    if (!series.some(({ name, keys, aggregates }) => name === query && keys.length && aggregates.length))
        refreshSeries();
    if (query !== chosen().query) return;
    const own = revised.filter(({ key }) => key === chosen().key);
    const follows = view.grow(latest);
    if (follows || !answer || own.some(({ end }) => view.contains(end))) request();
    chart.flash(own.map(({ end }) => end).filter((end) => view.contains(end)));
}

/** Draw again in the colours of now. */
export function redrawResults() {
    chart?.redraw();
}

const chosen = () => ({
    query: $("choose-query").value,
    key: $("choose-key").value,
    aggregate: $("choose-aggregate").value,
});

async function refreshSeries() {
    const search = $("choose-other").value;
    if (isAsking && search === searched) return;
    [isAsking, searched] = [true, search];
    const found = await ask("api/series", search ? { query: chosen().query, search } : {});
    isAsking = false;
    if (!found || $("choose-other").value !== search) return;
    const isFirst = series.length === 0;
    if (search) for (const one of found.queries) series = series.map((each) => (each.name === one.name ? one : each));
    else series = found.queries;
    if (series.length === 0) return;
    setOptions(
        $("choose-query"),
        series.map(({ name }) => name),
    );
    shareKeys(series[0].keys);
    if (isFirst) choose();
    else fillChoices();
}

function fillChoices() {
    const one = series.find(({ name }) => name === chosen().query) ?? series[0];
    const before = chosen();
    const isSearched = $("choose-other").value !== "";
    const keys = isSearched || one.keys.includes(before.key) || !before.key ? one.keys : [before.key, ...one.keys];
    setOptions($("choose-key"), keys, keys.map(named));
    setOptions($("choose-aggregate"), one.aggregates);
    $("other-key").hidden = one.keys.length < LISTED && !isSearched;
    $("choose-key").parentElement.hidden = keys.length === 1 && keys[0] === "";
    chart.unit = view.unit = one.unit;
    const after = chosen();
    if (after.key !== before.key || after.aggregate !== before.aggregate) moved(() => {});
}

function choose() {
    $("choose-other").value = "";
    const one = series.find(({ name }) => name === chosen().query);
    setOptions($("choose-key"), one.keys, one.keys.map(named));
    fillChoices();
    moved(() => view.set("all"));
}

function byKeyboard(event) {
    if (event.ctrlKey || event.metaKey || event.altKey) return;
    const move = {
        "+": "in",
        "=": "in",
        "-": "out",
        _: "out",
        ArrowLeft: "earlier",
        ArrowRight: "later",
        Home: "all",
        End: "follow",
    }[event.key];
    if (!move) return;
    event.preventDefault();
    moved(() => view.move(move));
}

/** Change the view because the user wants it: show the old line in the new range at once, and ask for the new line. */
function moved(change) {
    answer = null;
    change();
    chart.setRange(view.from, view.to);
    for (const button of $("choose").querySelectorAll("[aria-pressed]")) {
        button.setAttribute("aria-pressed", String(button.dataset.move === view.mode));
    }
    cancelAnimationFrame(frame);
    frame = requestAnimationFrame(() => {
        question?.abort();
        question = null;
        request(true);
    });
}

/** Ask for the M4 of the visible range; while an answer is under way, remember to ask again. */
async function request(isByUser = false) {
    const { query, key, aggregate } = chosen();
    if (!query || !aggregate) return;
    if (question) {
        isStale = true;
        return;
    }
    const own = (question = new AbortController());
    isStale = false;
    const range = view.mode === "all" ? {} : { from: view.from, to: view.to };
    const found = await ask("api/m4", { query, key, aggregate, ...range, width: chart.width }, own.signal);
    if (question !== own) return; // the user moved on
    question = null;
    if (found) show(found, isByUser);
    if (isStale && found) request();
}

function show(found, isByUser) {
    answer = found;
    $("chart").classList.toggle("blank", found.bounds === null);
    view.answered(found);
    chart.draw(found.columns, view.from, view.to);
    const text = describe(found);
    setText($("chart-range"), text);
    if (isByUser) setText($("chart-said"), text);
    const unit = chart.unit;
    fallback($("chart-table"), () =>
        table(
            "Pixel columns",
            ["Column", "First at", "First", "Lowest at", "Lowest", "Highest at", "Highest", "Last at", "Last"],
            found.columns.map(([pixel, firstAt, first, lastAt, last, lowAt, low, highAt, high]) => [
                pixel,
                position(firstAt, unit),
                number(first),
                position(lowAt, unit),
                number(low),
                position(highAt, unit),
                number(high),
                position(lastAt, unit),
                number(last),
            ]),
            [0, 2, 4, 6, 8],
        ),
    );
}

const range = () => `${position(view.from, chart.unit)} to ${position(view.to, chart.unit, view.from)}`;

function describe({ columns, count }) {
    const { query, key, aggregate } = chosen();
    const dropped = kept.get(query) ?? 0;
    const limit = dropped ? ` The page no longer keeps ${number(dropped)} older results of this query.` : "";
    const subject = `${aggregate} of ${query}${key ? ` for ${key}` : ""}`;
    if (columns.length === 0) return `${subject}: no results from ${range()}.${limit}`;
    let [low, high] = [Infinity, -Infinity];
    for (const column of columns) {
        low = Math.min(low, column[6]);
        high = Math.max(high, column[8]);
    }
    return (
        `${subject}, windows that end from ${range()}: ${number(count)} results ` +
        `in ${number(columns.length)} pixel columns, from ${number(low)} to ${number(high)}.${limit}`
    );
}
