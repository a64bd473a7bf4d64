"""An injected judge is asked only where the rules cannot tell, and never has the last word on TRUE."""

from collections.abc import Callable

import pytest
from signal_search.contracts.document import Document
from signal_search.contracts.finding import Claim, Span, Verdict
from signal_search.errors import Failed

from scoring.claims.opinion import Judge
from scoring.claims.rules import VerifyRules
from scoring.claims.verdict import verify


def _verdict(claim: str, evidence: str, judge: Judge) -> Claim:
    document = Document(
        doc_id="a",
        url="https://a.example/",
        title="",
        text=evidence,
        source_id="s",
        site="a.example",
        fetched_at_ms=0,
    )
    return verify(claim, [document], own_doc_ids={"a"}, rules=VerifyRules(), judge=judge)


def _yes(claim: str, span: Span) -> tuple[Verdict, str]:
    return Verdict.TRUE, "the model agrees"


def _raising(error: Exception) -> Judge:
    def judge(claim: str, span: Span) -> tuple[Verdict, str]:
        raise error

    return judge


PARAPHRASE = (
    "The bridge was finished by Landowski in 1931.",
    "Landowski completed the bridge, in 1931, after nine years.",
)


def test_a_paraphrase_is_the_judges_to_decide() -> None:
    claim = _verdict(*PARAPHRASE, _yes)
    assert (claim.verdict, claim.reason) == (Verdict.TRUE, "the model agrees")
    assert claim.supporting[0].quote == PARAPHRASE[1]


def test_a_judge_may_refute() -> None:
    claim = _verdict(*PARAPHRASE, lambda _claim, _span: (Verdict.FALSE, "it was another"))
    assert (claim.verdict, claim.reason, len(claim.contradicting)) == (
        Verdict.FALSE,
        "it was another",
        1,
    )


@pytest.mark.parametrize(
    ("claim", "evidence", "veto"),
    [
        (
            "The bridge was finished by Landowski in 1931.",
            "Landowski completed the bridge, in 1934, after nine years.",
            "number_conflict",
        ),
        (
            "The bridge was finished by Landowski in 1931.",
            "Landowski completed the bridge after nine long years.",
            "number_missing",
        ),
        (
            "The bridge was finished by Landowski early on.",
            "Landowski never completed the bridge, or not early.",
            "negation_differs",
        ),
        (
            "The great bridge was finished by Paul Landowski.",
            "Landowski completed the great bridge with his sons.",
            "name_missing",
        ),
        (
            "The bridge was surely finished by Landowski.",
            "It is a common misconception that Landowski completed the bridge.",
            "debunked",
        ),
        (
            "The bridge was surely finished by Landowski.",
            "Landowski might have completed the bridge.",
            "modality_differs",
        ),
        (
            "Only Landowski finished the great bridge.",
            "Landowski completed the great bridge with others.",
            "exclusive_unsupported",
        ),
    ],
)
def test_guards_veto_a_judges_true(claim: str, evidence: str, veto: str) -> None:
    found = _verdict(claim, evidence, _yes)
    assert (found.verdict, found.reason) == (Verdict.UNCERTAIN, f"vetoed_{veto}")
    assert found.supporting == ()


@pytest.mark.parametrize(
    ("judge", "reason"),
    [
        (_raising(Failed()), "judge_failed"),
        (_raising(TimeoutError()), "judge_failed"),
        (_raising(ConnectionError()), "judge_failed"),
        (lambda _claim, _span: ("MAYBE", ""), "judge_invalid"),
        (lambda _claim, _span: None, "judge_invalid"),
    ],
)
def test_failure_is_uncertain_never_false(judge: Callable[..., object], reason: str) -> None:
    claim = _verdict(*PARAPHRASE, judge)  # type: ignore[arg-type]
    assert (claim.verdict, claim.reason) == (Verdict.UNCERTAIN, reason)
    assert claim.supporting == claim.contradicting == ()


def test_the_judge_is_not_asked_what_the_rules_know() -> None:
    asked: list[str] = []

    def judge(claim: str, span: Span) -> tuple[Verdict, str]:
        asked.append(claim)
        return Verdict.TRUE, ""

    assert _verdict("UDP is reliable.", "UDP is not reliable.", judge).verdict is Verdict.FALSE
    assert _verdict("UDP is fast.", "UDP is fast.", judge).verdict is Verdict.TRUE
    assert _verdict("UDP is fast.", "The dose was 5 mg.", judge).reason == "no_source"
    assert asked == []
