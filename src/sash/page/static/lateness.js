// The histogram of lateness: how far behind the newest row each row came.

import { $, el, fallback, keep, setText, table } from "./dom.js";
import { duration, number } from "./format.js";

/** Draw the histogram. Most rows come on time, so heights are logarithms; the table has the counts. */
export function drawLateness({ lateness, covering_delay: covering, covering_text: text, delay, unit }) {
    const place = $("lateness");
    place.hidden = $("lateness-table").hidden = lateness.length === 0;
    const most = Math.log1p(Math.max(...lateness.map(({ rows }) => rows), 1));
    const coveringIndex = bucketOf(lateness, covering);
    const delayIndex = bucketOf(lateness, delay);
    keep(
        place,
        lateness.map((each, index) => ({ ...each, index })),
        ({ index }) => index,
        () =>
            el(
                "div",
                { class: "column" },
                el("span", { class: "count" }),
                el("span", { class: "bar" }),
                el("span", { class: "edge" }),
            ),
        (column, { from, to, rows, index }) => {
            const [count, bar, edge] = column.children;
            setText(count, rows ? short(rows) : "");
            bar.style.height = `calc(${Math.log1p(rows) / most} * (100% - var(--labels)))`;
            setText(edge, to === null ? `${duration(from, unit)}+` : duration(from, unit));
            column.title = `${rangeText(from, to, unit)}: ${number(rows)} rows`;
            column.classList.toggle("covering", index === coveringIndex);
            column.classList.toggle("delay", index === delayIndex);
            column.classList.toggle("beyond", delay !== null && delayIndex >= 0 && index > delayIndex);
        },
    );
    const beyond =
        delayIndex >= 0 && delayIndex < lateness.length - 1 ? " Rows later than the delay have another colour." : "";
    setText($("covering"), lateness.length ? `${text}${beyond} Heights are logarithms.` : text);
    fallback($("lateness-table"), () =>
        table(
            "Lateness of rows",
            ["Behind the newest row", "Rows"],
            lateness.map(({ from, to, rows }) => [rangeText(from, to, unit), number(rows)]),
            [1],
        ),
    );
}

const bucketOf = (lateness, value) =>
    value === null ? -1 : lateness.findIndex(({ from, to }) => from <= value && (to === null || value < to));

const rangeText = (from, to, unit) =>
    to === null ? `${duration(from, unit)} or more` : `${duration(from, unit)} to ${duration(to, unit)}`;

const compact = new Intl.NumberFormat("en", { notation: "compact", maximumSignificantDigits: 3 });
const short = (rows) => compact.format(rows);
