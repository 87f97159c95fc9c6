// Now: the sentence of sash.why, and the figures with their last 15 minutes.

import { $, el, keep, setAttribute, setText, svg } from "./dom.js";
import { bytes, number } from "./format.js";

const WIDTH = 120;
const HEIGHT = 28;
const PAST_S = 15 * 60;

/** Draw the event `now`. */
export function showNow({ title, state, why, figures, notes }) {
    for (const place of document.querySelectorAll("[data-note]")) {
        setText(place, notes[place.dataset.note] ?? "");
        place.hidden = !place.textContent;
    }
    document.title = title ? `${title} · sash` : "sash";
    setText($("title"), title);
    setText($("state"), state);
    $("state").dataset.state = state;
    setText($("why"), why);
    keep($("figures"), figures, (figure) => figure.name, makeFigure, updateFigure);
    const alarms = figures.filter(({ alarm }) => alarm !== null);
    keep(
        $("alarms"),
        alarms,
        ({ name }) => name,
        () => el("li"),
        (item, { label, alarm }) => setText(item, `${label}: ${alarm}`),
    );
}

function makeFigure() {
    return el(
        "li",
        { class: "figure" },
        el("span", { class: "label" }),
        el("span", { class: "value" }),
        svg(
            "svg",
            { class: "spark", viewBox: `0 0 ${WIDTH} ${HEIGHT}`, preserveAspectRatio: "none", "aria-hidden": "true" },
            svg("path", { class: "area" }),
            svg("path", { class: "line", "vector-effect": "non-scaling-stroke" }),
        ),
        el("span", { class: "range" }),
    );
}

function updateFigure(card, { name, label, text, alarm, history }) {
    const [labelPlace, valuePlace, spark, range] = card.children;
    setText(labelPlace, label);
    setText(valuePlace, text);
    card.classList.toggle("alarm", alarm !== null);
    const points = history.filter(([, value]) => value !== null);
    const [low, high] = extremes(points);
    const shown = name.endsWith("bytes") ? bytes : (value) => number(Number(value.toPrecision(3)));
    setText(range, points.length < 2 ? "" : low === high ? "steady" : `${shown(low)} to ${shown(high)}`);
    const [area, line] = spark.children;
    const path = sparkline(points, low, high);
    setAttribute(line, "d", path);
    setAttribute(area, "d", path && `${path}V${HEIGHT}H${startOf(points)}Z`);
}

function extremes(points) {
    let [low, high] = [Infinity, -Infinity];
    for (const [, value] of points) {
        low = Math.min(low, value);
        high = Math.max(high, value);
    }
    return [low, high];
}

function across(points) {
    const last = points.at(-1)[0];
    const span = Math.max(1, Math.min(PAST_S, last - points[0][0]));
    return (clock) => Math.max(0, WIDTH * (1 - (last - clock) / span));
}

const startOf = (points) => across(points)(points[0][0]).toFixed(1);

/** The newest point is at the right edge; the line uses the whole width from the start. */
function sparkline(points, low, high) {
    if (points.length < 2) return "";
    const x = across(points);
    const y = (value) => (high === low ? HEIGHT / 2 : HEIGHT - 3 - ((value - low) / (high - low)) * (HEIGHT - 6));
    return points
        .map(([clock, value], index) => `${index ? "L" : "M"}${x(clock).toFixed(1)} ${y(value).toFixed(1)}`)
        .join("");
}
