"""What a source may be sent in a day, and a tenant may use: reserved before sending, refused honestly, new at midnight."""

from collections.abc import Sequence
from dataclasses import replace
from typing import Any

from redis import Redis
from signal_search.contracts.budget import Dimension
from signal_search.contracts.trace import FetchFinished

from budget.frontier import Frontier, Offer, Placed
from budget.policy import deployment_level, source_level, tenant_level, token_level
from budget.slots import JOBS, Slots, jobs_of
from tests.fakes.builders import NOW_MS
from tests.fakes.spine import Spine, a_question

DAY_MS = 86_400_000
NEXT_DAY = "2026-09-22T00:00:00Z"
NEXT_DAY_MS = 1_790_035_200_000  # NOW_MS is 2026-09-21T14:13:20Z
WIKIPEDIA = source_level("wikipedia", NOW_MS)


def a_spine(redis_url: str, quota: int, **changes: object) -> Spine:
    return Spine(
        redis_url, in_redis=True, sources={"quota_per_day": {"wikipedia": quota}}, **changes
    )


def ends_of(spine: Spine, job_id: str) -> dict[str, FetchFinished]:
    found = [each for each in spine.entries(job_id) if isinstance(each, FetchFinished)]
    return {each.fetch_id: each for each in found}


def ask(
    spine: Spine, job_id: str, query: str = "How high is Mount Ansel?", token: str = ""
) -> None:
    now_ms = spine.clock.now_ms()
    times = {"created_at_ms": now_ms, "deadline_ms": now_ms + 300_000}
    spine.submit(job_id, request=a_question("wikipedia", query=query), token=token, **times)
    spine.drive(job_id)


def test_within_its_quota_a_source_is_asked_and_counted(redis: Redis, redis_url: str) -> None:
    spine = a_spine(redis_url, 2)
    ask(spine, "job_1")
    assert [each.state for each in spine.result().source_outcomes] == ["answered"]
    assert (spine.used(WIKIPEDIA)["fetches"], spine.held(WIKIPEDIA)) == (2, {})


def test_beyond_its_quota_nothing_is_sent_and_the_result_says_until_when(
    redis: Redis, redis_url: str
) -> None:
    """The search is the one request of the day; the page it leads to, and the next job's search, are not sent."""
    spine = a_spine(redis_url, 1)
    ask(spine, "job_1")
    ask(spine, "job_2", "How deep is the lake?")
    assert sum(spine.fetched.values()) == 1
    assert (spine.used(WIKIPEDIA)["fetches"], spine.held(WIKIPEDIA)) == (1, {})
    detail = f"its quota of 1 requests a day is used up, until {NEXT_DAY}"
    for job_id, fetch_id in (("job_1", "q1.wikipedia#1.1"), ("job_2", "q1.wikipedia#1")):
        end = ends_of(spine, job_id)[fetch_id]
        assert (end.state, end.reason, end.detail) == ("skipped", "quota", detail)
        assert (end.until_ms, end.paid, end.tokens) == (NEXT_DAY_MS, False, 0)
        result = spine.result(job_id)
        assert result.degradations == ("wikipedia: quota",)
        [outcome] = result.source_outcomes
        assert (outcome.state, outcome.reason, outcome.until) == ("refused", "quota", NEXT_DAY)
        assert spine.held(f"job:{job_id}") == {}


def test_at_midnight_utc_the_quota_is_new(redis: Redis, redis_url: str) -> None:
    spine = a_spine(redis_url, 2)
    ask(spine, "job_1")
    spine.clock.advance(NEXT_DAY_MS - NOW_MS)
    ask(spine, "job_2", "How deep is the lake?")
    assert (spine.used(WIKIPEDIA)["fetches"], sum(spine.fetched.values())) == (2, 4)
    assert spine.used(source_level("wikipedia", NEXT_DAY_MS))["fetches"] == 2


def test_a_request_that_may_be_sent_after_midnight_counts_on_both_days(
    redis: Redis, redis_url: str
) -> None:
    spine = a_spine(redis_url, 2)
    spine.clock.advance(NEXT_DAY_MS - NOW_MS - 1000)
    ask(spine, "job_1")
    assert spine.used(WIKIPEDIA)["fetches"] == 2
    assert spine.used(source_level("wikipedia", NEXT_DAY_MS))["fetches"] == 2


def test_what_was_not_sent_is_given_back(redis: Redis, redis_url: str) -> None:
    """The second job's search is the first one's: it is answered from the cache and costs the source nothing."""
    spine = a_spine(redis_url, 5)
    ask(spine, "job_1")
    ask(spine, "job_2")
    assert (spine.used(WIKIPEDIA)["fetches"], spine.held(WIKIPEDIA)) == (2, {})
    assert sum(spine.fetched.values()) == 2


def test_a_tenants_day_is_its_own(redis: Redis, redis_url: str) -> None:
    spine = Spine(redis_url, in_redis=True, tenants={"local": {"fetches": 1}})
    ask(spine, "job_1")
    assert spine.used(tenant_level("local", "day", NOW_MS))["fetches"] == 1
    assert spine.result().degradations == ("wikipedia: budget",)
    spine.clock.advance(DAY_MS)
    ask(spine, "job_2")
    assert spine.used(tenant_level("local", "day", NOW_MS + DAY_MS))["fetches"] == 1
    assert spine.used(tenant_level("local", "day", NOW_MS))["fetches"] == 1


def test_what_is_used_with_a_token_counts_on_it_too(redis: Redis, redis_url: str) -> None:
    spine = Spine(redis_url, in_redis=True)
    level = token_level("t1", NOW_MS)
    spine.tools.ledger.open(level, {Dimension.FETCHES: 1}, ttl_ms=60_000)
    ask(spine, "job_1", token="t1")
    assert spine.used(level)["fetches"] == 1
    assert spine.result().degradations == ("wikipedia: budget",)
    ask(spine, "job_2", "How deep is the lake?")  # with another token
    assert spine.used(level)["fetches"] == 1
    assert spine.result("job_2").degradations == ()


def test_a_job_that_lives_past_midnight_has_a_purse_for_both_days(
    redis: Redis, redis_url: str
) -> None:
    spine = Spine(redis_url, in_redis=True, deployment={"calls": 7})
    spine.clock.advance(NEXT_DAY_MS - NOW_MS - 1000)
    ask(spine, "job_1")
    for at_ms in (NOW_MS, NEXT_DAY_MS):
        purse = spine.tools.ledger.balance(deployment_level("day", at_ms))
        assert purse.limits == {Dimension.CALLS: 7}


def test_a_job_that_ends_gives_its_places_back(redis: Redis, redis_url: str) -> None:
    spine, slots = Spine(redis_url, in_redis=True), Slots(redis)
    for name in (JOBS, jobs_of("local")):
        assert slots.take(name, "job_1", 1, 10**6)
    ask(spine, "job_1")
    assert (slots.count(JOBS), slots.count(jobs_of("local"))) == (0, 0)


def test_requests_are_queued_with_the_weight_of_their_tenant(redis: Redis, redis_url: str) -> None:
    spine = Spine(redis_url, in_redis=True, tenants={"local": {"weight": 2}})
    queued: list[Offer] = []

    class Listening:
        def __init__(self, inner: Frontier) -> None:
            self.inner = inner

        def offer(self, offers: Sequence[Offer], *, now_ms: int = 0) -> list[Placed]:
            queued.extend(offers)
            return self.inner.offer(offers, now_ms=now_ms)

        def __getattr__(self, name: str) -> Any:
            return getattr(self.inner, name)

    listening: Any = Listening(spine.tools.frontier)
    spine.tools = replace(spine.tools, frontier=listening)
    ask(spine, "job_1")
    assert {each.weight for each in queued} == {2.0}
