// A line chart on uPlot that shows exactly one range of positions, and reports the range that the user wants.

import { colour, el, setText } from "./dom.js";
import { atStep, number, position, ticks } from "./format.js";
import uPlot from "./vendor/uplot/uPlot.esm.js";

const HEIGHT = 280;
const TICK_PX = 90;
const FEW = 120; // points: below it each is drawn as a dot
const FLASH_MS = 2500;
const FONT = "12px system-ui, sans-serif";

export class LineChart {
    unit = "time";
    #from = 0;
    #to = 1;
    #plot;
    #onRange;
    #readout = el("div", { class: "readout", "aria-hidden": "true" });

    /**
     * `onRange(from, to)`: the user chose a range. `onZoom(factor, share)`: he made it longer or shorter around the
     * position at this share of the width. `onResize()`: the number of pixel columns changed.
     */
    constructor(place, { onRange, onZoom, onResize }) {
        this.#onRange = onRange;
        this.#plot = new uPlot(this.#options(place.clientWidth), [[], []], place);
        let asked = this.width;
        this.#plot.hooks.draw = [
            () => {
                // Longer numbers beside the axis make the line narrower, too.
                if (this.width !== asked) onResize();
                asked = this.width;
            },
        ];
        place.append(this.#readout);
        this.#listen(place, onZoom);
        new ResizeObserver(() =>
            this.#plot.setSize({ width: Math.max(120, place.clientWidth), height: HEIGHT }),
        ).observe(place);
    }

    /** How many pixel columns the line has. */
    get width() {
        return Math.max(1, Math.round(this.#plot.bbox.width));
    }

    /** Draw the four points of each column in the order of their positions. */
    draw(columns, from, to) {
        this.#setRange(from, to);
        const [x, y] = [[], []];
        for (const [, firstAt, first, lastAt, last, lowAt, low, highAt, high] of columns) {
            const middle =
                lowAt <= highAt
                    ? [
                          [lowAt, low],
                          [highAt, high],
                      ]
                    : [
                          [highAt, high],
                          [lowAt, low],
                      ];
            for (const [at, value] of [[firstAt, first], ...middle, [lastAt, last]]) {
                if (x.length && x.at(-1) === at && y.at(-1) === value) continue;
                x.push(at);
                y.push(value);
            }
        }
        this.#plot.setData([x, y]);
    }

    /** Show the line that is there in another range. */
    setRange(from, to) {
        this.#setRange(from, to);
        this.#plot.setScale("x", { min: this.#from, max: this.#to });
    }

    /** A single result has a range without length: it is drawn in the middle. */
    #setRange(from, to) {
        const space = to > from ? 0 : Math.abs(from) * 1e-9 + 1;
        [this.#from, this.#to] = [from - space, to + space];
    }

    /** Draw again, in the colours of now. */
    redraw() {
        this.#plot.redraw(false, true);
    }

    /** Mark positions for a moment. */
    flash(positions) {
        for (const at of new Set(positions)) {
            const mark = el("div", { class: "flash" });
            mark.style.left = `${(100 * (at - this.#from)) / (this.#to - this.#from)}%`;
            this.#plot.over.append(mark);
            setTimeout(() => mark.remove(), FLASH_MS);
        }
    }

    #options(width) {
        const grid = { stroke: () => colour("--grid"), width: 1 };
        const axis = { stroke: () => colour("--dim"), font: FONT, grid, ticks: { ...grid, size: 4 } };
        return {
            width: Math.max(120, width),
            height: HEIGHT,
            padding: [12, 22, 0, 0],
            legend: { show: false },
            cursor: {
                y: false,
                drag: { x: true, y: false, setScale: false },
                bind: {
                    mousedown: (_, __, select) => (event) => (event.shiftKey ? null : select(event)),
                    dblclick: () => null,
                },
                points: { size: 7, fill: () => colour("--accent"), stroke: () => colour("--panel") },
            },
            scales: { x: { time: false, range: () => [this.#from, this.#to] }, y: { range: heights } },
            axes: [
                {
                    ...axis,
                    size: 28,
                    splits: (plot) => this.#ticks(plot).map(({ at }) => at),
                    values: (plot) => this.#ticks(plot).map(({ text }) => text),
                },
                {
                    ...axis,
                    size: (_, texts) => 16 + 7 * Math.max(3, ...(texts ?? []).map((text) => text.length)),
                    values: (_, splits) => splits.map((value) => atStep(value, splits[1] - splits[0])),
                },
            ],
            series: [
                {},
                {
                    stroke: () => colour("--accent"),
                    width: 1.5,
                    points: { show: (plot) => plot.data[0].length <= FEW, size: 5, fill: () => colour("--accent") },
                },
            ],
            hooks: { setSelect: [(plot) => this.#selected(plot)], setCursor: [(plot) => this.#point(plot)] },
        };
    }

    #ticks(plot) {
        const most = Math.max(2, Math.floor(plot.over.clientWidth / TICK_PX) || 6);
        return ticks(this.#from, this.#to, most, this.unit);
    }

    #selected(plot) {
        const { left, width } = plot.select;
        if (width < 3) return;
        const [from, to] = [plot.posToVal(left, "x"), plot.posToVal(left + width, "x")];
        plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
        this.#onRange(from, to);
    }

    #point(plot) {
        const index = plot.cursor.idx;
        const [x, y] = [plot.data[0][index], plot.data[1][index]];
        setText(
            this.#readout,
            x === undefined || plot.cursor.left < 0 ? "" : `${position(x, this.unit)}   ${number(y)}`,
        );
    }

    #listen(place, onZoom) {
        const { over } = this.#plot;
        over.addEventListener("pointerdown", (event) => {
            place.focus({ preventScroll: true });
            if (event.shiftKey || event.pointerType === "touch") this.#pan(over, event);
        });
        place.addEventListener(
            "wheel",
            (event) => {
                // A wheel over a page scrolls it. It zooms once the chart was chosen, by a click or by Tab.
                if (document.activeElement !== place && !event.ctrlKey) return;
                event.preventDefault();
                const { left, width } = over.getBoundingClientRect();
                const by = (event.deltaX / width) * (this.#to - this.#from);
                if (Math.abs(event.deltaX) > Math.abs(event.deltaY)) this.#onRange(this.#from + by, this.#to + by);
                else onZoom(1.2 ** Math.sign(event.deltaY), Math.max(0, Math.min(1, (event.clientX - left) / width)));
            },
            { passive: false },
        );
    }

    #pan(over, { pointerId, clientX }) {
        const [from, to] = [this.#from, this.#to];
        over.setPointerCapture(pointerId);
        const drag = (event) => {
            const by = ((clientX - event.clientX) / over.clientWidth) * (to - from);
            this.#onRange(from + by, to + by);
        };
        const end = () => over.removeEventListener("pointermove", drag);
        over.addEventListener("pointermove", drag);
        over.addEventListener("pointerup", end, { once: true });
        over.addEventListener("pointercancel", end, { once: true });
    }
}

/** All values with a little space; a line of one value lies in the middle. */
function heights(_, low, high) {
    if (low === null || low === undefined) return [0, 1];
    const space = high > low ? (high - low) * 0.06 : Math.abs(low) * 0.1 || 1;
    return [low - space, high + space];
}
