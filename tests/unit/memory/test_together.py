"""Several at once: writers and readers of one index and one store, and what a deployment puts together."""

import threading
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from pydantic import ValidationError
from signal_search.contracts.research import MemoryStatus, ResearchQuery
from signal_search.errors import Conflict

from infra.settings import load
from tests.fakes.research import Shelf, a_memory, a_scope
from workers.memory.bm25 import Bm25
from workers.memory.index_file import IndexFile
from workers.memory.postings import Passage, add
from workers.research import Desk

SCOPE = a_scope()


def at_once(*works: Callable[[], None]) -> None:
    threads = [threading.Thread(target=work) for work in works]
    for each in threads:
        each.start()
    for each in threads:
        each.join()


def test_writers_at_once_lose_nothing_and_readers_see_whole_states(tmp_path: Path) -> None:
    """Two texts with the same word in each write: a reader never sees an odd number of them."""
    file = IndexFile(tmp_path, SCOPE)
    odd: list[int] = []

    def write(name: str) -> Callable[[], None]:
        def work() -> None:
            for number in range(10):
                pair = [
                    Passage(chunk_id=f"{name}{number}{part}", source_ref=name, content="alpha beta")
                    for part in "ab"
                ]
                with file.writing() as (db, header):
                    add(db, header, pair)

        return work

    def read() -> None:
        index = Bm25(file)
        for _ in range(60):
            try:
                count = len(index.search("alpha", 1000))
            except Exception as error:  # noqa: BLE001
                count = 0 if str(error) == "index_unavailable" else -1
            if count % 2:
                odd.append(count)

    at_once(write("x"), write("y"), read)
    assert odd == []
    assert len(Bm25(file).search("alpha", 1000)) == 40


def test_of_two_who_publish_at_once_one_does(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.store(SCOPE).save(a_memory("m", "alpha", SCOPE), actor="ann")
    shelf.store(SCOPE).move("m", MemoryStatus.VERIFIED, actor="ann")
    outcomes: list[str] = []

    def publish() -> None:
        try:
            shelf.store(SCOPE).move("m", MemoryStatus.PUBLISHED, actor="ann")
            outcomes.append("done")
        except Conflict as error:
            outcomes.append(error.code)

    at_once(publish, publish)
    assert sorted(outcomes) == ["done", "transition_refused"]
    assert [each.action for each in shelf.store(SCOPE).audit("m")].count("status_changed") == 2


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "planner_llm_disabled"),
        ({"llm_enabled": True}, "planner_llm_missing_model"),
        ({"llm_enabled": True, "llm_model": "m"}, "planner_llm_missing_api_key"),
        (
            {
                "llm_enabled": True,
                "llm_model": "m",
                "llm_api_key": "k",
                "llm_base_url": "https://a.example/v1",
            },
            "planner_llm_invalid_base_url",
        ),
    ],
)
def test_no_model_is_asked_that_may_not_be(
    tmp_path: Path, changes: dict[str, Any], reason: str
) -> None:
    shelf = Shelf(tmp_path)
    shelf.publish(a_memory("m", "alpha", SCOPE))
    settings = load(research={"folder": str(tmp_path), "vectors": "off", **changes})
    found = Desk(settings, shelf.clock).answer(ResearchQuery(query="alpha", scope=SCOPE))
    assert reason in found.degradations
    assert [each.chunk_id for each in found.evidence] == ["research:m"]


def test_a_folder_of_the_settings_is_read_for_its_own_scope_alone(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path / "files")
    (tmp_path / "a.txt").write_text("alpha here\n")
    named = {part: getattr(SCOPE, part) for part in SCOPE.__struct_fields__}
    research = {
        "folder": str(tmp_path / "files"),
        "vectors": "off",
        "roots": [{"path": str(tmp_path), **named}],
    }
    desk = Desk(load(research=research), shelf.clock)
    ours = desk.answer(ResearchQuery(query="alpha", scope=SCOPE))
    theirs = desk.answer(ResearchQuery(query="alpha", scope=a_scope(branch="b")))
    assert [each.source_ref for each in ours.evidence] == ["a.txt"]
    assert theirs.evidence == ()
    assert "grep" not in {each.tool_name for each in theirs.traces}


@pytest.mark.parametrize(
    "wrong",
    [
        {"llm_endpoints": ["http://a.example/v1"]},
        {"llm_endpoints": []},
        {"max_calls": 13},
        {"rerank": "x"},
    ],
)
def test_settings_that_are_refused(wrong: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        load(research=wrong)
