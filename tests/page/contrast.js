// Elements with text of their own whose contrast with what is behind them is below 4.5 : 1 (WCAG 2.2, AA).
() => {
    const canvas = Object.assign(document.createElement("canvas"), { width: 1, height: 1 });
    const context = canvas.getContext("2d", { willReadFrequently: true });
    const rgba = (color, below) => {
        context.clearRect(0, 0, 1, 1);
        for (const each of [below, color])
            if (each) {
                context.fillStyle = each;
                context.fillRect(0, 0, 1, 1);
            }
        return [...context.getImageData(0, 0, 1, 1).data];
    };
    const css = ([r, g, b]) => `rgb(${r}, ${g}, ${b})`;
    const behind = (element) => {
        if (!element) return "rgb(255, 255, 255)";
        const color = getComputedStyle(element).backgroundColor;
        return rgba(color, null)[3] === 255 ? color : css(rgba(color, behind(element.parentElement)));
    };
    const light = (color) => {
        const linear = (share) => (share <= 0.04045 ? share / 12.92 : ((share + 0.055) / 1.055) ** 2.4);
        const [r, g, b] = color.slice(0, 3).map((level) => linear(level / 255));
        return 0.2126 * r + 0.7152 * g + 0.0722 * b;
    };
    const poor = [];
    for (const element of document.querySelectorAll("body *")) {
        const own = [...element.childNodes].some((node) => node.nodeType === 3 && node.textContent.trim());
        if (!own || !element.checkVisibility() || element.closest(".hidden-text, .skip, noscript")) continue;
        const below = behind(element);
        const pair = [light(rgba(getComputedStyle(element).color, below)), light(rgba(below, null))].sort(
            (a, b) => b - a,
        );
        const ratio = (pair[0] + 0.05) / (pair[1] + 0.05);
        if (ratio < 4.5)
            poor.push(`${element.tagName} ${element.className} ${element.textContent} ${ratio.toFixed(2)}`);
    }
    return poor;
};
