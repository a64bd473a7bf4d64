"""systemd units, Kubernetes manifests, Prometheus rules and the dashboard: their shape, their commands, their names."""

import configparser
import json
import re
import shlex
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import yaml

from infra import probe
from infra.roles import TASK_QUEUES, Role, all_queues
from infra.settings import Settings, load
from tests.architecture.test_deployment import SERVICES, parse

DEPLOY = Path(__file__).parents[2] / "infra/deploy"
UNITS = sorted((DEPLOY / "systemd").glob("*.service"))
MANIFESTS: list[dict[str, Any]] = [
    each
    for path in sorted((DEPLOY / "kubernetes").glob("*.yaml"))
    for each in yaml.safe_load_all(path.read_text("utf-8"))
]
DASHBOARD: dict[str, Any] = json.loads((DEPLOY / "grafana-dashboard.json").read_text("utf-8"))
ALERTS: dict[str, Any] = yaml.safe_load((DEPLOY / "alerts.yml").read_text("utf-8"))


def of_kind(kind: str) -> dict[str, dict[str, Any]]:
    return {each["metadata"]["name"]: each for each in MANIFESTS if each["kind"] == kind}


def unit(path: Path) -> configparser.ConfigParser:
    read = configparser.ConfigParser(strict=False, interpolation=None)
    read.optionxform = str  # type: ignore[assignment,method-assign]
    read.read_string(path.read_text("utf-8"))
    return read


# --- systemd ----------------------------------------------------------------------------------------------------------


def test_there_is_a_unit_for_every_process() -> None:
    names = {path.name for path in UNITS}
    assert names == {
        *("signal-search-gateway.service", "signal-search-worker@.service"),
        "signal-search-flower.service",
    }


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_runs_a_command_that_exists(path: Path) -> None:
    line = unit(path)["Service"]["ExecStart"]
    for role in get_args(Role):
        program, command, *arguments = shlex.split(line.replace("%i", role))
        assert Path(program).name == "signal-search"
        assert parse(command, arguments).args == []


@pytest.mark.parametrize("path", UNITS, ids=lambda path: path.name)
def test_a_unit_holds_no_secret_and_is_complete(path: Path) -> None:
    read = unit(path)
    assert set(read.sections()) == {"Unit", "Service", "Install"}
    service = read["Service"]
    assert service["EnvironmentFile"] == "/etc/signal-search/environment"
    assert not re.search("PASSWORD|TOKEN|redis://", service["Environment"])
    assert (service["Restart"], service["NoNewPrivileges"]) == ("always", "true")


def test_a_supervisor_waits_longer_than_a_worker_needs_to_end() -> None:
    needs_s = load().queue.stop_s + 3 + 2
    worker = unit(DEPLOY / "systemd/signal-search-worker@.service")["Service"]
    assert int(worker["TimeoutStopSec"]) > needs_s
    assert worker["KillMode"] == "mixed"
    for name in ("crawl", "reduce"):
        pod = of_kind("Deployment")[name]["spec"]["template"]["spec"]
        assert pod["terminationGracePeriodSeconds"] > needs_s


# --- Kubernetes -------------------------------------------------------------------------------------------------------


def container(name: str) -> dict[str, Any]:
    [only] = of_kind("Deployment")[name]["spec"]["template"]["spec"]["containers"]
    found: dict[str, Any] = only
    return found


def test_every_manifest_is_listed_and_says_what_it_is() -> None:
    listed = of_kind_kustomization()["resources"]
    files = {path.name for path in (DEPLOY / "kubernetes").glob("*.yaml")}
    assert files == {"kustomization.yaml", *listed}
    assert all({"apiVersion", "kind"} <= set(each) for each in MANIFESTS)


def of_kind_kustomization() -> dict[str, Any]:
    [found] = [each for each in MANIFESTS if each["kind"] == "Kustomization"]
    return found


def test_the_deployments_are_the_processes_and_run_commands_that_exist() -> None:
    assert set(of_kind("Deployment")) == {"gateway", "crawl", "reduce"}
    for name in of_kind("Deployment"):
        program, command, *arguments = container(name)["command"]
        assert program == "signal-search"
        context = parse(command, arguments)
        assert context.args == []
        assert context.params.get("role", name) == name


@pytest.mark.parametrize("name", ["gateway", "crawl", "reduce"])
def test_a_deployment_has_few_powers_and_selects_itself(name: str) -> None:
    spec = of_kind("Deployment")[name]["spec"]
    wanted = spec["selector"]["matchLabels"]
    assert wanted.items() <= spec["template"]["metadata"]["labels"].items()
    assert spec["template"]["spec"]["securityContext"]["runAsNonRoot"] is True
    may = container(name)["securityContext"]
    assert may["readOnlyRootFilesystem"] is True
    assert may["allowPrivilegeEscalation"] is False
    assert may["capabilities"] == {"drop": ["ALL"]}
    mounted = {each["name"] for each in container(name)["volumeMounts"]}
    assert mounted == {each["name"] for each in spec["template"]["spec"]["volumes"]}


def test_probes_ask_for_what_exists() -> None:
    gateway = container("gateway")
    assert gateway["livenessProbe"]["httpGet"]["path"] == "/healthz"
    assert gateway["readinessProbe"]["httpGet"]["path"] == "/readyz"
    assert [port["containerPort"] for port in gateway["ports"]] == [load().gateway.port]
    for name in ("crawl", "reduce"):
        asked = container(name)["readinessProbe"]["exec"]["command"]
        assert asked == ["python", "-m", "infra.probe", "worker"]
    assert callable(probe.is_worker_here)


def test_settings_named_in_the_manifests_exist() -> None:
    for name in of_kind("ConfigMap")["signal-search"]["data"]:
        section, _, field = name.removeprefix("SIGNAL_SEARCH_").lower().partition("__")
        known = Settings.model_fields[section].annotation
        assert not field or field in known.model_fields  # type: ignore[union-attr]


def test_no_manifest_holds_a_secret() -> None:
    assert not of_kind("Secret")
    text = "".join(path.read_text("utf-8") for path in (DEPLOY / "kubernetes").glob("*.yaml"))
    text = text.replace("TOKENS_FILE:", "").replace("automountServiceAccountToken:", "")
    assert not re.search(r"(?i)(password|token)\w*:\s*[\w\"']", text)


def test_what_scales_is_there_and_never_scales_to_nothing() -> None:
    for name, each in of_kind("ScaledObject").items():
        assert each["spec"]["scaleTargetRef"]["name"] == name
        assert name in of_kind("Deployment")
        assert each["spec"]["minReplicaCount"] >= 1
    [hpa] = of_kind("HorizontalPodAutoscaler").values()
    assert hpa["spec"]["scaleTargetRef"]["name"] in of_kind("Deployment")


# --- Prometheus and Grafana -------------------------------------------------------------------------------------------


def panels() -> list[dict[str, Any]]:
    found: list[dict[str, Any]] = DASHBOARD["panels"]
    return found


def expressions() -> Iterator[str]:
    yield from (target["expr"] for panel in panels() for target in panel.get("targets", []))
    yield from (rule["expr"] for group in ALERTS["groups"] for rule in group["rules"])
    for each in of_kind("ScaledObject").values():
        yield from (trigger["metadata"]["query"] for trigger in each["spec"]["triggers"])


def test_the_dashboard_is_one_that_grafana_loads() -> None:
    assert {"uid", "title", "schemaVersion", "panels", "templating", "time"} <= set(DASHBOARD)
    ids = [panel["id"] for panel in panels()]
    assert len(ids) == len(set(ids))
    [variable] = DASHBOARD["templating"]["list"]
    assert (variable["name"], variable["type"], variable["query"]) == (
        *("datasource", "datasource"),
        "prometheus",
    )
    for panel in panels():
        assert {"type", "title", "gridPos"} <= set(panel)
        assert panel["gridPos"]["x"] + panel["gridPos"]["w"] <= 24
        if panel["type"] != "row":
            assert panel["datasource"] == {"type": "prometheus", "uid": "${datasource}"}
            refs = [target["refId"] for target in panel["targets"]]
            assert len(refs) == len(set(refs)) >= 1


def test_no_two_panels_lie_over_each_other() -> None:
    taken: set[tuple[int, int]] = set()
    for panel in panels():
        at = panel["gridPos"]
        cells = {(at["x"] + x, at["y"] + y) for x in range(at["w"]) for y in range(at["h"])}
        assert not cells & taken, panel["title"]
        taken |= cells


def test_expressions_are_balanced_and_name_labels_that_exist() -> None:
    queues = set(all_queues())
    for each in expressions():
        for left, right in ("()", "[]", "{}"):
            assert each.count(left) == each.count(right), each
        named = set(re.findall(r'queue="(\w+)"', each))
        assert named <= queues
        assert set(re.findall(r'task="(\w+)"', each)) <= set(TASK_QUEUES)


def test_every_alert_says_what_it_is() -> None:
    for group in ALERTS["groups"]:
        for rule in group["rules"]:
            assert {"alert", "expr", "labels", "annotations"} <= set(rule)
            assert rule["labels"]["severity"] in {"page", "warn", "info"}
            assert rule["annotations"]["summary"]


def test_prometheus_and_grafana_find_their_files() -> None:
    config = yaml.safe_load((DEPLOY / "prometheus.yml").read_text("utf-8"))
    mounts = [
        mount.split(":")
        for name in ("prometheus", "grafana")
        for mount in SERVICES[name]["volumes"]
        if mount.startswith("./")
    ]
    inside = {target: Path(source) for source, target, _mode in mounts}
    assert set(config["rule_files"]) <= set(inside)
    assert all((DEPLOY.parents[1] / source).is_file() for source in inside.values())
    provider = yaml.safe_load((DEPLOY / "grafana/dashboards.yml").read_text("utf-8"))
    [folder] = [each["options"]["path"] for each in provider["providers"]]
    assert any(target.startswith(f"{folder}/") for target in inside)
    source = yaml.safe_load((DEPLOY / "grafana/datasource.yml").read_text("utf-8"))
    assert source["datasources"][0]["url"].startswith("http://prometheus:")


def metric_names() -> set[str]:
    """Return every series that the dashboard, the alerts or the scaling name, for the test that scrapes."""
    return {name for each in expressions() for name in re.findall(r"signal_search_\w+", each)}


def test_the_documents_name_only_series_that_are_shown_somewhere() -> None:
    assert len(metric_names()) > 20
