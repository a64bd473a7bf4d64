"""The checks of the report card find what is wrong, and nothing where nothing is."""

from typing import Any

import pytest
from msgspec.structs import replace
from signal_search.contracts.finding import Claim, Finding, Span, Uncertainty, Verdict
from signal_search.contracts.result import Result

from bench.answer_checks import (
    fabricated_citations,
    false_quotes,
    totals,
    unsupported_claims,
)
from tests.fakes.results import a_result, a_source

URL = "http://127.0.0.1:9/bridge.html"
QUOTE = "The bridge was opened in 1921."
PAGES = {URL: "Thebridgewasopenedin1921.Itislong."}
SOURCE = a_source(1, url=URL)
SPAN = Span(doc_id=SOURCE.doc_id, url=URL, start=0, end=len(QUOTE), quote=QUOTE)
CLAIM = Claim(text=QUOTE, verdict=Verdict.TRUE, reason="verbatim", supporting=(SPAN,))
REQUESTED = frozenset({"/bridge.html"})


def page(url: str) -> str:
    return PAGES.get(url, "")


def result(claim: Claim = CLAIM, **changes: Any) -> Result:
    finding = Finding(
        text=QUOTE, question_id="q1", question="", claims=(claim,), citations=(1,), confidence=0.5
    )
    sound = a_result(
        answer=f"**Answer**: {QUOTE} [1]", findings=(finding,), sources=(SOURCE,), conflicts=(), uncertainties=()
    )  # fmt: skip
    return replace(sound, **changes)


def test_a_sound_answer_has_no_faults() -> None:
    assert fabricated_citations(result(), REQUESTED, page) == []
    assert false_quotes(result(), page) == []
    assert unsupported_claims(result(), page) == []


@pytest.mark.parametrize(
    "changes",
    [
        {"sources": ()},
        {"sources": (SOURCE, a_source(2, url=URL))},
        {"sources": (a_source(1, url="http://127.0.0.1:9/other.html"),)},
        {"sources": (replace(SOURCE, doi="10.1000/made-up"),)},
        {"answer": f"{QUOTE} [1][7]"},
    ],
)
def test_a_citation_that_is_made_up_is_found(changes: dict[str, Any]) -> None:
    assert fabricated_citations(result(**changes), REQUESTED, page)


def test_a_page_that_was_not_requested_is_no_source() -> None:
    assert fabricated_citations(result(), frozenset(), page)


def test_a_quote_that_is_not_on_its_page_is_found() -> None:
    changed = replace(SPAN, quote="The bridge was opened in 1925.")
    made_up = replace(CLAIM, supporting=(changed,))
    assert false_quotes(result(made_up), page) == ["The bridge was opened in 1925."]
    assert unsupported_claims(result(made_up), page) == [QUOTE]


@pytest.mark.parametrize(
    "text", ["The bridge was opened in 1925.", "Railways carried whole villages across mountains."]
)
def test_a_claim_that_its_quote_does_not_carry_is_found(text: str) -> None:
    assert unsupported_claims(result(replace(CLAIM, text=text)), page) == [text]


def test_a_claim_without_a_quote_is_unsupported_and_an_open_one_must_be_named() -> None:
    assert unsupported_claims(result(replace(CLAIM, supporting=())), page)
    unsettled = replace(CLAIM, verdict=Verdict.UNCERTAIN)
    assert unsupported_claims(result(unsettled), page)
    named = (Uncertainty(text=QUOTE, reason="no source"),)
    assert unsupported_claims(result(unsettled, uncertainties=named), page) == []


def test_totals_add_numbers_and_count_lists() -> None:
    rows = [
        {"question": "a", "hit": True, "wrong": ["x", "y"], "tokens": 5},
        {"question": "b", "hit": False, "wrong": [], "tokens": 7},
    ]
    assert totals(rows) == {"n": 2, "hit": 1, "wrong": 2, "tokens": 12}
    assert totals([]) == {"n": 0}
