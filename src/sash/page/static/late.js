// Late rows: the last rejected rows, and why each was rejected.

import { $, showRows } from "./dom.js";
import { duration, position } from "./format.js";
import { positions } from "./time.js";

/** Draw the event `late`, whose rows are in the order of arrival: the newest is on top. */
export function showLateRows(late) {
    const rows = [...late]
        .reverse()
        .map(({ row, position: at, watermark, reason }) => [
            position(at, positions.unit),
            at === null || watermark === null ? "" : duration(watermark - at, positions.unit),
            reason,
            row,
        ]);
    const headings = ["Position", "Behind the watermark", "Reason", "Row"];
    showRows($("late-body"), "No row was rejected.", "The last rejected rows", headings, rows);
}
