"""What the model wrote is read strictly; what one generation may use is added up by hand."""

import contextlib
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from signal_search.errors import TooLarge

from scoring.generation.allowance import Allowance
from scoring.generation.draft import BadDraft, Declined, Draft, read_draft

SCORER = {"language": "qatlas-expr-v1", "filter": "true", "score": "lexical"}


def said(**changes: Any) -> str:
    return json.dumps({"scorer": SCORER, "summary": "S", "warnings": ["w"], **changes})


def test_a_whole_draft() -> None:
    draft = read_draft(said())
    assert isinstance(draft, Draft)
    assert (draft.scorer.score, draft.summary, draft.warnings) == ("lexical", "S", ("w",))


def test_a_filter_and_warnings_may_be_absent() -> None:
    text = json.dumps({"scorer": {"language": "qatlas-expr-v1", "score": "1"}, "summary": "S"})
    draft = read_draft(text)
    assert isinstance(draft, Draft)
    assert (draft.scorer.filter, draft.warnings) == ("true", ())


@pytest.mark.parametrize("fence", ["```json\n{}\n```", "```\n{}```", "  ```JSON \r\n{}\r\n```  \n"])
def test_one_fence_is_taken_off(fence: str) -> None:
    assert isinstance(read_draft(fence.replace("{}", said())), Draft)


def test_limits_hold_exactly() -> None:
    draft = read_draft(said(summary="s" * 2000, warnings=["w" * 500] * 8))
    assert isinstance(draft, Draft)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "lexical",
        "[]",
        "null",
        said() + said(),
        "```json\n" + said(),
        said(extra=1),
        said(summary=""),
        said(summary=" "),
        said(summary=None),
        said(summary="s" * 2001),
        said(warnings=None),
        said(warnings=["w"] * 9),
        said(warnings=["w" * 501]),
        said(warnings=[""]),
        said(warnings=["\t"]),
        said(warnings=[1]),
        said(scorer=[]),
        said(scorer={**SCORER, "language": "qatlas-expr-v2"}),
        said(scorer={**SCORER, "filter": None}),
        said(scorer={**SCORER, "weights": {}}),
        said(scorer={"language": "qatlas-expr-v1"}),
        json.dumps({"status": "ok", "message": "m"}),
        json.dumps({"status": "clarification"}),
        json.dumps({"status": "clarification", "message": " "}),
        json.dumps({"status": "clarification", "message": "m", "scorer": SCORER}),
        "[" * 100_000,
    ],
)
def test_anything_else_is_a_bad_draft(text: str) -> None:
    with pytest.raises(BadDraft):
        read_draft(text)


@pytest.mark.parametrize("status", ["clarification", "unsupported_requirements"])
def test_the_model_may_decline(status: str) -> None:
    assert read_draft(json.dumps({"status": status, "message": "m"})) == Declined(
        status=status,
        message="m",  # type: ignore[arg-type]
    )


@given(st.text() | st.recursive(st.none() | st.booleans() | st.text(), st.lists).map(json.dumps))
def test_no_text_breaks_the_reader(text: str) -> None:
    with contextlib.suppress(BadDraft):
        read_draft(text)


def test_two_calls_of_one_allowance() -> None:
    """1000 + 256 + 64 = 1320, then 2000 + 256 + 64 = 2320: 3640 together."""
    allowance = Allowance(3640)
    assert (allowance.reserve(1000, 64), allowance.reserve(2000, 64)) == (1320, 2320)
    with pytest.raises(TooLarge):
        allowance.reserve(0, 0)


def test_one_token_too_few() -> None:
    allowance = Allowance(1319)
    with pytest.raises(TooLarge):
        allowance.reserve(1000, 64)
    assert allowance.reserved == 0


def test_what_was_reported_counts_when_it_is_more_than_was_reserved() -> None:
    allowance = Allowance(5000)
    allowance.reserve(1000, 64)
    allowance.report(4000)
    allowance.check()
    with pytest.raises(TooLarge):
        allowance.reserve(1000, 64)  # 4000 + 1320


def test_more_than_the_total_is_not_gone_on_with() -> None:
    allowance = Allowance(1000)
    allowance.report(1000)
    allowance.check()
    allowance.report(1)
    with pytest.raises(TooLarge):
        allowance.check()
    assert allowance.reported == 1001


@given(
    st.integers(1024, 65_536),
    st.lists(st.tuples(st.integers(0, 20_000), st.integers(64, 4096), st.integers(0, 30_000))),
)
def test_no_call_is_begun_that_could_go_beyond_the_total(
    total: int, calls: list[tuple[int, int, int]]
) -> None:
    """Reserved is what the calls that were begun may use at most; reported is what they did use, and may lie."""
    allowance = Allowance(total)
    begun, told = 0, 0
    for message_bytes, output, reported in calls:
        cost = message_bytes + 256 + output
        fits = max(begun, told) + cost <= total
        try:
            assert allowance.reserve(message_bytes, output) == cost
        except TooLarge:
            assert not fits
            continue
        assert fits
        begun += cost
        told += reported
        allowance.report(reported)
        assert begun <= total
    assert (allowance.reserved, allowance.reported) == (begun, told)
