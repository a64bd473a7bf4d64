"""The doctor on real stores, ports and files, well and ill."""

import re
import socket
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from redis import Redis

from infra.doctor import examine, is_well
from infra.embedded_redis import EmbeddedRedis
from infra.heartbeat import beat
from infra.redis import connect
from infra.settings import Settings, load
from infra.store_address import masked
from infra.store_checks import Check
from infra.tokens import TokenStore, tokens_path


def settings_for(folder: Path, **more: Any) -> Settings:
    gateway = {"host": "127.0.0.1", "port": 1, **more.pop("gateway", {})}
    return load(data_dir=str(folder), gateway={**load().gateway.model_dump(), **gateway}, **more)


@pytest.fixture(scope="module")
def store() -> Iterator[str]:
    with tempfile.TemporaryDirectory(prefix="ss-") as name:
        server = EmbeddedRedis(Path(name))
        yield server.start()
        server.stop()


@pytest.fixture
def client(store: str) -> Iterator[Redis]:
    found = connect(store)
    found.flushall()
    yield found
    found.close()


def states(checks: list[Check]) -> dict[str, str]:
    order = {"ok": 0, "warn": 1, "fail": 2}
    worst: dict[str, str] = {}
    for check in checks:
        worst[check.name] = max(worst.get(check.name, "ok"), check.state, key=order.__getitem__)
    return worst


def find(checks: list[Check], name: str) -> Check:
    return max(
        (check for check in checks if check.name == name), key=lambda check: check.state != "ok"
    )


def test_all_is_well(store: str, client: Redis, tmp_path: Path) -> None:
    beat(client, "a@h", "all", pid=1, started_ms=0)
    checks = examine(settings_for(tmp_path, redis_url=store))
    assert is_well(checks)
    assert set(states(checks).values()) == {"ok"}
    names = {
        "store",
        "persistence",
        "eviction",
        "workers",
        "broker",
        "tokens",
        "flower",
        "sources",
        "ports",
    }
    assert names <= set(states(checks))


def test_nothing_runs_yet_and_that_is_well(tmp_path: Path) -> None:
    checks = examine(settings_for(tmp_path))
    assert is_well(checks)
    assert (
        "valkey-server" in find(checks, "store").says
        or "redis-server" in find(checks, "store").says
    )


def test_a_store_that_forgets_or_evicts_is_found(
    redis: Redis, redis_url: str, tmp_path: Path
) -> None:
    """The test server has no append-only file; eviction is switched on for this test."""
    redis.config_set("maxmemory-policy", "allkeys-lru")
    try:
        checks = examine(settings_for(tmp_path, redis_url=redis_url))
    finally:
        redis.config_set("maxmemory-policy", "noeviction")
    assert states(checks)["persistence"] == "warn"
    assert states(checks)["eviction"] == "fail"
    assert "noeviction" in find(checks, "eviction").advice
    assert not is_well(checks)


@pytest.mark.parametrize(("role", "missing"), [("crawl", "plan, local"), ("reduce", "crawl")])
def test_a_role_that_nobody_has_is_named(
    store: str, client: Redis, tmp_path: Path, role: Any, missing: str
) -> None:
    beat(client, "a@h", role, pid=1, started_ms=0)
    check = find(examine(settings_for(tmp_path, redis_url=store)), "workers")
    assert check.state == "fail"
    assert f"Nobody takes: {missing}." in check.says


def test_no_worker_at_all(store: str, client: Redis, tmp_path: Path) -> None:
    check = find(examine(settings_for(tmp_path, redis_url=store)), "workers")
    assert (check.state, check.says) == ("fail", "No worker is alive.")


def test_a_store_that_is_away_is_said_without_its_password(tmp_path: Path) -> None:
    url = "redis://user:opensesame@127.0.0.1:1/0"
    checks = examine(settings_for(tmp_path, redis_url=url))
    assert states(checks)["store"] == "fail"
    assert states(checks)["broker"] == "fail"
    assert "127.0.0.1:1" in find(checks, "store").says
    assert "opensesame" not in repr(checks)


@pytest.mark.parametrize(
    ("broker", "state"),
    [
        ("redis+sentinel://127.0.0.1:1,127.0.0.1:2/main", "fail"),
        ("amqp://guest:guest@127.0.0.1:1//", "fail"),
        ("redis+socket:///x/redis.sock?virtual_host=0", "ok"),
    ],
)
def test_brokers_are_looked_for(store: str, tmp_path: Path, broker: str, state: str) -> None:
    checks = examine(settings_for(tmp_path, redis_url=store, broker_url=broker))
    assert states(checks)["broker"] == state


def test_a_port_that_is_taken_by_another_is_found(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        check = find(examine(settings_for(tmp_path, gateway={"port": port})), "ports")
    assert check.state == "fail"
    assert str(port) in check.says


def test_two_of_ours_on_one_port_are_found(tmp_path: Path) -> None:
    checks = examine(settings_for(tmp_path, gateway={"port": 5555}))
    assert any(re.search("same port", check.says) for check in checks if check.state == "fail")


def test_an_open_door_without_tokens_is_found(tmp_path: Path) -> None:
    wide = settings_for(tmp_path, gateway={"host": "0.0.0.0"})
    assert states(examine(wide))["tokens"] == "fail"
    TokenStore.load(tokens_path(wide)).create("acme", ["read"], {}, now_ms=1)
    assert states(examine(wide))["tokens"] == "ok"
    tokens_path(wide).chmod(0o644)
    assert states(examine(wide))["tokens"] == "warn"
    tokens_path(wide).write_text("{")
    assert states(examine(wide))["tokens"] == "fail"


def test_unknown_and_keyless_sources_are_found(tmp_path: Path) -> None:
    sources = load().sources.model_dump()
    wrong = settings_for(tmp_path, sources={**sources, "enabled": ["arxiv", "nowhere"]})
    assert "1 unknown" in find(examine(wrong), "sources").says
    row = {
        "id": "mine",
        "name": "Mine",
        "adapter": "json_api",
        "kind": "api",
        "endpoint": "https://x.example/?q={q}",
        "item_map": {"url": "u", "title": "t"},
    }
    keyed = {**row, "access": "key", "key_env": "SS_TEST_NO_SUCH_KEY"}
    lacking = settings_for(tmp_path, sources={**sources, "enabled": ["mine"], "custom": [keyed]})
    check = find(examine(lacking), "sources")
    assert (check.state, "SS_TEST_NO_SUCH_KEY" in check.advice) == ("warn", True)
    broken = settings_for(tmp_path, sources={**sources, "custom": [{"id": "x y"}]})
    assert find(examine(broken), "sources").state == "fail"


@pytest.mark.parametrize(
    ("url", "expected"),
    [
        ("redis://u:p@h:6379/0", "redis://h:6379"),
        ("rediss://:p@h/0?x=secret", "rediss://h"),
        ("redis+cluster://u:p@a:1,b:2", "redis+cluster://a:1,b:2"),
        ("redis+sentinel://:p@a,b:2/main?sentinel_password=secret", "redis+sentinel://a,b:2/main"),
        ("unix:///run/x.sock?db=1", "unix:///run/x.sock"),
    ],
)
def test_addresses_are_shown_without_secrets(url: str, expected: str) -> None:
    assert masked(url) == expected


def test_a_model_that_is_half_there_or_overheard_is_found(tmp_path: Path) -> None:
    def model(**search: object) -> list[tuple[str, str]]:
        checks = examine(settings_for(tmp_path, search=search))
        return [(each.state, each.says) for each in checks if each.name == "model"]

    parts = {"agent_model": "m", "agent_api_key": "sk-1"}
    whole = {**parts, "scorer_generation_enabled": True}
    assert model() == [("ok", "No scorers are generated.")]
    half = [("warn", "A model is switched on, but its address, name or key is missing.")]
    assert model(scorer_generation_enabled=True) == model(agent_enabled=True, **parts) == half
    on = ("ok", "Generation of scorers is on.")
    for address in ("https://models.example/v1", "http://127.0.0.1:11434/v1"):
        assert model(**whole, agent_base_url=address) == [on]
    overheard = ("warn", "The model's key goes to another machine unencrypted.")
    assert model(**whole, agent_base_url="http://10.0.0.5/v1") == [on, overheard]
