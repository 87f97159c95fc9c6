// A button on every block of code copies the code without prompts and without what the code prints.

const PROMPT = /^(>>> ?|\.\.\. ?|\$ )/;

function codeOf(text) {
  const lines = text.replace(/\n+$/, "").split("\n");
  const prompted = lines.filter((line) => PROMPT.test(line));
  return (prompted.length ? prompted.map((line) => line.replace(PROMPT, "")) : lines).join("\n") + "\n";
}

async function writeClipboard(text) {
  if (navigator.clipboard) {
    await navigator.clipboard.writeText(text);
    return;
  }
  // Pages opened as files have no clipboard API in some browsers.
  const area = document.createElement("textarea");
  area.value = text;
  document.body.append(area);
  area.select();
  document.execCommand("copy");
  area.remove();
}

document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy-code";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      await writeClipboard(codeOf(block.querySelector("pre").textContent));
      button.textContent = "Copied";
      setTimeout(() => { button.textContent = "Copy"; }, 1500);
    });
    block.append(button);
  }
});
