"""Attacks on what is read from folders, by grep and by indexing, and on what a query may say."""

import gzip
import threading
from collections.abc import Callable
from pathlib import Path

import pytest

from infra.clock import FixedClock
from tests.fakes.research import NOW_MS, Shelf, a_memory, a_scope
from workers.memory.bm25 import Bm25
from workers.memory.grep import Grep, GrepTool
from workers.memory.index_file import IndexFile
from workers.memory.indexing import sync
from workers.memory.router import Router

SCOPE = a_scope()


def while_swapping(swap: Callable[[], None], work: Callable[[], None]) -> None:
    over = threading.Event()

    def swapping() -> None:
        while not over.is_set():
            swap()

    thread = threading.Thread(target=swapping)
    thread.start()
    try:
        work()
    finally:
        over.set()
        thread.join()


def test_a_folder_that_turns_into_a_link_is_never_entered(tmp_path: Path) -> None:
    """The step in the middle of a path, not the file: a link to a folder outside that has a file of the same name."""
    root, outside = tmp_path / "root", tmp_path / "outside"
    (root / "sub").mkdir(parents=True)
    outside.mkdir()
    (outside / "a.txt").write_text("needle outside\n")
    (root / "sub" / "a.txt").write_text("needle inside\n")
    lines: set[str] = set()

    def swap() -> None:
        (root / "sub").rename(root / ".kept")
        (root / "sub").symlink_to(outside)
        (root / "sub").unlink()
        (root / ".kept").rename(root / "sub")

    def work() -> None:
        grep = Grep(root, SCOPE)
        lines.update(each.content for _ in range(800) for each in grep.search("needle").chunks)

    while_swapping(swap, work)
    assert lines <= {"needle inside"}


def test_an_index_never_has_what_a_swapped_link_shows(tmp_path: Path) -> None:
    root, outside = tmp_path / "root", tmp_path / "outside.txt"
    root.mkdir()
    outside.write_text("outsideword\n")
    (root / "a.txt").write_text("insideword\n")

    def swap() -> None:
        (root / ".link").symlink_to(outside)
        (root / ".link").replace(root / "a.txt")
        (root / ".link").write_text("insideword\n")
        (root / ".link").replace(root / "a.txt")

    file, clock = IndexFile(tmp_path / "index", SCOPE), FixedClock(NOW_MS)
    found: list[object] = []

    def work() -> None:
        for _ in range(60):
            sync(root, file, clock)
            found.extend(Bm25(file).search("outsideword", 10))

    while_swapping(swap, work)
    assert found == []


@pytest.mark.parametrize("name", [".env", ".env.local", "id_rsa_key", "api_key.txt", "passwords.md", "token.json"])  # fmt: skip
def test_files_for_credentials_are_in_no_channel(tmp_path: Path, name: str) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / name).write_text("needle\n")
    (root / "plain.txt").write_text("needle\n")
    assert [each.source_ref for each in Grep(root, SCOPE).search("needle").chunks] == ["plain.txt"]
    file = IndexFile(tmp_path / "index", SCOPE)
    assert sync(root, file, FixedClock(NOW_MS)).skipped == 1
    assert [each.chunk.source_ref for each in Bm25(file).search("needle", 9)] == ["plain.txt"]


PEM = "-----BEGIN PRIVATE KEY-----\nneedleMIIEvQIBADANBgkq\n-----END PRIVATE KEY-----\n"


def test_a_private_key_under_any_name_is_never_shown(tmp_path: Path) -> None:
    root = tmp_path / "root"
    root.mkdir()
    for name in ("server.pem", "notes.txt"):
        (root / name).write_text(f"about the server\n{PEM}")
    tool = GrepTool(Grep(root, SCOPE), FixedClock(NOW_MS))
    shown = repr(Router([tool], FixedClock(NOW_MS)).retrieve("needle", SCOPE))
    file = IndexFile(tmp_path / "index", SCOPE)
    sync(root, file, FixedClock(NOW_MS))
    shown += repr(Bm25(file).search("server", 9))
    assert "MIIEvQ" not in shown


def test_what_is_packed_is_not_opened(tmp_path: Path) -> None:
    """A bomb of 50 MB in 50 KB counts as a binary file, by its first bytes."""
    root = tmp_path / "root"
    root.mkdir()
    (root / "bomb.txt").write_bytes(gzip.compress(b"needle\n" * 7_000_000))
    (root / "nul.txt").write_bytes(b"needle\n\0needle\n")
    found = Grep(root, SCOPE).search("needle")
    assert (found.chunks, found.skipped) == ((), 2)
    file = IndexFile(tmp_path / "index", SCOPE)
    assert sync(root, file, FixedClock(NOW_MS)).passages == 0


def test_a_variable_of_another_program_changes_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """ripgrep would run what this file names; no program is started here that could read it."""
    marker, root = tmp_path / "marker", tmp_path / "root"
    root.mkdir()
    (tmp_path / "run.sh").write_text(f"#!/bin/sh\ntouch {marker}\n")
    (tmp_path / "run.sh").chmod(0o755)
    (tmp_path / "config").write_text(f"--pre={tmp_path / 'run.sh'}\n")
    monkeypatch.setenv("RIPGREP_CONFIG_PATH", str(tmp_path / "config"))
    (root / "a.txt").write_text("needle\n")
    assert len(Grep(root, SCOPE).search("needle").chunks) == 1
    assert not marker.exists()


@pytest.mark.parametrize(
    "query",
    [
        "(" * 500 + "alpha" + ")" * 500,
        '"' * 501 + "alpha",
        "alpha " + "OR " * 2000,
        "alpha\0beta",
        "ＡＬＰＨＡ alpha",
        " ".join(f"w{at}" for at in range(50_000)) + " alpha",
    ],
)
def test_a_monstrous_query_is_words(tmp_path: Path, query: str) -> None:
    shelf = Shelf(tmp_path)
    shelf.publish(a_memory("m", "alpha beta", SCOPE))
    shelf.index(SCOPE, {"doc": "alpha beta"})
    found = shelf.ask(query, SCOPE, tool_rounds=[["research-memory", "bm25"]])
    assert {each.reason for each in found.traces} == {"accepted"}


def test_a_secret_in_a_query_is_in_no_trace_and_no_code(tmp_path: Path) -> None:
    secret = "ghp_abcdefghijklmnopqrstuvwxyz0123456789"
    shelf = Shelf(tmp_path)
    shelf.index(SCOPE, {"doc": "alpha"})
    found = shelf.ask(f"alpha {secret}", SCOPE)
    assert found.evidence
    assert secret not in repr(found)
    refused = shelf.ask(secret, SCOPE, tool_rounds=[[secret]])
    assert refused.rejections == ("plan:manual_unknown_tool",)
    assert secret not in repr(refused)


def test_a_name_that_only_looks_like_a_tool_is_none(tmp_path: Path) -> None:
    """Cyrillic, full width, with a joiner, in other case, with a blank: none of them is the registered name."""
    shelf = Shelf(tmp_path)
    for name in ("bm2\u0435", "ｂｍ２５", "bm\u200d25", "BM25", "bm25 ", "bm25\n"):
        found = shelf.ask("alpha", SCOPE, tool_rounds=[[name]])
        assert found.rejections == ("plan:manual_unknown_tool",), name


def test_a_sibling_whose_name_begins_alike_is_another_folder(tmp_path: Path) -> None:
    for name in ("root", "root2"):
        (tmp_path / name).mkdir()
    (tmp_path / "root2" / "a.txt").write_text("needle\n")
    assert Grep(tmp_path / "root", SCOPE).search("needle").chunks == ()
