"""When evidence of research memory is from: every channel says it, and no copy or touch makes a text any newer."""

import os
import sqlite3
from contextlib import closing
from pathlib import Path

import msgspec
import pytest
from msgspec import structs
from signal_search.contracts.research import EvidenceChunk

from infra.clock import FixedClock
from tests.fakes.research import NOW_MS, HashedVectors, Shelf, a_memory, a_scope
from workers.memory.dates import modified
from workers.memory.grep import Grep
from workers.memory.index_file import IndexFile
from workers.memory.indexing import sync
from workers.memory.recall import Bm25Tool, VectorTool

SCOPE = a_scope()
OLD, NEW = 1_262_304_000, 1_700_000_000  # seconds: 2010-01-01T00:00:00Z, 2023-11-14T22:13:20Z
SAID_OLD, SAID_NEW = "2010-01-01T00:00:00Z", "2023-11-14T22:13:20Z"


@pytest.fixture
def root(tmp_path: Path) -> Path:
    made = tmp_path / "root"
    made.mkdir()
    write(made, "alpha zebra\n", OLD)
    return made


@pytest.fixture
def file(tmp_path: Path) -> IndexFile:
    return IndexFile(tmp_path / "index", SCOPE)


def write(root: Path, text: str, at_s: int) -> None:
    (root / "a.md").write_text(text)
    os.utime(root / "a.md", (at_s, at_s))


def index(root: Path, file: IndexFile, **given: bool) -> None:
    sync(root, file, FixedClock(NOW_MS), embedder=HashedVectors(), **given)


def told(found: EvidenceChunk) -> object:
    return found.metadata.get("modified_at")


def by_words(file: IndexFile) -> object:
    [found] = Bm25Tool(file.path.parent).retrieve("zebra", SCOPE).chunks
    return told(found)


def test_words_and_meaning_and_lines_have_the_day_of_their_file(
    root: Path, file: IndexFile
) -> None:
    index(root, file)
    [near] = VectorTool(file.path.parent, HashedVectors()).retrieve("zebra", SCOPE).chunks
    [line] = Grep(root, SCOPE).search("zebra").chunks
    assert [by_words(file), told(near), told(line)] == [SAID_OLD] * 3


def test_a_memory_has_the_day_on_which_it_was_published(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    long_ago = shelf.clock.now_ms() - 86_400_000 * 400
    written = a_memory("m", "The zebra is striped.", SCOPE)
    shelf.clock = FixedClock(long_ago)
    shelf.store(SCOPE).save(written, actor="ann")
    shelf.clock = FixedClock(NOW_MS)
    for status in ("verified", "published"):
        shelf.store(SCOPE).move("m", msgspec.convert(status, type=type(written.status)), actor="b")
    [found] = shelf.ask("zebra", SCOPE).evidence
    assert found.metadata["updated_at"] == "2026-09-21T14:13:20.000000Z"


def test_a_file_that_is_touched_or_copied_is_no_newer(root: Path, file: IndexFile) -> None:
    index(root, file)
    write(root, "alpha zebra\n", NEW)
    index(root, file)
    assert by_words(file) == SAID_OLD
    index(root, file, anew=True)
    assert by_words(file) == SAID_NEW
    write(root, "alpha zebra\n", OLD)  # and an earlier time is nearer to when it was written
    index(root, file)
    assert by_words(file) == SAID_OLD


def test_a_file_that_says_something_else_is_newer(root: Path, file: IndexFile) -> None:
    index(root, file)
    write(root, "beta zebra\n", NEW)
    index(root, file)
    assert by_words(file) == SAID_NEW


def test_an_index_of_before_answers_without_days_until_it_is_compared(
    root: Path, file: IndexFile
) -> None:
    index(root, file)
    before = msgspec.json.encode(structs.replace(file.header(), format=2)).decode()
    with closing(sqlite3.connect(file.path)) as db, db:
        db.execute("ALTER TABLE sources DROP COLUMN modified_ms")
        db.execute("UPDATE header SET json = ?", (before,))
    assert by_words(file) is None
    index(root, file)
    assert (by_words(file), file.header().documents) == (SAID_OLD, 1)


@pytest.mark.parametrize("at_ms", [0, -1, 253_402_300_800_000, 10**18])
def test_a_time_that_no_clock_has_shown_is_none(at_ms: int) -> None:
    assert modified(at_ms) == {}


def test_the_last_moment_that_a_calendar_has_is_one() -> None:
    assert modified(253_402_300_799_000) == {"modified_at": "9999-12-31T23:59:59Z"}
