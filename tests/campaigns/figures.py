"""What the long campaigns found the last time they ran, for docs/reliability.md.

A campaign records its figures when it ends. `python -m tests.campaigns.figures` writes the table of the page anew from
what was recorded on this machine; campaigns that were not run here keep their lines.
"""

import json
import re
import subprocess
import sys
from datetime import UTC, datetime
from pathlib import Path

__all__ = ["record", "write"]

ROOT = Path(__file__).parent.parent.parent
RECORDS = ROOT / "build" / "campaigns"
PAGE = ROOT / "docs" / "reliability.md"
BEGIN, END = "<!-- figures: begin -->", "<!-- figures: end -->"
HEAD = "| campaign | command | last run | figures |\n| --- | --- | --- | --- |"


def record(campaign: str, command: str, figures: str) -> None:
    """Keep the figures of a campaign that has ended."""
    described = subprocess.run(
        ["git", "rev-parse", "--short", "HEAD"], cwd=ROOT, capture_output=True, text=True, check=False
    )
    run = f"{datetime.now(UTC):%Y-%m-%d}, {described.stdout.strip() or 'no commit'}"
    RECORDS.mkdir(parents=True, exist_ok=True)
    line = {"campaign": campaign, "command": command, "run": run, "figures": figures}
    (RECORDS / f"{re.sub(r'[^a-z0-9]+', '_', campaign.lower())}.json").write_text(json.dumps(line), "utf-8")


def write(page: Path = PAGE, records: Path = RECORDS) -> int:
    """Put what was recorded into the page; how many lines were."""
    text = page.read_text("utf-8")
    before, rest = text.split(BEGIN)
    table, after = rest.split(END)
    lines = {line.split("|")[1].strip(): line for line in table.strip().splitlines()[2:]}
    found = [json.loads(path.read_text("utf-8")) for path in sorted(records.glob("*.json"))]
    for each in found:
        cells = (each["campaign"], f"`{each['command']}`", each["run"], each["figures"])
        lines[each["campaign"]] = f"| {' | '.join(cells)} |"
    table = "\n".join([HEAD, *lines.values()])
    page.write_text(f"{before}{BEGIN}\n{table}\n{END}{after}", "utf-8")
    return len(found)


if __name__ == "__main__":
    sys.stdout.write(f"{write()} campaigns written to {PAGE.name}\n")
