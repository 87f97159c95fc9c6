// Make and change elements. Text always goes through textContent: nothing that a user wrote becomes HTML.

export const $ = (id) => document.getElementById(id);

/** Return a new element; those of `attributes` that are PROPERTIES are set as such, and `on…` adds a listener. */
export function el(tag, attributes = {}, ...children) {
    return fill(document.createElement(tag), attributes, children);
}

/** The same for SVG. */
export function svg(tag, attributes = {}, ...children) {
    return fill(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

const PROPERTIES = new Set(["textContent", "hidden", "value", "disabled", "selected", "tabIndex"]);

function fill(element, attributes, children) {
    for (const [name, value] of Object.entries(attributes)) {
        if (value === null || value === undefined) continue;
        if (name.startsWith("on")) element.addEventListener(name.slice(2), value);
        else if (PROPERTIES.has(name)) element[name] = value;
        else element.setAttribute(name, value);
    }
    element.append(...children);
    return element;
}

/** Set the text of an element, unless it has it: screen readers repeat what is set. */
export function setText(element, text) {
    if (element.textContent !== text) element.textContent = text;
}

/** Set an attribute, unless it has this value. */
export function setAttribute(element, name, value) {
    if (element.getAttribute(name) !== String(value)) element.setAttribute(name, value);
}

/**
 * Keep one child for each item, found again by `keyOf`: the focus and the state of a child survive an update.
 */
export function keep(parent, items, keyOf, make, update) {
    const known = (parent.keptChildren ??= new Map());
    const wanted = new Set();
    let place = null;
    for (const item of items) {
        const key = keyOf(item);
        if (wanted.has(key)) continue;
        wanted.add(key);
        let child = known.get(key);
        if (!child) {
            child = make(item);
            known.set(key, child);
        }
        update(child, item);
        const next = place ? place.nextSibling : parent.firstChild;
        if (next !== child) parent.insertBefore(child, next);
        place = child;
    }
    for (const [key, child] of known) {
        if (wanted.has(key)) continue;
        child.remove();
        known.delete(key);
    }
    return known;
}

/** Fill a select with names, and keep its choice where it still exists. */
export function setOptions(select, names, texts = names) {
    const has = [...select.options].map((option) => option.value);
    if (has.length === names.length && has.every((name, index) => name === names[index])) return;
    const before = select.value;
    select.replaceChildren(...names.map((name, index) => el("option", { value: name, textContent: texts[index] })));
    if (names.includes(before)) select.value = before;
}

/** Return a table with a caption that is read aloud, column headings, and cells as text. */
export function table(caption, headings, rows, numeric = []) {
    const kind = (index) => (numeric.includes(index) ? "number" : null);
    return el(
        "div",
        { class: "scroll", tabindex: "0", role: "region", "aria-label": caption },
        el(
            "table",
            {},
            el("caption", { class: "hidden-text", textContent: caption }),
            el(
                "thead",
                {},
                el(
                    "tr",
                    {},
                    ...headings.map((text, i) => el("th", { scope: "col", class: kind(i), textContent: text })),
                ),
            ),
            el(
                "tbody",
                {},
                ...rows.map((cells) =>
                    el(
                        "tr",
                        {},
                        ...cells.map((cell, i) =>
                            cell instanceof Node
                                ? el("td", {}, cell)
                                : el("td", { class: kind(i), textContent: String(cell ?? "") }),
                        ),
                    ),
                ),
            ),
        ),
    );
}

/** Fill a `details` element when it is open, and when it is opened: a closed one costs nothing. */
export function fallback(details, build) {
    details.buildTable = build;
    if (!details.hasToggleHandler) {
        details.hasToggleHandler = true;
        details.addEventListener("toggle", () => showTable(details));
    }
    showTable(details);
}

function showTable(details) {
    if (details.open) putTable(details, details.buildTable());
}

/** Put a table in the place of the one before it, which gives it its scroll and its focus. */
export function putTable(place, after) {
    const before = place.querySelector(".scroll");
    if (!before) return place.append(after);
    const { scrollTop, scrollLeft } = before;
    const hadFocus = document.activeElement === before;
    before.replaceWith(after);
    after.scrollTo(scrollLeft, scrollTop);
    if (hadFocus) after.focus({ preventScroll: true });
}

/** Put a table into a place, or a sentence where it would have no rows. */
export function showRows(place, empty, caption, headings, rows, numeric = []) {
    const message = place.querySelector(".empty");
    if (rows.length > 0) {
        message?.remove();
        putTable(place, table(caption, headings, rows, numeric));
    } else if (!message && empty) place.replaceChildren(el("p", { class: "empty", textContent: empty }));
}

/** Return the colour of a CSS variable as the canvas understands it, in the theme of now. */
export function colour(name) {
    const probe = el("span", { hidden: true });
    probe.style.color = `var(${name})`;
    document.body.append(probe);
    const { color } = getComputedStyle(probe);
    probe.remove();
    return color;
}
