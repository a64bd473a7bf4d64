"""What is deployed: the compose file's shape, its commands, its secrets; constraints that build everywhere."""

import re
import tomllib
from pathlib import Path
from typing import Any

import pytest
import typer
import yaml

from infra import commands

ROOT = Path(__file__).parents[2]
COMPOSE: dict[str, Any] = yaml.safe_load((ROOT / "docker-compose.yml").read_text("utf-8"))
SERVICES: dict[str, Any] = COMPOSE["services"]
# Of the Compose specification: what a service may say (the part we use, so that a slip of the pen is seen).
KNOWN = {
    "image", "build", "command", "environment", "volumes", "depends_on", "restart", "init", "read_only", "tmpfs",
    "cap_drop", "security_opt", "ports", "healthcheck", "profiles", "network_mode",
}  # fmt: skip
OURS = [name for name, each in SERVICES.items() if each["command"][:1] == ["signal-search"]]


# Typer brings its own copy of click and does not export this class; BadParameter is one of its children.
USAGE_ERROR: Any = typer.BadParameter.__base__


def parse(command: str, arguments: list[str]) -> Any:
    """Let the real command line read `arguments`; nothing is run."""
    app = typer.Typer()
    commands.register(app)
    group: Any = typer.main.get_command(app)
    return group.commands[command].make_context(command, list(arguments))


def test_the_services_are_the_stack() -> None:
    assert set(SERVICES) == {
        *("redis", "gateway", "crawl", "reduce", "flower"),
        *("loopback-web", "prometheus", "grafana"),
    }
    assert set(OURS) == {"gateway", "crawl", "reduce", "flower"}
    assert SERVICES["loopback-web"]["profiles"] == ["try"]
    assert SERVICES["prometheus"]["profiles"] == SERVICES["grafana"]["profiles"] == ["watch"]


@pytest.mark.parametrize("name", sorted(SERVICES))
def test_a_service_says_only_what_compose_knows(name: str) -> None:
    assert set(SERVICES[name]) <= KNOWN
    assert "container_name" not in SERVICES[name]
    assert "image" in SERVICES[name] or "build" in SERVICES[name]


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_service_runs_a_command_that_exists(name: str) -> None:
    """The exact words of the file are parsed by the real command line."""
    _, command, *arguments = SERVICES[name]["command"]
    context = parse(command, arguments)
    assert context.args == []
    assert context.params.get("role", name) == name


@pytest.mark.parametrize("arguments", [["--role", "nobody"], ["--rolle", "crawl"], ["crawl"]])
def test_a_slip_in_a_command_would_be_seen(arguments: list[str]) -> None:
    with pytest.raises(USAGE_ERROR):
        parse("worker", arguments)


def test_the_roles_together_take_every_queue() -> None:
    roles = {SERVICES[name]["command"][3] for name in ("crawl", "reduce")}
    assert roles == {"crawl", "reduce"}


@pytest.mark.parametrize("name", sorted(OURS))
def test_a_service_of_ours_has_few_powers(name: str) -> None:
    service = SERVICES[name]
    assert service["read_only"] is True
    assert service["cap_drop"] == ["ALL"]
    assert service["security_opt"] == ["no-new-privileges:true"]


def test_ports_are_published_on_this_machine_only() -> None:
    published = [port for each in SERVICES.values() for port in each.get("ports", [])]
    assert published
    assert all(port.startswith("127.0.0.1:") for port in published)


def test_no_secret_stands_in_the_file() -> None:
    text = (ROOT / "docker-compose.yml").read_text("utf-8")
    named = re.findall(r"^\s*\w*(?:PASSWORD|TOKEN|SECRET)\w*:\s*(.+)$", text, re.MULTILINE)
    assert named
    assert all(value.startswith("${") and ":?" in value for value in named)


def test_redis_keeps_its_data_and_answers_for_its_health() -> None:
    rules = (ROOT / "infra/deploy/redis.conf").read_text("utf-8")
    assert re.search(r"^appendonly yes$", rules, re.MULTILINE)
    assert re.search(r"^maxmemory-policy noeviction$", rules, re.MULTILINE)
    redis = SERVICES["redis"]
    assert "./infra/deploy/redis.conf:/etc/signal.conf:ro" in redis["volumes"]
    assert "redis:/data" in redis["volumes"]
    assert "ping" in redis["healthcheck"]["test"][1]
    assert set(COMPOSE["volumes"]) == {"redis", "data", "prometheus", "grafana"}


def test_flower_is_guarded_and_checks_its_own_health() -> None:
    flower = SERVICES["flower"]
    assert flower["environment"]["SIGNAL_SEARCH_FLOWER_PASSWORD"].startswith(
        "${SIGNAL_SEARCH_FLOWER_PASSWORD:?"
    )
    assert flower["healthcheck"]["test"][-1] == "/healthcheck"


def test_prometheus_scrapes_services_that_exist() -> None:
    config = yaml.safe_load((ROOT / "infra/deploy/prometheus.yml").read_text("utf-8"))
    targets = [
        target
        for job in config["scrape_configs"]
        for static in job["static_configs"]
        for target in static["targets"]
    ]
    assert {target.split(":")[0] for target in targets} == {"gateway", "flower"}


CONSTRAINT = re.compile(
    r"^[a-z0-9][a-z0-9-]*==[0-9][0-9A-Za-z.]*( ; .+)? \\$|^    --hash=sha256:[0-9a-f]{64}( \\)?$"
)


def test_constraints_are_names_versions_and_hashes_only() -> None:
    lines = (ROOT / "constraints.txt").read_text("utf-8").splitlines()
    assert [line for line in lines if not CONSTRAINT.match(line)] == []


def test_constraints_name_everything_the_projects_ask_for() -> None:
    pinned = {
        line.split("==")[0]
        for line in (ROOT / "constraints.txt").read_text("utf-8").splitlines()
        if "==" in line
    }
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    sdk = tomllib.loads((ROOT / "sdk/pyproject.toml").read_text("utf-8"))
    asked = [
        *project["project"]["dependencies"],
        *project["dependency-groups"]["dev"],
        *project["build-system"]["requires"],
        *sdk["project"]["dependencies"],
        *sdk["project"]["optional-dependencies"]["cli"],
    ]
    names = {re.split(r"[\[<>=;~! ]", each)[0].lower().replace("_", "-") for each in asked}
    assert names - {"signal-search-sdk"} <= pinned


def test_make_explains_every_target() -> None:
    text = (ROOT / "Makefile").read_text("utf-8")
    phony = re.search(r"^\.PHONY: (.+)$", text, re.MULTILINE)
    assert phony is not None
    explained = set(re.findall(r"^([a-z0-9-]+):.*## ", text, re.MULTILINE))
    assert explained == set(phony[1].split())
    assert {
        "demo",
        "test",
        "lint",
        "fix",
        "fast",
        "e2e",
        "chaos",
        "bench",
        "up",
        "constraints",
        "clean",
    } <= explained
