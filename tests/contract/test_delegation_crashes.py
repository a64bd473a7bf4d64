"""A job that asks its caller, killed at its writes, told twice, answered at the last moment: asked once, answered once."""

from collections import Counter
from typing import Any

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.delegation import Entail, TierClassify
from signal_search.contracts.query import DelegationKind, Tier
from signal_search.contracts.result import Result
from signal_search.contracts.trace import Delegated, DelegationAnswered, DelegationLapsed
from signal_search.errors import Postpone

from tests.contract.test_delegations import JOB, answer, unordered, waiting, web
from tests.fakes.spine import PAUSE_MS, Fuse, Spine, a_question
from workers.pipeline.delegating import Asking, Offer, Reach
from workers.pipeline.state import fold

OFFER = Offer((DelegationKind.TIER_CLASSIFY,))


def answering(spine: Spine) -> None:
    """Play the workers to the end of the job; whatever is asked is answered before the bells are heard again."""
    for _ in range(80):
        spine.run_bells()
        for each in waiting(spine):
            question = each.delegation.question
            if isinstance(question, TierClassify):
                answer(spine, each.delegation.id, tier="L1")
            elif isinstance(question, Entail):
                answer(spine, each.delegation.id, verdicts=["UNCERTAIN"] * len(question.pairs))
        spine.run_bells()
        if spine.is_over():
            break
        spine.fetch()
        spine.run_bells()
        spine.clock.advance(PAUSE_MS)
        spine.look()
        planned = any(each.key == "planned" for each in spine.entries())
        task = "reduce" if planned else "plan"
        spine.bells.append((task, f"{JOB}/{task}"))
    spine.look()
    spine.run_bells()


def asked_job(redis_url: str, fuse: Fuse) -> Spine:
    spine = Spine(redis_url)
    spine.web = web
    spine.submit(request=unordered("tier_classify", "entail"))
    spine.wire(fuse)
    answering(spine)
    return spine


def told(result: Result) -> dict[str, Any]:
    """What a result says, without what depends on when."""
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return {name: plain[name] for name in ("findings", "sources", "degradations", "tier_used")}


@pytest.mark.timeout(120)
def test_a_crash_at_any_write_asks_once_and_gives_the_same_result(redis: Redis, redis_url: str):
    whole = Fuse()
    expected = told(asked_job(redis_url, whole).result())
    places = [
        n for n, name in enumerate(whole.passed) if "log.append" in name or "transition" in name
    ]
    assert len(places) > 20
    for at in places:
        redis.flushall()
        fuse = Fuse(at)
        spine = asked_job(redis_url, fuse)
        where = f"{at}: {whole.passed[at]}"
        assert spine.is_over(), where
        assert told(spine.result()) == expected, where
        keys = Counter(each.key for each in spine.entries())
        assert {"tier_classify:asked", "entail:asked"} <= keys.keys(), where
        assert max(keys.values()) == 1, where
        ends = [each for each in spine.entries() if isinstance(each, DelegationAnswered)]
        assert [each.delegation_id for each in ends] == ["tier_classify", "entail"], where


def test_an_answer_that_was_first_stands_although_its_time_is_over(redis: Redis, redis_url: str):
    spine = Spine(redis_url)
    spine.submit(request=unordered("tier_classify"))
    spine.run_bells()
    stale = fold(spine.entries())
    answer(spine, "tier_classify", tier="L2")
    spine.clock.advance(600_000)
    asking = Asking(spine.tools, JOB, stale, Reach(spine.clock.now_ms() + 60_000), OFFER)
    [asked] = [each for each in spine.entries() if isinstance(each, Delegated)]
    said = asking.answer("tier_classify", asked.delegation.question)
    assert msgspec.to_builtins(said) == {"tier": "L2"}
    assert not [each for each in spine.entries() if isinstance(each, DelegationLapsed)]


def test_an_open_question_postpones_to_its_deadline(redis: Redis, redis_url: str):
    spine = Spine(redis_url)
    spine.submit(request=unordered("tier_classify"))
    spine.run_bells()
    asking = Asking(spine.tools, JOB, fold(spine.entries()), Reach(0), OFFER)
    [asked] = [each for each in spine.entries() if isinstance(each, Delegated)]
    with pytest.raises(Postpone) as later:
        asking.answer("tier_classify", asked.delegation.question)
    assert later.value.until_ms == asked.delegation.deadline_ms


def test_a_job_at_its_deadline_asks_nothing_more(redis: Redis, redis_url: str):
    spine = Spine(redis_url)
    spine.web = web
    spine.submit(request=a_question(tier=Tier.L1, delegate=(DelegationKind.RELEVANCE_JUDGE,)))
    plan_deadline = spine.settings.jobs.deadline_s["L1"]
    for _ in range(3):
        spine.run_bells()
        spine.fetch()
        spine.clock.advance(PAUSE_MS)
    spine.clock.advance(int(plan_deadline * 1000))
    spine.bells.append(("reduce", f"{JOB}/reduce"))
    spine.drive()
    result = spine.result()
    assert not [each for each in spine.entries() if isinstance(each, Delegated)]
    if result.findings:
        assert "delegation relevance_judge: no_time" in result.degradations
