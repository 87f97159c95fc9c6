"""Figures for Prometheus: every name of `sash.progress`, and files that use no other names."""

import dataclasses
import json
import re
from pathlib import Path
from typing import Any

import yaml
from prometheus_client.parser import text_string_to_metric_families

from sash.page.metrics import HELP, exposition
from sash.page.records import Figures, StreamFacts
from sash.spark.monitoring.progress import Progress
from tests.page.pages import ask, hand_page

DOCS = Path(__file__).parents[2] / "docs" / "monitoring"
FACTS = StreamFacts('plugs "1"\n', "time", (), None, 0.0, ())


def names_in(expression: Any) -> Any:
    return {each.removeprefix("sash_") for each in re.findall(r"\bsash_\w+", expression)}


def test_every_figure_of_progress_has_a_metric_with_a_help_text() -> None:
    assert {each.name for each in dataclasses.fields(Progress)} - {"buckets"} <= HELP.keys()  # reports, not one figure
    assert all(len(text) > 10 for text in HELP.values())


def test_figures_are_parsed_back() -> None:
    figures = Figures(watermark=5.0, newest=7.5, late_rows=3, keys=2)
    text = exposition(FACTS, figures, "stopped", 4, 0).decode()
    found = {each.name: each for each in text_string_to_metric_families(text)}
    values = {name.removeprefix("sash_"): each.samples[0].value for name, each in found.items() if each.samples}
    assert values["watermark_lag"] == 2.5
    assert (values["late_rows"], values["keys"], values["running"], values["viewers"]) == (3, 2, 0, 4)
    assert "next_end" not in values  # it has no value
    assert found["sash_keys"].documentation == HELP["keys"]
    assert found["sash_keys"].samples[0].labels == {"stream": 'plugs "1"\n', "unit": "time"}


def test_page_serves_metrics() -> None:
    source, page = hand_page()
    with page:
        source.inbox.put(Figures(batch=1, rows=10))
        response, body = ask(page, "/metrics")
        assert response.getheader("content-type").startswith("text/plain; version=0.0.4")
        assert b"# HELP sash_rows_per_second " in body


def test_alert_rules_use_known_names() -> None:
    rules = [rule for group in yaml.safe_load((DOCS / "alerts.yml").read_text())["groups"] for rule in group["rules"]]
    assert len({each["alert"] for each in rules}) == len(rules) >= 6
    for rule in rules:
        assert names_in(rule["expr"]) and names_in(rule["expr"]) <= HELP.keys(), rule["alert"]
        assert rule["annotations"]["summary"] and rule["labels"]["severity"] and rule["for"]


def test_dashboard_uses_known_names_in_every_panel() -> None:
    dashboard = json.loads((DOCS / "grafana.json").read_text())
    for panel in dashboard["panels"]:
        for target in panel["targets"]:
            assert names_in(target["expr"]) and names_in(target["expr"]) <= HELP.keys(), panel["title"]
