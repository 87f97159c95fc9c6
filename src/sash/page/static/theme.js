// Light, dark, or as the system: the choice is kept in this browser.

import { $ } from "./dom.js";

const CHOICES = {
    system: { sign: "◐", text: "as the system" },
    light: { sign: "☀", text: "light" },
    dark: { sign: "☾", text: "dark" },
};

function stored() {
    try {
        const choice = localStorage.getItem("sash-theme");
        return choice in CHOICES ? choice : "system";
    } catch {
        return "system"; // storage is blocked in some frames
    }
}

function store(choice) {
    try {
        localStorage.setItem("sash-theme", choice);
    } catch {
        // The choice then lasts as long as the page.
    }
}

/** Apply the stored choice, and change it by the button; `redraw` draws what CSS does not reach. */
export function startTheme(redraw) {
    let choice = stored();
    const apply = () => {
        document.documentElement.dataset.theme = choice;
        const { sign, text } = CHOICES[choice];
        $("theme").textContent = sign;
        $("theme").setAttribute("aria-label", `Colours: ${text}`);
        $("theme").title = `Colours: ${text}`;
        redraw();
    };
    $("theme").addEventListener("click", () => {
        const names = Object.keys(CHOICES);
        choice = names[(names.indexOf(choice) + 1) % names.length];
        store(choice);
        apply();
    });
    matchMedia("(prefers-color-scheme: dark)").addEventListener("change", redraw);
    apply();
}
