// Connect to the server's events and hand each to its panel.

import { showBatches } from "./batches.js";
import { $, el, setText } from "./dom.js";
import { offerKeys, showKeys } from "./keys.js";
import { showLateRows } from "./late.js";
import { showNow } from "./now.js";
import { address } from "./requests.js";
import { redrawResults, showResults, startResults } from "./results.js";
import { showSharing } from "./sharing.js";
import { startTheme } from "./theme.js";
import { showTime } from "./time.js";

const PANELS = {
    now: showNow,
    time: showTime,
    results: showResults,
    sharing: showSharing,
    batches: showBatches,
    keys: showKeys,
    late: showLateRows,
};
const RETRY_MS = [1000, 2000, 4000, 8000];

const waiting = new Map(); // panel → the newest event that is not drawn yet
let failures = 0;

/** Draw once per frame: of several events for a panel that can wait, only the newest is drawn. */
function receive(name, data) {
    if (name === "results") return showResults(data); // each names its own query and its own revisions
    if (waiting.size === 0) requestAnimationFrame(draw);
    waiting.set(name, data);
}

function draw() {
    const events = [...waiting];
    waiting.clear();
    for (const [name, data] of events) {
        try {
            PANELS[name](data);
        } catch (error) {
            reportError(error); // the other panels go on
        }
    }
}

function say(message, retry = null) {
    const place = $("connection");
    place.hidden = !message;
    if (place.firstChild?.textContent === message) return; // screen readers repeat what is set
    const button = retry && el("button", { type: "button", textContent: "Connect again", onclick: retry });
    place.replaceChildren(el("span", { textContent: message }), ...(button ? [" ", button] : []));
}

function setStale(isStale) {
    document.body.classList.toggle("stale", isStale);
    if (isStale && $("state").dataset.state === "connecting") setText($("state"), "not connected");
}

function connect() {
    const events = new EventSource(address("events"));
    events.addEventListener("open", () => {
        failures = 0;
        say("");
        setStale(false);
    });
    for (const name of Object.keys(PANELS)) {
        events.addEventListener(name, (event) => receive(name, JSON.parse(event.data)));
    }
    events.addEventListener("bye", (event) => {
        events.close();
        setStale(true);
        say(JSON.parse(event.data).message, () => {
            say("Connecting …");
            connect();
        });
    });
    events.addEventListener("error", () => {
        setStale(true);
        say(
            "The connection to the stream's process is lost. " +
                "The page shows the last state that it received, and tries to connect again.",
        );
        if (events.readyState !== EventSource.CLOSED) return; // the browser tries by itself
        setTimeout(connect, RETRY_MS[Math.min(failures, RETRY_MS.length - 1)]);
        failures += 1;
    });
}

startTheme(redrawResults);
startResults((keys) => offerKeys(keys, true));
connect();
