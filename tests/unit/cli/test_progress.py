"""Progress: one line per entry worth one, and a live board whose waits count down."""

import io

import pytest
from msgspec import structs
from rich.console import Console
from signal_search.cli.progress import Board, describe, showing
from signal_search.cli.terminal import Terminal
from signal_search.cli.texts import Texts
from signal_search.client import Update
from signal_search.contracts.trace import CallStarted, Expanded, FetchFinished, FetchQueued

from tests.fakes.wire_gateway import WireGateway, a_log

LINES = [
    "submitted: job_0001",
    "planned: tier L1, 1 questions, 1 calls",
    "not asked: nowhere: not configured",
    "waiting 14 s for export.arxiv.org",
    "fetched https://export.arxiv.org/api/query?q=a b (1 documents)",
    "round 1: 1 documents, coverage 1.00, saturation 0.50",
    "stopping: sources repeat themselves",
    "job succeeded",
]


def test_entries_become_lines() -> None:
    assert [describe(entry, Texts("en")) for entry in a_log()] == LINES


def test_entries_become_chinese_lines() -> None:
    assert describe(a_log()[3], Texts("zh")) == "等待 14 秒：export.arxiv.org"


def test_what_is_not_worth_a_line_has_none() -> None:
    texts = Texts("en")
    (queued,) = [entry for entry in a_log() if isinstance(entry, FetchQueued)]
    assert describe(structs.replace(queued, ready_in_ms=0), texts) == ""
    assert (
        describe(CallStarted(at_ms=0, key="k", call_id="c", source_id="s", fetches=()), texts) == ""
    )
    assert describe(None, texts) == ""


def test_a_missed_fetch_says_why() -> None:
    missed = FetchFinished(
        at_ms=0,
        key="k",
        fetch_id="f",
        call_id="c",
        url="https://a.org/",
        state="skipped",
        reason="robots",
        detail="Disallow: /",
    )
    assert (
        describe(missed, Texts("en"))
        == "no reply used from https://a.org/: robots.txt forbids it (Disallow: /)"
    )


def test_a_further_round_says_why() -> None:
    assert (
        describe(Expanded(at_ms=0, key="k", round=2, calls=(), why="gap"), Texts("en"))
        == "round 2: 0 more calls (gap)"
    )


def test_the_board_counts_down_between_updates() -> None:
    now = [100.0]
    board = Board(Texts("en"), lambda: now[0])
    console = Console(file=io.StringIO(), width=120)
    for entry in a_log()[:5]:
        board.show(Update(WireGateway().job(), entry, "1-0"))
    now[0] = 104.0
    console.print(board)
    text = console.file.getvalue()
    assert "succeeded  4 s" in text
    assert "calls 2/4, fetches 3 done, 1 queued, 0 refused, documents 2" in text
    assert "round 1: 2 documents, coverage 0.50, saturation 0.25" in text
    assert "calls: 2 used, 3 left" in text
    assert "Waiting for export.arxiv.org" in text
    assert "at least 10 s of fetching ahead" in text
    assert LINES[4] in text
    assert LINES[0] not in text  # only the last three


def test_plain_lines_without_a_terminal(capsys: pytest.CaptureFixture[str]) -> None:
    with showing(Terminal(), wanted=True) as show:
        for entry in a_log():
            show(Update(WireGateway().job(), entry, ""))
    captured = capsys.readouterr()
    assert captured.err.splitlines() == LINES
    assert captured.out == ""


def test_silence_on_request(capsys: pytest.CaptureFixture[str]) -> None:
    with showing(Terminal(), wanted=False) as show:
        show(Update(WireGateway().job(), a_log()[0], ""))
    assert capsys.readouterr().err == ""


def test_the_live_display_on_a_terminal() -> None:
    terminal = Terminal()
    terminal.err = Console(file=io.StringIO(), force_terminal=True, width=120, color_system=None)
    with showing(terminal, wanted=True) as show:
        show(Update(WireGateway().job(), a_log()[0], ""))
    assert "calls 2/4" in terminal.err.file.getvalue()
