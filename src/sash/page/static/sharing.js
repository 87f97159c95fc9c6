// Sharing: the slices of one key, which query cut them, and what would be done twice without sharing.

import { drawAxis, percentOf, span } from "./axis.js";
import { $, el, fallback, keep, setAttribute, setText, table } from "./dom.js";
import { interval, number, position } from "./format.js";
import { meter, named } from "./keys.js";
import { ask } from "./requests.js";
import { positions } from "./time.js";

const MOST_SLICES = 120;
const parts = {};
let isUnderWay = false;

$("sharing-key").addEventListener("change", refresh);

/** Receive the event `sharing`; if the user chose another key, ask for that one. */
export function showSharing(sharing) {
    const chosen = $("sharing-key").value;
    if (!chosen || chosen === sharing.key) draw(sharing);
    else if (!isUnderWay) refresh();
}

async function refresh() {
    isUnderWay = true;
    const sharing = await ask("api/sharing", { key: $("sharing-key").value });
    isUnderWay = false;
    if (sharing) draw(sharing);
}

function draw(sharing) {
    if (!parts.slices) build();
    const { unit } = positions;
    const slices = sharing.slices.slice(-MOST_SLICES);
    const queries = [...new Set(slices.flatMap(({ cut_by: names }) => names))].sort();
    const [from, to] = [slices[0]?.start ?? 0, slices.at(-1)?.end ?? 1];
    const percent = percentOf(from, to);
    setText(parts.caption, sentence(sharing, slices.length));
    setText(parts.note, sharing.note);
    parts.note.hidden = !sharing.note;
    parts.tracks.hidden = slices.length === 0;
    drawSlices(slices, percent, unit);
    keep(
        parts.cuts,
        queries,
        (name) => name,
        makeCuts,
        (row, name) => updateCuts(row, name, slices, percent),
    );
    drawAxis(parts.axis, from, to, unit);
    drawCosts(sharing);
    keep(
        parts.fields,
        sharing.fields,
        (field) => field,
        (field) => el("li", {}, el("code", { textContent: field })),
        () => {},
    );
    setText(
        parts.fieldsTitle,
        sharing.fields.length ? `Kept once for all queries: ${sharing.fields.length} fields` : "",
    );
    fallback($("slices-table"), () =>
        table(
            "Slices",
            ["Start", "End", "Rows", "Cut at its end by"],
            slices.map(({ start, end, rows, cut_by: names }) => [
                position(start, unit),
                position(end, unit, start),
                rows ?? "",
                names.join(", "),
            ]),
            [2],
        ),
    );
}

function sentence({ key, slices, note }, shown) {
    const chosen = $("sharing-key").value;
    if (chosen && chosen !== key) return `The slices of ${named(chosen)} are not read yet.`;
    if (shown === 0 && note) return "";
    if (shown === 0) return "No slices: this key has no rows that a window still needs.";
    const count = shown < slices.length ? `The newest ${shown} of ${number(slices.length)} slices` : `${shown} slices`;
    const meaning = "A mark shows which query cut there; each row is aggregated once, for all queries.";
    return `${count} of ${named(key)}. ${meaning}`;
}

function build() {
    const row = (name, ...content) =>
        el("div", { class: "row" }, el("div", { class: "name", textContent: name }), ...content);
    parts.caption = el("p", { class: "caption" });
    parts.note = el("p", { class: "caption" });
    parts.slices = el("div", { class: "track slices", "aria-hidden": "true" });
    parts.cuts = el("div");
    parts.axis = el("div", { class: "axis", "aria-hidden": "true" });
    parts.tracks = el("div", { class: "timeline small" }, row("slices", parts.slices), parts.cuts, row("", parts.axis));
    parts.costs = el("table", { class: "costs" });
    parts.fieldsTitle = el("h3");
    parts.fields = el("ul", { class: "chips" });
    $("sharing-body").append(parts.caption, parts.note, parts.tracks, parts.costs, parts.fieldsTitle, parts.fields);
}

/** The height of a slice is its number of rows. */
function drawSlices(slices, percent, unit) {
    const most = Math.max(...slices.map(({ rows }) => rows ?? 0), 1);
    keep(
        parts.slices,
        slices,
        ({ start }) => start,
        () => el("span", { class: "slice" }, el("span")),
        (bar, { start, end, rows }) => {
            span(bar, start, end, percent);
            bar.firstChild.style.height = `${rows === null ? 100 : Math.max(3, (100 * rows) / most)}%`;
            setAttribute(bar, "title", `${interval(start, end, unit)}${rows === null ? "" : `: ${number(rows)} rows`}`);
        },
    );
}

const makeCuts = (name) =>
    el(
        "div",
        { class: "row" },
        el("div", { class: "name", textContent: name }),
        el("div", { class: "track cuts", role: "img" }),
    );

function updateCuts(row, name, slices, percent) {
    const own = slices.filter(({ cut_by: names }) => names.includes(name));
    const track = row.lastChild;
    setAttribute(track, "aria-label", `${name} cut ${own.length} of ${slices.length} slices`);
    keep(
        track,
        own,
        ({ end }) => end,
        () => el("span", { class: "cut" }),
        (mark, { end }) => {
            mark.style.left = `${percent(end)}%`;
        },
    );
}

function drawCosts({ combines_per_row: shared, without_sharing: alone }) {
    const known = [
        ["with sharing", shared],
        ["without sharing", alone],
    ].filter(([, value]) => value !== null);
    const most = Math.max(...known.map(([, value]) => value), 1e-9);
    parts.costs.replaceChildren(
        el("caption", { textContent: "Combines per row" }),
        el(
            "tbody",
            {},
            ...known.map(([name, value]) =>
                el(
                    "tr",
                    {},
                    el("th", { scope: "row", textContent: name }),
                    el("td", { class: "number", textContent: number(Number(value.toPrecision(3))) }),
                    el("td", { class: "fill" }, meter(value / most)),
                ),
            ),
        ),
    );
    parts.costs.hidden = known.length === 0;
}
