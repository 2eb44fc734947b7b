"""Alerts, dashboard and PodMonitor: every metric, label and value in them is one that the service reports."""

import json
import re
from pathlib import Path
from typing import Any, get_args

import yaml
from prometheus_client.metrics import MetricWrapperBase

from app.entry import main  # noqa: F401 (imports every table of work)
from app.grading.queue.fair_share import kinds_of_work
from app.operations.operating.api import router
from app.operations.operating.metrics import Metrics
from grader.verdicts.verdict import Status
from tests.faults import for_each

DEPLOY = Path(__file__).resolve().parents[2] / "deploy"
FOLDER = DEPLOY / "monitoring"
RULES = [rule for group in yaml.safe_load((FOLDER / "alerts.yaml").read_text())["groups"] for rule in group["rules"]]
PANELS = json.loads((FOLDER / "dashboard.json").read_text())["panels"]
QUERIES = {rule["alert"]: rule["expr"] for rule in RULES}
QUERIES |= {f"{panel['title']} {each['refId']}": each["expr"] for panel in PANELS for each in panel["targets"]}
# By the names that queries use.
METRICS: dict[str, MetricWrapperBase] = {
    name: collector
    for name, collector in Metrics().registry._names_to_collectors.items()
    if isinstance(collector, MetricWrapperBase) and not name.endswith("_created")
}
# What Prometheus adds.
ADDED = {"instance", "job", "le"}
VALUES = {
    "kind": {each.name for each in kinds_of_work()},
    "which": {"used", "most"},
    "status": {*get_args(Status), "cancelled"},
}
each_query = for_each("query", QUERIES.values())


def labels_of(metric: str) -> set[str]:
    return set(METRICS[metric]._labelnames) | ADDED


@each_query
def test_its_metrics_and_labels_exist(query):
    named = re.findall(r"\bmeshgrade_\w+", query)
    assert named
    assert set(named) - set(METRICS) == set()
    for metric, matchers in re.findall(r"(meshgrade_\w+)\{([^}]*)\}", query):
        assert set(re.findall(r'(\w+)(?:=~|!~|!=|=)"', matchers)) - labels_of(metric) == set()
    grouped = {name for names in re.findall(r"(?:by|ignoring) \(([^)]*)\)", query) for name in names.split(", ")}
    assert grouped <= set().union(*map(labels_of, named))


@each_query
def test_the_values_of_labels_exist(query):
    for metric, matchers in re.findall(r"(meshgrade_\w+)\{([^}]*)\}", query):
        if metric == "meshgrade_http_requests_total":
            continue
        for label, values in re.findall(r'(\w+)=~?"([^"]*)"', matchers):
            assert set(values.split("|")) <= VALUES.get(label, set(values.split("|"))), (metric, label)


def test_every_alert_says_what_is_wrong_and_what_to_do():
    assert len({rule["alert"] for rule in RULES}) == len(RULES)
    for rule in RULES:
        assert rule["labels"]["severity"] in ("warning", "critical")
        assert set(rule["annotations"]) == {"summary", "description"}
        labels = labels_of(re.search(r"meshgrade_\w+", rule["expr"])[0])
        assert set(re.findall(r"\$labels\.(\w+)", rule["annotations"]["summary"])) <= labels


def test_every_metric_is_on_the_dashboard_and_no_panel_covers_another():
    shown = " ".join(QUERIES.values())
    assert [name for name, each in METRICS.items() if each._name not in shown] == []
    taken: set[tuple[int, int]] = set()
    for panel in PANELS:
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not taken & cells
        assert at["x"] + at["w"] <= 24
        taken |= cells
    assert [panel["id"] for panel in PANELS] == list(range(1, len(PANELS) + 1))


def test_the_pod_monitor_reads_the_metrics_of_the_api_with_its_token():
    monitor: dict[str, Any] = yaml.safe_load((FOLDER / "pod-monitor.yaml").read_text())["spec"]
    [endpoint] = monitor["podMetricsEndpoints"]
    assert endpoint["path"] in [getattr(route, "path", "") for route in router.routes]
    api = yaml.safe_load((DEPLOY / "kubernetes" / "api.yaml").read_text().split("\n---\n")[0])["spec"]["template"]
    assert monitor["selector"]["matchLabels"] == api["metadata"]["labels"]
    [container] = api["spec"]["containers"]
    assert endpoint["port"] in [port["name"] for port in container["ports"]]
    tokens = [each["valueFrom"]["secretKeyRef"] for each in container["env"] if each["name"].endswith("METRICS_TOKEN")]
    assert endpoint["authorization"]["credentials"] == tokens[0]
