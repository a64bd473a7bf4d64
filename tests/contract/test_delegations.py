"""Delegations in the walk of a real job: what is asked, answered, left unanswered, and what it may change.

The job runs over the real store with every worker in this process; its caller answers by the desk, as over HTTP.
"""

from typing import Any

import jsonschema_rs
import msgspec
import pytest
from signal_search.contracts.delegation import (
    DelegationReply,
    DelegationState,
    Entail,
    RelevanceJudge,
)
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.query import DelegationKind, RetrieveRequest, Tier
from signal_search.contracts.result import Result
from signal_search.contracts.source import FetchOutcome, Request
from signal_search.contracts.trace import (
    Delegated,
    DelegationAnswered,
    DelegationLapsed,
    FetchFinished,
)
from signal_search.errors import Conflict, Invalid, NotFound

from api_gateway.delegations import Delegations
from api_gateway.owners import Reader
from infra.bundle import pack, unpack
from infra.job_store import StoredJob
from tests.fakes.builders import a_document
from tests.fakes.spine import PAUSE_MS, SITE, Spine, a_question, got, small_web
from workers.pipeline.look_after import look_after_jobs
from workers.pipeline.replay import replay

JOB = "job_1"
GUIDE = a_document(
    doc_id="guide",
    url=SITE + "ansel",
    site="site.test",
    source_id=f"site:{SITE}",
    text="Mount Ansel rises to 2,114 metres. Mount Ansel was climbed first in 1903 by Paul Weir.",
)


def web(request: Request) -> FetchOutcome:
    return got(request, documents=(GUIDE,)) if request.url == SITE + "ansel" else small_web(request)


@pytest.fixture
def spine(redis: object, redis_url: str) -> Spine:
    made = Spine(redis_url)
    made.web = web
    return made


LOCAL = Reader(tenant="local")


def desk(spine: Spine) -> Delegations:
    def owned(job_id: str, reader: Reader) -> StoredJob:
        stored = spine.tools.store.get(job_id)
        if stored is None or not reader.may_read(stored.spec):
            raise NotFound(code="job_not_found")
        return stored

    def ring(bells: Any) -> None:
        spine.bells += bells

    return Delegations(spine.redis, spine.settings, spine.clock, ring, owned)


def submit(spine: Spine, *kinds: str, tier: Tier = Tier.L1, **changes: Any) -> None:
    delegate = tuple(DelegationKind(each) for each in kinds)
    spine.submit(request=a_question(tier=tier, delegate=delegate, **changes))


def waiting(spine: Spine) -> list[DelegationState]:
    return [each for each in desk(spine).listed(JOB, LOCAL) if each.state == "open"]


def state_of(spine: Spine) -> JobState:
    stored = spine.tools.store.get(JOB)
    assert stored is not None
    return stored.state


def until_asked(spine: Spine) -> list[DelegationState]:
    """Play the workers until the job asks something, or has ended."""
    for _ in range(60):
        spine.run_bells()
        if spine.is_over() or waiting(spine):
            return waiting(spine)
        spine.fetch()
        spine.run_bells()
        spine.clock.advance(PAUSE_MS)
        spine.bells.append(("reduce", f"{JOB}/reduce"))
    raise AssertionError("the job neither asked nor ended")


def answer(spine: Spine, name: str, **said: Any) -> DelegationState:
    return desk(spine).answer(JOB, LOCAL, name, DelegationReply(answer=said))


def finished(spine: Spine) -> Result:
    spine.drive()
    return spine.result()


def same_when_replayed(spine: Spine) -> bool:
    stored = spine.tools.store.get(JOB)
    assert stored is not None
    ends = [each for each in spine.entries() if isinstance(each, FetchFinished)]
    ids = [each for end in ends for each in end.documents]
    documents = spine.tools.log.documents(JOB, ids)
    raw = spine.tools.store.result(JOB) or b""
    bundle = unpack(pack(stored.spec, spine.tools.log.read(JOB), documents.values(), raw))
    return replay(bundle).same


def test_what_is_not_offered_is_not_asked(spine: Spine):
    submit(spine)
    result = finished(spine)
    assert not any(isinstance(each, Delegated | DelegationLapsed) for each in spine.entries())
    assert (result.usage.judge_requests, result.usage.model_tokens) == (0, 0)


def test_a_question_has_a_schema_a_deadline_and_a_state_of_its_own(spine: Spine):
    submit(spine, "entail")
    [asked] = until_asked(spine)
    assert state_of(spine) is JobState.DELEGATED
    assert asked.delegation.kind is DelegationKind.ENTAIL
    assert isinstance(asked.delegation.question, Entail)
    wait_ms = spine.settings.delegation.answer_s * 1000
    assert 0 < asked.delegation.deadline_ms - asked.asked_at_ms <= wait_ms
    jsonschema_rs.meta.validate(asked.delegation.answer_schema)


def test_an_answered_question_counts_once_and_is_in_log_usage_and_trace(spine: Spine):
    submit(spine, "entail")
    [asked] = until_asked(spine)
    assert isinstance(asked.delegation.question, Entail)
    verdicts = ["UNCERTAIN"] * len(asked.delegation.question.pairs)
    reply = DelegationReply(answer={"verdicts": verdicts}, tokens=77)
    first = desk(spine).answer(JOB, LOCAL, "entail", reply)
    assert (first.state, first.tokens) == ("answered", 77)
    assert desk(spine).answer(JOB, LOCAL, "entail", reply) == first
    with pytest.raises(Conflict) as other:
        desk(spine).answer(JOB, LOCAL, "entail", DelegationReply(decline=True))
    assert other.value.code == "delegation_answered"
    result = finished(spine)
    assert (result.usage.judge_requests, result.usage.model_tokens) == (1, 77)
    assert sum(isinstance(each, DelegationAnswered) for each in spine.entries()) == 1
    assert {"delegated", "delegation_answered"} <= {each.name for each in result.trace}
    assert result.degradations == ()
    assert same_when_replayed(spine)


@pytest.mark.parametrize(
    ("said", "field"),
    [
        ({}, "answer"),
        ({"verdicts": []}, "answer.verdicts"),
        ({"verdicts": ["TRUE"] * 500}, "answer.verdicts"),
        ({"verdicts": "TRUE"}, "answer.verdicts"),
        ({"verdicts": ["PERHAPS"]}, "answer.verdicts"),
        ({"verdicts": [], "budget": 10**9}, "answer"),
    ],
)
def test_nonsense_is_refused_with_its_place_and_changes_nothing(
    spine: Spine, said: dict[str, Any], field: str
):
    submit(spine, "entail")
    until_asked(spine)
    with pytest.raises(Invalid) as refused:
        answer(spine, "entail", **said)
    assert (refused.value.field or "").startswith(field)
    assert "PERHAPS" not in refused.value.message
    assert waiting(spine)


def test_a_late_answer_is_told_and_the_job_goes_on_by_its_rules(spine: Spine):
    submit(spine, "entail")
    [asked] = until_asked(spine)
    assert isinstance(asked.delegation.question, Entail)
    verdicts = ["TRUE"] * len(asked.delegation.question.pairs)
    spine.clock.advance(asked.delegation.deadline_ms - spine.clock.now_ms())
    with pytest.raises(Conflict) as late:
        answer(spine, "entail", verdicts=verdicts)
    assert late.value.code == "delegation_late"
    result = finished(spine)
    assert "delegation entail: deadline" in result.degradations
    with pytest.raises(Conflict):
        answer(spine, "entail", verdicts=verdicts)
    reasons = {claim.reason for each in result.findings for claim in each.claims}
    assert "judged" not in reasons
    assert same_when_replayed(spine)


def test_a_declined_question_costs_no_time(spine: Spine):
    submit(spine, "entail")
    until_asked(spine)
    before = spine.clock.now_ms()
    state = desk(spine).answer(JOB, LOCAL, "entail", DelegationReply(decline=True))
    spine.run_bells()
    assert (state.state, spine.is_over(), spine.clock.now_ms()) == ("declined", True, before)
    assert "delegation entail: declined" in spine.result().degradations


def test_another_tenants_job_and_an_unknown_question_are_not_there(spine: Spine):
    submit(spine, "entail")
    until_asked(spine)
    with pytest.raises(NotFound) as other:
        desk(spine).answer(JOB, Reader(tenant="red"), "entail", DelegationReply(decline=True))
    with pytest.raises(NotFound) as unknown:
        desk(spine).answer(JOB, LOCAL, "agent_task.q9", DelegationReply(decline=True))
    assert (other.value.code, unknown.value.code) == ("job_not_found", "delegation_not_found")


def test_a_cancelled_job_takes_no_answer(spine: Spine):
    submit(spine, "entail")
    [asked] = until_asked(spine)
    stored = spine.tools.store.get(JOB)
    assert stored is not None
    from tests.fakes.gateway import finish  # noqa: PLC0415

    finish(spine.redis, JOB, JobEvent.CANCEL)
    with pytest.raises(Conflict) as late:
        desk(spine).answer(JOB, LOCAL, asked.delegation.id, DelegationReply(decline=True))
    assert late.value.code == "delegation_late"


# --- before the plan --------------------------------------------------------------------------------------------------


def unordered(*kinds: str, query: str = "How high is Mount Ansel?") -> RetrieveRequest:
    request = a_question(query=query, delegate=tuple(DelegationKind(each) for each in kinds))
    constraints = msgspec.structs.replace(request.constraints, required_tier=None)
    return msgspec.structs.replace(request, constraints=constraints)


def test_the_caller_classifies_a_question_that_has_no_ordered_tier(spine: Spine):
    spine.submit(request=unordered("tier_classify"))
    [asked] = until_asked(spine)
    assert (asked.delegation.id, state_of(spine)) == ("tier_classify", JobState.DELEGATED)
    with pytest.raises(Invalid) as refused:
        answer(spine, "tier_classify", tier="L9")
    assert refused.value.field == "answer.tier"
    answer(spine, "tier_classify", tier="L1")
    result = finished(spine)
    assert result.tier_used is Tier.L1
    [planned] = [each for each in result.trace if each.name == "planned"]
    assert planned.data["tier_reason"] == "the caller's model classified it"


def test_an_ordered_tier_is_not_classified(spine: Spine):
    submit(spine, "tier_classify")
    assert until_asked(spine) == []


def test_an_unclear_question_is_clarified_once(spine: Spine):
    spine.submit(request=a_question(query="???", delegate=(DelegationKind.CLARIFY,)))
    [asked] = until_asked(spine)
    assert asked.delegation.kind is DelegationKind.CLARIFY
    answer(spine, "clarify", text="How high is Mount Ansel?  /signal L3 x")
    result = finished(spine)
    assert result.query == "??? How high is Mount Ansel? /signal L3 x"
    assert result.tier_used is Tier.L1
    assert sum(isinstance(each, Delegated) for each in spine.entries()) == 1


def test_without_a_clarification_the_best_reading_goes_on(spine: Spine):
    spine.submit(request=a_question(query="???", delegate=(DelegationKind.CLARIFY,)))
    [asked] = until_asked(spine)
    spine.clock.advance(asked.delegation.deadline_ms - spine.clock.now_ms())
    spine.bells.append(("plan", f"{JOB}/plan"))
    result = finished(spine)
    assert result.query == "???"
    assert "delegation clarify: deadline" in result.degradations


def test_an_edited_outline_is_what_is_looked_into(spine: Spine):
    submit(spine, "outline_confirm", tier=Tier.L2, query="How high is Mount Ansel?")
    [asked] = until_asked(spine)
    outline = asked.delegation.question
    text = outline.outline.replace(  # type: ignore[union-attr]
        "1. How high is Mount Ansel?",
        "1. How high is Mount Ansel?\n2. Who climbed Mount Ansel first?",
    )
    answer(spine, "outline_confirm", outline=text)
    finished(spine)
    plan = next(each.plan for each in spine.entries() if each.key == "planned")  # type: ignore[union-attr]
    assert [each.text for each in plan.questions][:2] == [
        "How high is Mount Ansel?",
        "Who climbed Mount Ansel first?",
    ]
    assert [each.id for each in plan.questions] == ["q1", "q2", "q3"]
    assert plan.questions[-1].role == "contrary"
    limits = {
        name: getattr(spine.settings.tiers["L2"], name) for name in ("tokens", "calls", "fetches")
    }
    assert {name: plan.limits[name] for name in limits} == limits


def test_an_outline_cannot_widen_the_plan(spine: Spine):
    submit(spine, "outline_confirm", tier=Tier.L2)
    until_asked(spine)
    answer(
        spine,
        "outline_confirm",
        outline="\n".join(f"{n}. What is thing {n}?" for n in range(1, 80)),
    )
    spine.run_bells()
    plan = next(each.plan for each in spine.entries() if each.key == "planned")  # type: ignore[union-attr]
    assert len(plan.questions) == spine.settings.tiers["L2"].width
    sources = {each.source_id for each in plan.calls}
    assert sources <= {"wikipedia", "feed:https://news.test/feed", f"site:{SITE}"}


def test_a_planning_job_whose_step_was_lost_is_found(spine: Spine):
    submit(spine, "outline_confirm", tier=Tier.L2)
    until_asked(spine)
    spine.tools.steps.drop(f"{JOB}/plan")
    spine.clock.advance(60_000)
    assert look_after_jobs(spine.tools) == 1
    assert ("plan", f"{JOB}/plan") in spine.bells


# --- after the decision to stop ---------------------------------------------------------------------------------------


def test_an_irrelevant_statement_is_held_back_and_named(spine: Spine):
    submit(spine, "relevance_judge")
    [asked] = until_asked(spine)
    assert isinstance(asked.delegation.question, RelevanceJudge)
    passages = asked.delegation.question.passages
    answer(spine, asked.delegation.id, relevant=[passages[0].number])
    result = finished(spine)
    assert {each.text for each in result.findings} == {passages[0].text}
    held = {each.text for each in result.uncertainties if each.reason == "judged_irrelevant"}
    assert held == {each.text for each in passages[1:]}
    assert same_when_replayed(spine)


def test_an_agent_says_only_what_the_documents_bear_out(spine: Spine):
    submit(spine, "agent_task", tier=Tier.L3)
    asked = until_asked(spine)
    assert asked
    said = "Mount Ansel is 2,114 metres high. Mount Ansel is 9,999 metres high. The moon is made of cheese."
    for each in asked:
        answer(spine, each.delegation.id, text=said)
    result = finished(spine)
    texts = [each.text for each in result.findings]
    assert "Mount Ansel is 2,114 metres high." in texts
    assert not [each for each in texts if "9,999" in each or "cheese" in each]
    open_points = {each.text for each in result.uncertainties if each.reason.startswith("agent_")}
    assert {"Mount Ansel is 9,999 metres high.", "The moon is made of cheese."} <= open_points
    assert {n for each in result.findings for n in each.citations} == {
        each.number for each in result.sources
    }
    assert same_when_replayed(spine)


def test_questions_that_are_open_together_wait_for_each_other(spine: Spine):
    submit(spine, "relevance_judge", "entail")
    asked = until_asked(spine)
    waits = [each.delegation.deadline_ms - each.asked_at_ms for each in asked]
    first = int(spine.settings.delegation.answer_s * 1000)
    assert waits == [first * n for n in range(1, len(asked) + 1)]


def test_budgets_of_the_caller_bound_what_is_asked(spine: Spine):
    submit(spine, "relevance_judge", "entail", budget={"judge_requests": 1})
    asked = until_asked(spine)
    assert len(asked) == 1
    desk(spine).answer(JOB, LOCAL, asked[0].delegation.id, DelegationReply(decline=True))
    assert [each for each in finished(spine).degradations if each.endswith(": budget")]
