// An axis of positions that fits its element: everything is placed in percent, so nothing is drawn again on resize.

import { el, keep, setText } from "./dom.js";
import { ticks } from "./format.js";

/** A function from positions to percent of the width. */
export const percentOf = (from, to) => (at) => (100 * (at - from)) / (to - from || 1);

const TICK_PX = 84;

/** Draw round positions below a track. */
export function drawAxis(place, from, to, unit) {
    const percent = percentOf(from, to);
    const most = Math.max(2, Math.floor((place.clientWidth || 600) / TICK_PX));
    const found = ticks(from, to, most, unit).filter(({ at }) => percent(at) <= 95);
    keep(
        place,
        found,
        ({ at }) => at,
        () => el("span", { class: "tick" }),
        (tick, { at, text }) => {
            setText(tick, text);
            tick.style.left = `${percent(at)}%`;
        },
    );
}

/** Put an element over [from, to) of an axis. */
export function span(element, start, end, percent) {
    const left = Math.max(0, percent(start));
    element.style.left = `${left}%`;
    element.style.width = `${Math.max(0, Math.min(100, percent(end)) - left)}%`;
}
