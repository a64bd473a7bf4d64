"""A result on the terminal: order, marks, and exit codes."""

import pytest
from signal_search.cli.render import ending, lines_of
from signal_search.cli.terminal import exit_code, printable
from signal_search.cli.texts import Texts
from signal_search.contracts.result import SourceOutcome, StopReason
from signal_search.errors import Busy, Failed, Invalid, SignalSearchError, Unauthorized

from tests.fakes.results import a_result, a_stop, nothing_reached


def shown(result: object, lang: str = "en") -> str:
    return "\n".join(line.text for line in lines_of(result, Texts(lang)))


def test_the_answer_comes_first_and_everything_is_shown() -> None:
    text = shown(a_result(exhausted=True))
    assert text.startswith("WAL appends changes to a log [1].")
    wanted = [
        "Findings\n  • WAL appends to a log [1][3] (0.80)\n      ✓ WAL appends — written there\n      ✗ WAL is slow — refuted\n      ? WAL is new — no date\n",
        "Conflicts\n  default\n      0.81  WAL is on",
        "Open and uncertain\n  ? Since when — no source says\n",
        "Sources\n  [1] The Ekman layer & 50% of $US_dollars: {a} DNA study (academic, 1996-12-01, weight 0.8125)\n",
        "[2] Attention Is All You Need (academic, 2017-06, weight 0.5000, RETRACTED)\n      https://arxiv.org/abs/1706.03762\n",
        "Warnings\n  one source is a preprint\n",
        "Confidence: 0.76 — two independent sites agree\nStopped: sources repeat themselves (saturated)\nThe budget or the deadline ended first; coverage may be incomplete.\nSpent: 1200 tokens (estimated), 3 calls, 5 fetches, 40960 bytes, 2 rounds\nJob job_0001, tier L1",
    ]
    positions = [text.find(part) for part in wanted]
    assert -1 not in positions
    assert positions == sorted(positions)


def test_sources_without_trouble_are_not_lamented() -> None:
    assert "trouble" not in shown(a_result())


def test_a_source_of_which_the_constraints_left_nothing_is_named() -> None:
    outcome = SourceOutcome(source_id="memory", state="filtered", documents=2)
    told = "memory: it answered; your constraints left nothing of it"
    assert told in shown(a_result(source_outcomes=(outcome,)))


def test_a_source_with_trouble_is_named_with_its_reason() -> None:
    outcome = SourceOutcome(
        source_id="arxiv", state="failed", reason="suspended", until="2026-09-21T14:00:00Z"
    )
    assert (
        "Sources with trouble:\n  arxiv: suspended after repeated failures; not before 2026-09-21T14:00:00Z"
        in shown(a_result(source_outcomes=(outcome,)))
    )


def test_nothing_reached_says_so_in_both_languages() -> None:
    assert "No source could be reached:\n  arxiv: could not connect (connection refused)" in shown(
        nothing_reached()
    )
    chinese = shown(nothing_reached(), "zh")
    assert chinese.startswith("没有答案")
    assert "没有任何来源可以访问：\n  arxiv: 无法连接 (connection refused)" in chinese


@pytest.mark.parametrize(
    ("reason", "exhausted", "code"),
    [
        (StopReason.SATURATED, False, 0),
        (StopReason.NO_EVIDENCE, False, 0),
        (StopReason.DEADLINE, True, 3),
        (StopReason.NO_SOURCE_REACHED, False, 4),
        (StopReason.NO_SOURCE_REACHED, True, 4),
        (StopReason.CANCELLED, True, 1),
    ],
)
def test_the_exit_code_tells_how_it_ended(reason: StopReason, exhausted: bool, code: int) -> None:
    assert ending(a_result(stop=a_stop(reason, exhausted=exhausted), exhausted=exhausted)) == code


@pytest.mark.parametrize(
    ("error", "code"),
    [
        (Invalid(), 2),
        (Unauthorized(), 1),
        (Busy(), 1),
        (Failed(), 1),
        (Failed(code="no_source_reached"), 4),
    ],
)
def test_the_exit_code_of_an_error(error: SignalSearchError, code: int) -> None:
    assert exit_code(error) == code


def test_no_escape_sequence_reaches_a_terminal() -> None:
    assert printable("a\x1b]0;x\x07\x9b31m\tb\n中") == "a]0;x31m\tb\n中"
