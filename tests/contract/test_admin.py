"""The administrator's addresses: every setting with its bounds, changes that are checked whole, secrets that stay out."""

import tomllib
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from infra.manifest import MASK
from infra.settings import Settings, load
from infra.tokens import TokenStore
from tests.fakes.gateway import running

MANIFEST, CONFIG = "/v1/admin/manifest", "/v1/admin/config"
KEY = "sk-very-secret"
BOUNDS = {
    # the scorer guide's table: default, least, most
    "scorer_generation_max_concurrency": (2, 1, 32),
    "scorer_search_max_concurrency": (4, 1, 64),
    "scorer_generation_timeout": (30.0, 1, 120),
    "scorer_generation_max_tokens": (1024, 64, 4096),
    "scorer_generation_total_tokens": (16_384, 1024, 65_536),
    "scorer_generation_max_response_bytes": (65_536, 1024, 262_144),
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Work in a folder of its own: the settings file is that of the working folder."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


def settings_of(redis_url: str, folder: Path, **more: Any) -> Settings:
    return load(
        redis_url=redis_url,
        data_dir=str(folder),
        search={"agent_api_key": KEY},
        flower_password="another secret",
        **more,
    )


@pytest.fixture
def gateway(redis_url: str, folder: Path) -> Iterator[httpx.Client]:
    with running(settings_of(redis_url, folder)) as client:
        yield client


def written(folder: Path) -> dict[str, Any]:
    return tomllib.loads((folder / "signal-search.toml").read_text("utf-8"))


def test_the_manifest_has_every_setting(gateway: httpx.Client) -> None:
    settings = {each["name"]: each for each in gateway.get(MANIFEST).json()["settings"]}
    sections = {name.split(".")[0] for name in settings}
    assert sections == set(Settings.model_fields)
    for each in settings.values():
        assert each.keys() == {
            "name",
            "group",
            "type",
            "bounds",
            "default",
            "value",
            "description",
            "needs_restart",
            "is_secret",
        }
        assert each["needs_restart"] is True
    assert settings["politeness.interval_s"]["bounds"]["minimum"] == 14
    assert settings["log.level"]["bounds"]["choices"] == ["DEBUG", "INFO", "WARNING", "ERROR"]
    assert settings["redis_url"]["group"] == "general"
    assert settings["gateway.port"]["group"] == "gateway"


def test_the_group_scoring_is_that_of_the_guide(gateway: httpx.Client) -> None:
    settings = gateway.get(MANIFEST).json()["settings"]
    group = {each["name"]: each for each in settings if each["group"] == "scoring"}
    assert group.keys() == {f"search.{name}" for name in ("scorer_generation_enabled", *BOUNDS)}
    assert all(each["description"] for each in group.values())
    switch = group["search.scorer_generation_enabled"]
    assert (switch["type"], switch["default"], switch["value"]) == ("boolean", False, False)
    for name, (default, least, most) in BOUNDS.items():
        each = group[f"search.{name}"]
        assert each["default"] == each["value"] == default
        assert each["bounds"] == {"minimum": least, "maximum": most}


def test_secrets_are_masked_everywhere(redis_url: str, folder: Path) -> None:
    broker = "amqp://me:hidden@127.0.0.1:5672//"
    with running(settings_of(redis_url, folder, broker_url=broker)) as client:
        pages = [client.get(MANIFEST), client.get(CONFIG)]
    for page in pages:
        assert page.status_code == 200
        for secret in (KEY, "another secret", "hidden"):
            assert secret not in page.text
    config = pages[1].json()["config"]
    assert config["search"]["agent_api_key"] == MASK
    assert config["token"] == ""  # not set, which is no secret
    assert config["broker_url"] == f"amqp://me:{MASK}@127.0.0.1:5672//"


@pytest.mark.parametrize(
    "patch",
    [
        {"search": {"scorer_generation_timeout": 20, "scorer_generation_enabled": True}},
        {"search.scorer_generation_timeout": 20, "search.scorer_generation_enabled": True},
    ],
)
def test_a_change_is_written_and_holds_from_the_next_start(
    gateway: httpx.Client, folder: Path, patch: dict[str, Any]
) -> None:
    reply = gateway.put(CONFIG, json=patch)
    assert reply.status_code == 200
    body = reply.json()
    names = ["search.scorer_generation_timeout", "search.scorer_generation_enabled"]
    assert (body["changed"], body["overridden"], body["needs_restart"]) == (names, [], True)
    assert body["config"]["search"]["scorer_generation_timeout"] == 20.0
    assert written(folder) == {
        "search": {"scorer_generation_timeout": 20.0, "scorer_generation_enabled": True}
    }
    assert load().search.scorer_generation_timeout == 20.0
    now = gateway.get(CONFIG).json()["config"]["search"]
    assert now["scorer_generation_timeout"] == 30.0  # this process was started before


def test_the_rest_of_the_file_stays_as_it_was(gateway: httpx.Client, folder: Path) -> None:
    path = folder / "signal-search.toml"
    path.write_text('# mine\n[gateway]\nport = 9000  # not 8600\n\n[log]\nlevel = "DEBUG"\n')
    path.chmod(0o640)
    assert gateway.put(CONFIG, json={"gateway": {"tenant_slots": 7}}).status_code == 200
    text = path.read_text("utf-8")
    assert text.startswith("# mine\n[gateway]\nport = 9000  # not 8600\n")
    assert written(folder) == {
        "gateway": {"port": 9000, "tenant_slots": 7},
        "log": {"level": "DEBUG"},
    }
    assert path.stat().st_mode & 0o777 == 0o640
    assert sorted(each.name for each in folder.iterdir() if each.name.startswith(".")) == []


def test_null_takes_a_setting_back_to_its_default(gateway: httpx.Client, folder: Path) -> None:
    gateway.put(CONFIG, json={"gateway": {"port": 9000, "tenant_slots": 7}})
    reply = gateway.put(CONFIG, json={"gateway.port": None, "jobs.result_ttl_s": None})
    assert reply.json()["config"]["gateway"]["port"] == 8600
    assert written(folder) == {"gateway": {"tenant_slots": 7}}


def test_tables_can_be_written(gateway: httpx.Client, folder: Path) -> None:
    patch = {"tenants": {"acme": {"weight": 2, "slots": 5}}, "sources": {"enabled": ["arxiv"]}}
    assert gateway.put(CONFIG, json=patch).status_code == 200
    assert written(folder) == {
        "tenants": {"acme": {"weight": 2.0, "slots": 5}},
        "sources": {"enabled": ["arxiv"]},
    }


def test_names_with_dots_in_them_can_be_written(gateway: httpx.Client, folder: Path) -> None:
    patch = {"loopback": {"hosts": {"export.arxiv.org": "127.0.0.1:8601"}}}
    reply = gateway.put(CONFIG, json=patch)
    assert reply.status_code == 200
    assert written(folder) == patch
    gone = {"loopback": {"hosts": {"export.arxiv.org": None}}}
    assert gateway.put(CONFIG, json=gone).status_code == 200
    assert written(folder) == {"loopback": {"hosts": {}}}


def test_a_setting_of_no_section_is_put_above_the_tables(
    gateway: httpx.Client, folder: Path
) -> None:
    gateway.put(CONFIG, json={"log.level": "DEBUG"})
    gateway.put(CONFIG, json={"gateway_url": "http://127.0.0.1:8600"})
    assert written(folder) == {
        "log": {"level": "DEBUG"},
        "gateway_url": "http://127.0.0.1:8600",
    }


def test_a_folder_that_takes_nothing_is_told(
    gateway: httpx.Client, folder: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    gone = folder / "gone"
    gone.mkdir()
    monkeypatch.chdir(gone)
    gone.rmdir()
    reply = gateway.put(CONFIG, json={"log.level": "DEBUG"})
    assert (reply.status_code, reply.json()["detail"]["code"]) == (409, "conflict")
    assert str(folder) not in reply.text
    monkeypatch.chdir(folder)


@pytest.mark.parametrize(
    ("content", "field"),
    [
        ('{"search": {"scorer_generation_timeout": 0.5}}', "search.scorer_generation_timeout"),
        ('{"search": {"scorer_generation_timeout": 121}}', "search.scorer_generation_timeout"),
        ('{"search": {"scorer_generation_timeout": "NaN"}}', "search.scorer_generation_timeout"),
        ('{"search": {"scorer_generation_timeout": "inf"}}', "search.scorer_generation_timeout"),
        ('{"search": {"scorer_generation_timeout": 1e999}}', None),
        (
            '{"search": {"scorer_search_max_concurrency": 2.5}}',
            "search.scorer_search_max_concurrency",
        ),
        (
            '{"search": {"scorer_generation_enabled": "perhaps"}}',
            "search.scorer_generation_enabled",
        ),
        ('{"search": {"nonsense": 1}}', "search"),
        ('{"nonsense": 1}', None),
        ('{"politeness.interval_s": 1}', "politeness.interval_s"),
        ('{"gateway": 5}', "gateway"),
        ('{"search.agent_api_key": "sk-new"}', "search.agent_api_key"),
        ('{"search": {"agent": {"api_key": "sk-new"}}}', "search"),
        ('{"search": {"agent": {"model": "m"}}}', "search"),
        ('{"token": "t"}', "token"),
        ('{"flower_password": "p"}', "flower_password"),
        ('{"redis_url": "redis://:hidden@127.0.0.1/0"}', "redis_url"),
        ('{"redis_url": "nonsense"}', "redis_url"),
        ('{"": 1}', None),
        ('{"gateway.port": 1, "gateway": 5}', "gateway"),
        ('{"log": 5, "log.level": "DEBUG"}', "log.level"),
        ('{"tenants": {"a.b": {"weight": 0}}}', "tenants"),
        ("[]", None),
    ],
)
def test_what_is_wrong_is_named_and_nothing_is_written(
    gateway: httpx.Client, folder: Path, content: str, field: str | None
) -> None:
    good = content.replace("{", '{"gateway.port": 9001, ', 1)
    reply = gateway.put(CONFIG, content=good, headers={"Content-Type": "application/json"})
    assert reply.status_code in {400, 422}
    detail = reply.json()["detail"]
    assert detail.get("field") == field
    for told in ("sk-new", "hidden", "perhaps", "nonsense"):
        assert told not in reply.text
    assert not (folder / "signal-search.toml").exists()


def test_a_file_that_is_no_toml_is_not_overwritten(gateway: httpx.Client, folder: Path) -> None:
    (folder / "signal-search.toml").write_text("port = = 1")
    reply = gateway.put(CONFIG, json={"gateway": {"port": 9001}})
    assert (reply.status_code, reply.json()["detail"]["code"]) == (409, "conflict")
    assert (folder / "signal-search.toml").read_text() == "port = = 1"


def test_what_the_environment_overrides_is_told(
    gateway: httpx.Client, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SIGNAL_SEARCH_GATEWAY__PORT", "9100")
    reply = gateway.put(CONFIG, json={"gateway": {"port": 9001, "tenant_slots": 9}})
    assert reply.json()["overridden"] == ["gateway.port"]
    assert reply.json()["config"]["gateway"]["port"] == 9100


def test_an_empty_change_changes_nothing(gateway: httpx.Client) -> None:
    body = gateway.put(CONFIG, json={}).json()
    assert (body["changed"], body["needs_restart"]) == ([], False)


@pytest.mark.parametrize("scopes", [("read",), ("write",), ("read", "write")])
def test_only_an_administrator_comes_in(
    redis_url: str, folder: Path, scopes: tuple[str, ...]
) -> None:
    store = folder / "tokens.json"
    token, _ = TokenStore.load(store).create("red", scopes, {}, now_ms=1)
    admin, _ = TokenStore.load(store).create("ops", ("admin",), {}, now_ms=1)
    with running(settings_of(redis_url, folder)) as client:
        for path in (MANIFEST, CONFIG, f"{CONFIG}/", "/v1//admin/config"):
            assert _get(client, path).status_code == 401
            assert _get(client, path, token).status_code == 403
            assert _get(client, path, admin).status_code == 200
        own = {"Authorization": f"Bearer {token}"}
        assert client.put(CONFIG, json={"gateway": {"port": 1}}, headers=own).status_code == 403
    assert not (folder / "signal-search.toml").exists()


def _get(client: httpx.Client, path: str, token: str = "") -> httpx.Response:
    headers = {"Authorization": f"Bearer {token}"} if token else {}
    return client.get(path, headers=headers)


def test_a_proxy_that_hands_on_texts_only_gets_texts(redis_url: str, folder: Path) -> None:
    settings = settings_of(redis_url, folder, gateway={"admin_detail": "string"})
    TokenStore.load(folder / "tokens.json").create("ops", ("admin",), {}, now_ms=1)
    with running(settings) as client:
        refused = client.get(CONFIG)
        assert (refused.status_code, refused.json()["detail"]) == (
            401,
            "A valid bearer token is required.",
        )
        assert client.get("/v1/jobs").json()["detail"]["code"] == "unauthorized"
    (folder / "tokens.json").unlink()
    with running(settings) as client:
        wrong = client.put(CONFIG, json={"search": {"scorer_generation_timeout": 500}})
    assert wrong.status_code == 422
    assert wrong.json()["detail"].startswith("search.scorer_generation_timeout: ")
    assert wrong.json().keys() == {"detail", "request_id"}
