"""From a stopped job to its result: pure, and made of exactly what was known at the decision."""

from typing import Any

import msgspec
import pytest
from signal_search.contracts.document import Document
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.result import Result, StopReason
from signal_search.contracts.trace import Entry
from signal_search.errors import Broken

from infra.settings import load
from tests.fakes.builders import a_document, a_log, finished, queued, started, stopped
from workers.pipeline.publish import publish
from workers.pipeline.rules import snapshot
from workers.pipeline.state import fold

RULES = snapshot(load())
CALLS = tuple(
    PlannedCall(id=f"q1.{name}", source_id=name, question_id="q1")
    for name in ("one", "two", "three")
)
DOCUMENTS = {
    each.doc_id: each
    for each in (
        a_document(
            doc_id="a",
            url="https://atlas.org/ansel",
            site="atlas.org",
            text="Mount Ansel is 2,114 metres high. It was first climbed in 1903.",
        ),
        a_document(
            doc_id="b",
            url="https://survey.gov/ansel",
            site="survey.gov",
            source_type="gov",
            text="The survey of 2001 found that Mount Ansel is 2,114 metres high.",
        ),
        a_document(
            doc_id="c",
            url="https://guide.net/ansel",
            site="guide.net",
            text="How high is Mount Ansel? Our guides say that Mount Ansel is a high peak of 2,114 metres.",
        ),
        a_document(
            doc_id="tea",
            url="https://tea.org/",
            site="tea.org",
            title="Tea",
            text="Green tea is grown on terraces.",
        ),
    )
}
ASKED = [
    *(started(each.id, 1) for each in CALLS),
    *(queued(f"{each.id}#1") for each in CALLS),
    finished("q1.one#1", "a", tokens=16, bytes=900),
    finished("q1.two#1", "b", tokens=15, bytes=700, paid=False),
    finished("q1.three#1", "c", "tea", tokens=30, bytes=800),
]
ALL = ("a", "b", "c", "tea")


def published(*entries: Entry, documents: dict[str, Document] | None = None, **plan: Any) -> Result:
    log = a_log(*entries, **{"calls": CALLS, **plan})
    return publish(fold(log), DOCUMENTS if documents is None else documents, RULES)


def encoded(result: Result) -> bytes:
    return msgspec.json.encode(result)


def test_the_same_log_and_documents_give_the_same_bytes() -> None:
    first = published(*ASKED, stopped(*ALL))
    backwards = dict(reversed(DOCUMENTS.items()))
    assert encoded(published(*ASKED, stopped(*ALL), documents=backwards)) == encoded(first)
    assert first.findings


def test_what_came_after_the_decision_does_not_matter() -> None:
    asked = [each for each in ASKED if each.key != "q1.three#1:finished"]
    before = published(*asked, stopped("a", "b"))
    late = [finished("q1.three#1", "c", tokens=999), queued("q1.three#1.1"), stopped("c")]
    assert encoded(published(*asked, stopped("a", "b"), *late)) == encoded(before)
    assert before.token_used == 31


def test_references_are_exactly_what_is_cited_numbered_in_order_of_first_citation() -> None:
    result = published(*ASKED, stopped(*ALL))
    own = list(dict.fromkeys(each.citations[0] for each in result.findings))
    assert own == list(range(1, len(result.sources) + 1))
    assert {n for each in result.findings for n in each.citations} == set(own)
    assert [each.number for each in result.sources] == own
    assert [each.doc_id for each in result.scores] == [each.doc_id for each in result.sources]
    assert "tea" not in {each.doc_id for each in result.sources}


def test_every_quoted_span_is_in_its_document() -> None:
    result = published(*ASKED, stopped(*ALL))
    spans = [
        span
        for finding in result.findings
        for claim in finding.claims
        for span in (*claim.supporting, *claim.contradicting)
    ]
    assert spans
    for span in spans:
        raw = DOCUMENTS[span.doc_id].text.encode()
        assert raw[span.start : span.end].decode() == span.quote


@pytest.mark.parametrize("evidence", [(), ("tea",), ("gone",)])
def test_without_evidence_nothing_is_claimed(evidence: tuple[str, ...]) -> None:
    result = published(*ASKED, stopped(*evidence, reason=StopReason.NO_EVIDENCE, coverage=0.0))
    assert (result.findings, result.sources, result.scores, result.conflicts) == ((), (), (), ())
    assert (result.confidence, result.answer) == (0.0, "")
    assert (result.claims_total, result.faithfulness) == (0, None)
    assert [each.reason for each in result.uncertainties] == ["no_evidence_for_question"]


@pytest.mark.parametrize("most", [1, 2, 3])
def test_no_more_sources_than_allowed_are_cited(most: int) -> None:
    result = published(*ASKED, stopped(*ALL), max_sources=most)
    assert len(result.sources) == most
    assert {n for each in result.findings for n in each.citations} == set(range(1, most + 1))


def test_usage_is_what_the_log_says() -> None:
    usage = published(*ASKED, stopped(*ALL)).usage
    assert (usage.tokens, usage.calls, usage.fetches, usage.bytes) == (61, 3, 2, 1700)
    assert usage.by_source["two"] == {"calls": 1, "fetches": 0, "bytes": 0, "documents": 1}


def test_a_source_that_was_asked_in_vain_is_told_from_one_that_was_filtered() -> None:
    states = {
        each.source_id: each.state for each in published(*ASKED, stopped("a")).source_outcomes
    }
    assert states == {"one": "answered", "two": "filtered", "three": "filtered"}


def test_the_trace_begins_at_submission_and_ends_with_the_decision() -> None:
    trace = published(*ASKED, stopped(*ALL)).trace
    assert (trace[0].name, trace[0].t_ms) == ("submitted", 0)
    assert (trace[-1].name, trace[-1].data["reason"]) == ("stopped", "plan_complete")
    assert len(trace) == 2 + len(ASKED) + 1


def test_a_job_that_has_not_stopped_has_no_result() -> None:
    with pytest.raises(Broken):
        published(*ASKED)
