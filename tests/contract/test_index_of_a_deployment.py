"""The index of a scope kept up by a deployment: from the folder that its settings name, and from no other."""

import asyncio
import json
from collections.abc import Iterator
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from msgspec import structs
from signal_search.cli import build_app
from signal_search.client import AsyncClient, Client
from signal_search.contracts.memory_index import Indexed
from signal_search.contracts.research import ScopeKey
from signal_search.errors import NotFound
from typer.testing import CliRunner

from api_gateway.auth import Gate
from api_gateway.local import LocalTransport
from infra.settings import current
from infra.tokens import tokens_path
from tests.fakes.memory_http import Caller, Library, a_library, done, refused
from tests.fakes.research import a_scope

OURS, ROOTLESS = a_scope(team_id="kept"), a_scope(team_id="kept", branch="rootless")
NAMES = ",".join(structs.astuple(OURS))


class House(NamedTuple):
    """A deployment, the folder that its settings name for a scope, and somebody who was granted it."""

    library: Library
    root: Path
    ann: Caller

    def write(self, **texts: str) -> None:
        """Make the folder hold exactly these files."""
        for each in self.root.iterdir():
            each.unlink()
        for name, text in texts.items():
            (self.root / f"{name}.md").write_text(text)

    def found(self, words: str, scope: ScopeKey = OURS) -> list[str]:
        answer = done(self.ann.post("/query", scope, query=words))["answer"]
        return [each["source_ref"] for each in answer["evidence"]]


@pytest.fixture(scope="module")
def house(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    folder, root = tmp_path_factory.mktemp("house"), tmp_path_factory.mktemp("root")
    roots = [{"path": str(root), **structs.asdict(OURS)}]
    with a_library(redis_url, folder, roots=roots) as library:
        yield House(library, root, library.caller("lab", OURS, ROOTLESS))


def figures(made: dict[str, Any] | Indexed) -> tuple[int, int, int]:
    plain = made if isinstance(made, dict) else structs.asdict(made)
    return plain["files"], plain["added"], plain["removed"]


def test_what_is_new_changed_or_gone_is_found_as_it_is(house: House) -> None:
    house.write(a="alpha zebra", b="beta zebra")
    assert figures(done(house.ann.post("/index", OURS))) == (2, 2, 0)
    assert figures(done(house.ann.post("/index", OURS))) == (2, 0, 0)
    # Words are found by the index; grep reads the folder itself, by the whole query.
    assert sorted(house.found("zebra nowhere")) == ["a.md", "b.md"]
    house.write(a="gamma zebra")
    assert figures(done(house.ann.post("/index", OURS))) == (1, 1, 2)
    assert house.found("zebra nowhere") == ["a.md"]
    assert figures(done(house.ann.post("/index", OURS, anew=True))) == (1, 1, 1)


def test_which_folder_it_is_nobody_says_but_the_settings(house: House) -> None:
    house.write(a="alpha")
    for name in ("folder", "root", "file"):
        reply = house.ann.post("/index", OURS, **{name: "/etc"})
        assert refused(reply) == (422, "invalid_request", None)  # what is unknown is not repeated
    assert refused(house.ann.post("/index", ROOTLESS)) == (404, "root_not_found", None)
    assert house.found("alpha nowhere", ROOTLESS) == []
    assert refused(house.ann.post("/index", OURS, anew="yes")) == (422, "invalid_request", "anew")


def test_the_same_key_is_the_same_doing(house: House) -> None:
    house.write(a="alpha")
    first = house.ann.post("/index", OURS, key="nightly")
    house.write(a="beta")
    again = house.ann.post("/index", OURS, key="nightly")
    assert (again.headers.get("idempotency-replayed"), again.json()) == ("true", first.json())
    other = house.ann.post("/index", OURS, key="nightly", anew=True)
    assert refused(other) == (409, "idempotency_conflict", None)


def test_a_folder_that_is_gone_is_said_and_the_index_stays(house: House) -> None:
    house.write(a="alpha")
    done(house.ann.post("/index", OURS))
    aside = house.root.rename(house.root.with_name("aside"))
    try:
        assert refused(house.ann.post("/index", OURS)) == (422, "invalid_request", "root")
    finally:
        aside.rename(house.root)
    assert house.found("alpha nowhere") == ["a.md"]


def test_from_python_over_both_ways(house: House) -> None:
    token = house.ann.token
    local = LocalTransport(
        house.library.settings, Gate(tokens_path(house.library.settings)).find(token)
    )
    with (
        Client(str(house.library.http.base_url), token=token) as far,
        Client(transport=local) as near,
    ):
        for at, client in enumerate((far, near)):
            house.write(a=f"alpha {at}")
            memory = client.memory(OURS)
            assert figures(memory.index()) == (1, 1, 1)
            assert figures(memory.index(anew=True)) == (1, 1, 1)
            with pytest.raises(NotFound) as refusal:
                client.memory(ROOTLESS).index()
            assert refusal.value.code == "root_not_found"


def test_from_asyncio(house: House) -> None:
    async def indexed() -> Indexed:
        async with AsyncClient(str(house.library.http.base_url), token=house.ann.token) as client:
            return await client.memory(OURS).index()

    house.write(a="omega")
    assert figures(asyncio.run(indexed()))[0] == 1


def test_from_a_command_line(house: House) -> None:
    house.write(a="alpha", b="beta", c="gamma")
    at = ("--gateway", str(house.library.http.base_url), "--token", house.ann.token)
    words = ["research", "index", "--scope", NAMES, *at]
    ran = CliRunner().invoke(build_app(), words)
    assert (ran.exit_code, json.loads(ran.stdout)["files"]) == (0, 3)
    both = CliRunner().invoke(build_app(), [*words, "/etc"])
    assert both.exit_code != 0


def test_next_to_the_files_a_folder_may_be_left_to_the_settings(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "root").mkdir()
    (tmp_path / "root" / "a.md").write_text("alpha")
    roots = [{"path": str(tmp_path / "root"), **structs.asdict(OURS)}]
    monkeypatch.setenv("SIGNAL_SEARCH_RESEARCH__FOLDER", str(tmp_path / "memory"))
    monkeypatch.setenv("SIGNAL_SEARCH_RESEARCH__ROOTS", json.dumps(roots))
    current.cache_clear()
    ran = CliRunner().invoke(build_app(), ["research", "index", "--scope", NAMES])
    current.cache_clear()
    assert (ran.exit_code, json.loads(ran.stdout)["files"]) == (0, 1)
