// Numbers, positions and durations as text, and the ticks of an axis. Positions of time are seconds since 1970, in UTC.

const MINUTE = 60;
const HOUR = 60 * MINUTE;
const DAY = 24 * HOUR;
const TIME_STEPS = [
    ...[1e-6, 1e-5, 1e-4, 1e-3, 1e-2, 1e-1].flatMap((power) => [power, 2 * power, 5 * power]),
    1,
    2,
    5,
    10,
    15,
    30,
    ...[1, 2, 5, 10, 15, 30].map((count) => count * MINUTE),
    ...[1, 2, 3, 6, 12].map((count) => count * HOUR),
    ...[1, 2, 7, 14, 28, 91, 182, 365, 1826, 3652].map((count) => count * DAY),
];

const plain = new Intl.NumberFormat("en", { maximumSignificantDigits: 5 });
const whole = new Intl.NumberFormat("en", { maximumFractionDigits: 0 });

/** A number with separators: whole where it is large, five digits where it is small. */
export function number(value) {
    if (value === null || value === undefined) return "none";
    if (typeof value !== "number") return String(value);
    if (!Number.isFinite(value)) return String(value);
    return Math.abs(value) >= 1e4 || Number.isInteger(value) ? whole.format(value) : plain.format(value);
}

const BYTES = ["bytes", "kB", "MB", "GB", "TB"];

/** Bytes with a unit. */
export function bytes(value) {
    if (value === null || value === undefined) return "none";
    const power = Math.min(BYTES.length - 1, value < 1000 ? 0 : Math.floor(Math.log10(value) / 3));
    return `${number(Number((value / 1000 ** power).toPrecision(3)))} ${BYTES[power]}`;
}

const two = (value) => String(value).padStart(2, "0");

/** The date and the time of day, to the microsecond; trailing zeros are left out. */
function moment(value) {
    const micros = Math.round((value - Math.floor(value)) * 1e6);
    const at = new Date((Math.floor(value) + Math.floor(micros / 1e6)) * 1e3);
    const fraction =
        micros % 1e6
            ? `.${String(micros % 1e6)
                  .padStart(6, "0")
                  .replace(/0+$/, "")}`
            : "";
    return {
        day: `${at.getUTCFullYear()}-${two(at.getUTCMonth() + 1)}-${two(at.getUTCDate())}`,
        time: `${two(at.getUTCHours())}:${two(at.getUTCMinutes())}:${two(at.getUTCSeconds())}${fraction}`,
    };
}

/** A position as text; the day is left out where `near` is a position of the same day. */
export function position(value, unit, near = null) {
    if (value === null || value === undefined) return "none";
    if (unit !== "time") return number(value);
    const { day, time } = moment(value);
    return near !== null && near !== undefined && moment(near).day === day ? time : `${day} ${time}`;
}

/** A time beside an axis of `span` seconds: as exact as a pixel, the day where the axis has several. */
export function clock(value, span) {
    if (value === null) return "none";
    const { day, time } = moment(span > 600 ? Math.floor(value) : Math.floor(value * 1e3) / 1e3);
    return span > DAY ? `${day} ${time}` : time;
}

/** A window as text: half open, the day once. */
export function interval(start, end, unit) {
    return `[${position(start, unit)}, ${position(end, unit, start)})`;
}

const UNITS = [
    [DAY, "d"],
    [HOUR, "h"],
    [MINUTE, "min"],
    [1, "s"],
    [1e-3, "ms"],
    [1e-6, "µs"],
];

/** A difference of two positions as text, in at most two units. */
export function duration(value, unit = "time") {
    if (value === null || value === undefined) return "none";
    if (unit !== "time") return number(value);
    if (value === 0) return "0 s";
    const sign = value < 0 ? "−" : "";
    let rest = Math.abs(value);
    const [size, name] = UNITS.find(([size]) => rest >= size) ?? UNITS.at(-1);
    if (size <= 1) return `${sign}${Number((rest / size).toPrecision(3))} ${name}`;
    const most = Math.floor(rest / size);
    rest -= most * size;
    const [nextSize, nextName] = UNITS[UNITS.findIndex(([each]) => each === size) + 1];
    const next = Math.floor(rest / nextSize);
    return next ? `${sign}${most} ${name} ${next} ${nextName}` : `${sign}${most} ${name}`;
}

/** Milliseconds as text. */
export function millis(value) {
    return value >= 1000 ? `${plain.format(Number((value / 1000).toPrecision(3)))} s` : `${whole.format(value)} ms`;
}

function stepFor(span, most, unit) {
    const least = span / Math.max(1, most);
    if (unit === "time") {
        const step = TIME_STEPS.find((step) => step >= least);
        if (step) return step;
    }
    const power = 10 ** Math.floor(Math.log10(least));
    return power * ([1, 2, 5, 10].find((factor) => factor * power >= least) ?? 10);
}

/** A number of an axis whose neighbours are `step` apart: with as many digits as tell them apart. */
export function atStep(value, step) {
    const isWhole = (scaled) => Math.round(scaled) !== 0 && Math.abs(scaled - Math.round(scaled)) < 1e-6;
    let digits = 0;
    while (digits < 12 && step > 0 && !isWhole(step * 10 ** digits)) digits += 1;
    return value.toLocaleString("en", { minimumFractionDigits: digits, maximumFractionDigits: digits });
}

/** About `most` round positions in [from, to], each with its text; where a day begins, the text has the date. */
export function ticks(from, to, most, unit) {
    if (!(to > from)) return [];
    const step = stepFor(to - from, most, unit);
    const found = [];
    let before = null;
    for (let index = Math.ceil(from / step); index * step <= to && found.length < 100; index += 1) {
        const at = Number((index * step).toPrecision(15));
        if (unit === "time") {
            const { day, time } = moment(at);
            const short = step >= DAY ? day : step >= MINUTE ? time.slice(0, 5) : time;
            found.push({ at, text: before && before !== day && step < DAY ? `${day.slice(5)} ${short}` : short });
            before = day;
        } else found.push({ at, text: atStep(at, step) });
    }
    return found;
}
