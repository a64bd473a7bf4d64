"""What answers change in a result, and what they never can: each against the same job without them."""

from typing import Any

import jsonschema_rs
import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_search.contracts.delegation import (
    ANSWERS,
    ConflictCheck,
    Delegation,
    DoiResolve,
    Entail,
    Execute,
    Question,
    RelevanceJudge,
    Shown,
)
from signal_search.contracts.document import Author
from signal_search.contracts.finding import Span, Verdict
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Result
from signal_search.contracts.trace import Delegated, DelegationAnswered, DelegationLapsed, Entry
from signal_search.errors import JudgeFailed, JudgeTimedOut

from infra.settings import load
from scoring.claims.opinion import NoOpinion
from tests.fakes.builders import NOW_MS, a_document, a_log, finished, queued, started, stopped
from workers.pipeline.answer_questions import questions_of
from workers.pipeline.answer_schema import kind_of, schema_of
from workers.pipeline.draft import drafted, evidence_of
from workers.pipeline.judges import Collector, Recorded, pair_of, read_verdicts
from workers.pipeline.publish import publish
from workers.pipeline.rules import snapshot
from workers.pipeline.state import JobView, fold

RULES = snapshot(load())
NAMES = ("one", "two", "three")
CALLS = tuple(PlannedCall(id=f"q1.{name}", source_id=name, question_id="q1") for name in NAMES)
DOCUMENTS = {
    each.doc_id: each
    for each in (
        a_document(
            doc_id="a",
            url="https://atlas.org/ansel",
            site="atlas.org",
            title="The height of Mount Ansel",
            authors=(Author(family="Weir", given="Paul"), Author(family="Lind")),
            text="Mount Ansel is 2,114 metres high. It was first climbed in 1903.",
        ),
        a_document(
            doc_id="b",
            url="https://survey.gov/ansel",
            site="survey.gov",
            source_type="gov",
            text="The survey says that Mount Ansel is the highest of all, 2,241 metres high.",
        ),
        a_document(
            doc_id="c",
            url="https://code.dev/ansel",
            site="code.dev",
            text="The call height('Mount Ansel') returns 2114 as how high Mount Ansel is.",
        ),
    )
}
ENTRIES = [
    *(started(each.id, 1) for each in CALLS),
    *(queued(f"{each.id}#1") for each in CALLS),
    *(finished(f"q1.{name}#1", doc) for name, doc in zip(NAMES, "abc", strict=True)),
    stopped("a", "b", "c"),
]


def view_of(*entries: Entry, **plan: Any) -> JobView:
    return fold(a_log(*ENTRIES, *entries, calls=CALLS, **plan))


def published(*entries: Entry, **plan: Any) -> Result:
    return publish(view_of(*entries, **plan), DOCUMENTS, RULES)


def questions(**plan: Any) -> dict[str, Question]:
    view = view_of(**plan)
    heard = Collector(40)
    draft = drafted(view, evidence_of(view, DOCUMENTS), RULES, heard)
    return questions_of(view.require()[0], draft, heard, 40)


def asked(name: str, question: Question) -> Delegated:
    delegation = Delegation(
        id=name,
        kind=kind_of(question),
        question=question,
        answer_schema=schema_of(question),
        deadline_ms=NOW_MS + 60_000,
    )
    return Delegated(at_ms=NOW_MS + 10, key=f"{name}:asked", delegation=delegation)


def answered(name: str, question: Question, **answer: Any) -> tuple[Delegated, DelegationAnswered]:
    assert jsonschema_rs.validator_for(dict(schema_of(question))).is_valid(answer)
    end = DelegationAnswered(
        at_ms=NOW_MS + 11,
        key=f"{name}:closed",
        delegation_id=name,
        kind=kind_of(question),
        answer=answer,
    )
    return asked(name, question), end


def test_the_documents_leave_something_to_ask():
    found = questions(tier=Tier.L3)
    kinds = {"conflict_check", "doi_resolve", "execute", "relevance_judge.q1", "agent_task.q1"}
    assert kinds <= found.keys()
    assert "agent_task.q1" not in questions(tier=Tier.L2)


def test_a_resolved_doi_is_attached_when_its_record_is_the_work():
    question = questions()["doi_resolve"]
    assert isinstance(question, DoiResolve)
    assert [each.title for each in question.works] == ["The height of Mount Ansel"]
    right = {
        "doi": "10.1000/Ansel",
        "title": "The Height of Mount Ansel.",
        "authors": ["weir", "LIND"],
    }
    result = published(*answered("doi_resolve", question, works=[right]))
    assert {each.doc_id: each.doi for each in result.sources}["a"] == "10.1000/ansel"
    for wrong in (
        {**right, "title": "The height of another mountain"},
        {**right, "authors": ["Smith"]},
        {**right, "doi": "see our shop"},
        None,
    ):
        result = published(*answered("doi_resolve", question, works=[wrong]))
        assert not any(each.doi for each in result.sources)


def test_a_judged_conflict_is_added_between_cited_passages():
    question = questions()["conflict_check"]
    assert isinstance(question, ConflictCheck)
    before = published()
    opinions = ["contradict"] * len(question.pairs)
    result = published(*answered("conflict_check", question, opinions=opinions))
    judged = [each for each in result.conflicts if each.kind == "judged"]
    assert judged
    cited = {each.doc_id for each in result.sources}
    for each in judged:
        assert {each.stronger.doc_id, each.weaker.doc_id} <= cited
        assert each.stronger_weight >= each.weaker_weight
    assert [each for each in result.conflicts if each.kind != "judged"] == list(before.conflicts)


def test_no_opinion_removes_a_conflict_of_the_rules():
    question = questions()["conflict_check"]
    assert isinstance(question, ConflictCheck)
    opinions = ["agree"] * len(question.pairs)
    result = published(*answered("conflict_check", question, opinions=opinions))
    assert result.conflicts == published().conflicts


@pytest.mark.parametrize(
    ("run", "verdict", "reason"),
    [
        ({"ran": False}, Verdict.UNCERTAIN, "needs_execution"),
        ({"ran": True, "agrees": False}, Verdict.UNCERTAIN, "execution_disagrees"),
        ({"ran": True, "agrees": True, "output": "2114"}, Verdict.TRUE, "verbatim_in_source"),
    ],
)
def test_a_claim_about_code_holds_when_it_was_run(
    run: dict[str, Any], verdict: Verdict, reason: str
):
    question = questions()["execute"]
    assert isinstance(question, Execute)
    assert [each.code for each in question.snippets] == ["height('Mount Ansel')"]
    result = published(*answered("execute", question, runs=[run]))
    [claim] = [c for each in result.findings for c in each.claims if "height(" in c.text]
    assert (claim.verdict, claim.reason) == (verdict, reason)


def test_without_a_run_in_time_code_is_left_open():
    question = questions()["execute"]
    lapsed = DelegationLapsed(
        at_ms=NOW_MS + 99,
        key="execute:closed",
        delegation_id="execute",
        kind=kind_of(question),
        reason="deadline",
    )
    result = published(asked("execute", question), lapsed)
    [claim] = [c for each in result.findings for c in each.claims if "height(" in c.text]
    assert (claim.verdict, claim.reason) == (Verdict.UNCERTAIN, "needs_execution")
    assert result.degradations[-1] == "delegation execute: deadline"
    assert "needs_execution" in {each.label for each in result.findings}


def test_when_everything_is_irrelevant_the_answer_is_empty_and_says_what_was_held_back():
    question = questions()["relevance_judge.q1"]
    assert isinstance(question, RelevanceJudge)
    result = published(*answered("relevance_judge.q1", question, relevant=[]))
    assert (result.findings, result.sources, result.confidence, result.answer) == ((), (), 0.0, "")
    held = [each for each in result.uncertainties if each.reason == "judged_irrelevant"]
    assert len(held) == len(question.passages)


def test_answers_to_what_was_never_asked_change_nothing():
    stray = DelegationAnswered(
        at_ms=NOW_MS + 11,
        key="x:closed",
        delegation_id="relevance_judge.q1",
        kind=kind_of(questions()["relevance_judge.q1"]),
        answer={"relevant": []},
    )
    assert published(stray).findings == published().findings


# --- judges -----------------------------------------------------------------------------------------------------------


SPAN = Span(doc_id="a", url="https://a.test/", start=0, end=3, quote="It.")


def test_a_recorded_judge_repeats_what_it_said_and_has_no_other_opinion():
    judge = Recorded((pair_of("c", SPAN),), (Verdict.TRUE,))
    assert judge("c", SPAN) == (Verdict.TRUE, "")
    with pytest.raises(NoOpinion):
        judge("another claim", SPAN)


@pytest.mark.parametrize(
    ("error", "raised"),
    [
        ("generation_timeout", JudgeTimedOut),
        ("deadline", JudgeTimedOut),
        ("model_response_invalid", ValueError),
        ("model_error", JudgeFailed),
        ("model_unavailable", JudgeFailed),
    ],
)
def test_a_judge_without_verdicts_says_why(error: str, raised: type[Exception]):
    with pytest.raises(raised):
        Recorded((pair_of("c", SPAN),), (), error)("c", SPAN)


def test_a_late_judge_leaves_its_claims_open_with_that_reason():
    question = Entail(pairs=questions()["entail"].pairs)  # type: ignore[union-attr]
    lapsed = DelegationLapsed(
        at_ms=NOW_MS + 99,
        key="entail:closed",
        delegation_id="entail",
        kind=kind_of(question),
        reason="deadline",
    )
    before = {c.text: c.verdict for each in published().findings for c in each.claims}
    result = published(asked("entail", question), lapsed)
    after = {c.text: c for each in result.findings for c in each.claims}
    assert {text: each.verdict for text, each in after.items()} == before


@pytest.mark.parametrize(
    ("text", "count", "found"),
    [
        ('{"verdicts": ["TRUE", "FALSE"]}', 2, (Verdict.TRUE, Verdict.FALSE)),
        ('```json\n{"verdicts": ["UNCERTAIN"]}\n```', 1, (Verdict.UNCERTAIN,)),
        ('{"verdicts": ["TRUE"]}', 2, ()),
        ('{"verdicts": ["true"]}', 1, ()),
        ('{"verdicts": ["TRUE"], "why": "x"}', 1, ()),
        ("TRUE", 1, ()),
        ("[" * 10_000, 1, ()),
        ("", 0, ()),
    ],
)
def test_verdicts_are_read_strictly(text: str, count: int, found: tuple[Verdict, ...]):
    assert read_verdicts(text, count) == found


# --- schemas ----------------------------------------------------------------------------------------------------------


PASSAGES = tuple(Shown(number=n, url="", text=str(n)) for n in (1, 2, 3))
RELEVANCE = RelevanceJudge(question="q", passages=PASSAGES)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-2, 9) | st.sampled_from(["TRUE", "L1", "x", ""]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["relevant", "verdicts", "x"]), inner, max_size=2)
    ),
    max_leaves=6,
)


@settings(max_examples=200)
@given(st.dictionaries(st.sampled_from(["relevant", "x"]), JSON, max_size=2))
def test_what_the_schema_takes_is_numbers_of_passages_each_once(answer: dict[str, Any]):
    said = answer.get("relevant")
    expected = (
        answer.keys() == {"relevant"}
        and isinstance(said, list)
        and all(type(each) is int and each in {1, 2, 3} for each in said)
        and len(set(said)) == len(said)
    )
    validator = jsonschema_rs.validator_for(dict(schema_of(RELEVANCE)))
    assert validator.is_valid(answer) == expected
    if expected:
        msgspec.convert(answer, ANSWERS[kind_of(RELEVANCE)])
