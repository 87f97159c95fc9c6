// Micro-batches: durations by phase, rows, bytes written, restarts.

import { $, el, fallback, keep, setAttribute, setText, table } from "./dom.js";
import { bytes, millis, number } from "./format.js";

const SHOWN = 60;
const COLOURS = 8; // classes phase-0 … phase-7
const names = []; // phases in the order in which they were first seen: a phase keeps its colour
const parts = {};

/** Draw the event `batches`, oldest first. */
export function showBatches(all) {
    if (!parts.bars) build();
    const batches = all.slice(-SHOWN);
    for (const { phases } of batches)
        for (const name of Object.keys(phases)) if (!names.includes(name)) names.push(name);
    const longest = Math.max(...batches.map(total), 1);
    const newest = batches.at(-1);
    const most = `The longest of the last ${batches.length} took ${millis(longest)}.`;
    setText(parts.caption, newest ? `${facts(newest)}. ${most}` : "No micro-batch yet.");
    parts.charts.hidden = !newest;
    keep(
        parts.legend,
        names,
        (name) => name,
        (name) => el("li", {}, el("i", { class: `key ${phaseClass(name)}` }), name),
        () => {},
    );
    keep(
        parts.bars,
        batches,
        ({ number }) => number,
        makeBar,
        (bar, batch) => updateBar(bar, batch, longest),
    );
    drawLow(parts.rows, batches, "rows", number);
    drawLow(parts.written, batches, "written_bytes", bytes);
    setAttribute(
        parts.bars,
        "aria-label",
        `Durations of the last ${batches.length} micro-batches by phase; the longest took ${millis(longest)}`,
    );
    fallback($("batches-table"), () =>
        table(
            "Micro-batches",
            ["Number", "Rows", "Duration", ...names, "Written", ""],
            [...batches]
                .reverse()
                .map((batch) => [
                    batch.number,
                    number(batch.rows),
                    millis(total(batch)),
                    ...names.map((name) => (name in batch.phases ? millis(batch.phases[name]) : "")),
                    bytes(batch.written_bytes),
                    batch.restarted ? "after a restart" : "",
                ]),
            [0, 1, 2, ...names.map((_, index) => 3 + index), 3 + names.length],
        ),
    );
}

const total = ({ phases }) => Object.values(phases).reduce((sum, ms) => sum + ms, 0);

function facts(batch) {
    const written = batch.written_bytes ? `, ${bytes(batch.written_bytes)} written` : "";
    return `Micro-batch ${batch.number}: ${number(batch.rows)} rows in ${millis(total(batch))}${written}`;
}

const phaseClass = (name) => `phase-${names.indexOf(name) % COLOURS}`;

function build() {
    const stacks = (kind) => el("div", { class: kind, role: "img" });
    parts.caption = el("p", { class: "caption" });
    parts.legend = el("ul", { class: "legend" });
    parts.bars = stacks("stacks");
    parts.rows = stacks("stacks low");
    parts.written = stacks("stacks low");
    const name = (textContent) => el("p", { class: "stacks-name", textContent });
    parts.charts = el(
        "div",
        {},
        parts.legend,
        parts.bars,
        name("Rows"),
        parts.rows,
        name("Bytes written"),
        parts.written,
    );
    $("batches-body").append(parts.caption, parts.charts);
}

/** One bar for each micro-batch, below the bar of its phases. */
function drawLow(place, batches, figure, text) {
    const most = Math.max(...batches.map((batch) => batch[figure]), 1);
    place.hidden = place.previousSibling.hidden = batches.every((batch) => !batch[figure]);
    keep(
        place,
        batches,
        ({ number }) => number,
        () => el("div", { class: "stack" }, el("span", { class: "part" })),
        (bar, batch) => {
            bar.firstChild.style.height = `${((100 * batch[figure]) / most).toFixed(2)}%`;
            setAttribute(bar, "title", `Micro-batch ${batch.number}: ${text(batch[figure])}`);
        },
    );
    setAttribute(place, "aria-label", `At most ${text(most)} in one micro-batch`);
}

function makeBar({ restarted }) {
    return el("div", { class: restarted ? "stack restarted" : "stack" });
}

function updateBar(bar, batch, longest) {
    const restarted = batch.restarted ? ", the first after a restart" : "";
    setAttribute(bar, "title", `${facts(batch)}${restarted}`);
    const phases = Object.entries(batch.phases);
    keep(
        bar,
        phases,
        ([name]) => name,
        ([name]) => el("span", { class: `part ${phaseClass(name)}` }),
        (part, [, ms]) => {
            part.style.height = `${((100 * ms) / longest).toFixed(2)}%`;
        },
    );
}
