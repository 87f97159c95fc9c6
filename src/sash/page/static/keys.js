// Keys: the busiest keys and their buckets.

import { $, el, showRows } from "./dom.js";
import { number } from "./format.js";

/** Draw the event `keys`. */
export function showKeys(keys) {
    const most = Math.max(...keys.map(({ rows }) => rows), 1);
    const withBuckets = keys.some(({ bucket }) => bucket !== null);
    const rows = keys.map(({ key, rows, bucket }) => [
        named(key),
        meter(rows / most),
        number(rows),
        ...(withBuckets ? [bucket === null ? "" : String(bucket)] : []),
    ]);
    const headings = ["Key", "", "Rows", ...(withBuckets ? ["Bucket"] : [])];
    showRows($("keys-body"), "No rows yet.", "The busiest keys", headings, rows, [2, 3]);
}

/** A key as text; a stream without `by` has one, and it has no name. */
export const named = (key) => (key === "" ? "(all rows)" : key);

/** A bar for a share from 0 to 1; the number beside it says the same. */
export function meter(share) {
    const bar = el("span", { class: "meter", "aria-hidden": "true" }, el("span"));
    bar.firstChild.style.width = `${(100 * share).toFixed(1)}%`;
    return bar;
}
