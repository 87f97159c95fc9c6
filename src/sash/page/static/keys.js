// Keys: the busiest keys and their buckets.

import { $, el, setOptions, showRows } from "./dom.js";
import { number } from "./format.js";

/** Draw the event `keys`. */
export function showKeys({ counted, keys, buckets }) {
    const heading = counted === "rows" ? "Rows" : "Slices";
    const most = Math.max(...keys.map(({ rows }) => rows), 1);
    const withBuckets = keys.some(({ bucket }) => bucket !== null);
    const rows = keys.map(({ key, rows, bucket }) => [
        named(key),
        meter(rows / most),
        number(rows),
        ...(withBuckets ? [bucket === null ? "" : String(bucket)] : []),
    ]);
    const headings = ["Key", "", heading, ...(withBuckets ? ["Bucket"] : [])];
    showRows($("keys-body"), "No rows yet.", "The busiest keys", headings, rows, [2, 3]);
    offerKeys(keys.map(({ key }) => key));
    $("buckets").hidden = buckets.length === 0;
    const mostOfBucket = Math.max(...buckets.map(({ rows }) => rows), 1);
    const lines = buckets.map(({ bucket, rows }) => [String(bucket), meter(rows / mostOfBucket), number(rows)]);
    showRows($("buckets-body"), "", "The busiest buckets", ["Bucket", "", "Rows"], lines, [2]);
}

/** Offer keys whose slices can be shown; those of results first, which `all` are. */
export function offerKeys(keys, all = false) {
    const select = $("sharing-key");
    const before = select.value;
    if (all) ofResults = keys;
    else busy = keys;
    const found = [...new Set([...ofResults, ...busy])];
    const names = select.value && !found.includes(select.value) ? [select.value, ...found] : found;
    setOptions(select, names, names.map(named));
    select.parentElement.hidden = names.length < 2;
    if (select.value !== before) select.dispatchEvent(new Event("change"));
}

let ofResults = [];
let busy = [];

/** A key as text; a stream without `by` has one, and it has no name. */
export const named = (key) => (key === "" ? "(all rows)" : key);

/** A bar for a share from 0 to 1; the number beside it says the same. */
export function meter(share) {
    const bar = el("span", { class: "meter", "aria-hidden": "true" }, el("span"));
    bar.firstChild.style.width = `${(100 * share).toFixed(1)}%`;
    return bar;
}
