"""The walk of a job over the real store, in one process: every bell may ring twice, every call may be the last one.

`drive` plays all workers. What must not depend on luck is compared with an undisturbed run of the same job.
"""

from collections import Counter
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.budget import Dimension
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.query import Tier
from signal_search.contracts.result import Result, StopReason
from signal_search.contracts.source import FetchOutcome, Link, Request
from signal_search.contracts.trace import (
    CallRefused,
    CallStarted,
    Ended,
    Expanded,
    FetchFinished,
    FetchQueued,
    Stopped,
)

from budget.ledger import Short
from infra.bundle import pack, unpack
from infra.job_store import StoredJob
from infra.steps import StepRules, Steps
from tests.fakes.builders import NOW_MS
from tests.fakes.spine import (
    DEADLINE_MS,
    ENCYCLOPEDIA,
    GUIDE,
    NEWS,
    PAUSE_MS,
    SITE,
    WRITES,
    Crash,
    Fuse,
    Spine,
    a_question,
    charged,
    got,
    small_web,
)
from workers.pipeline.attempt import attempt
from workers.pipeline.ending import end_job
from workers.pipeline.reduce import reduce
from workers.pipeline.replay import replay
from workers.toolbox import Toolbox

WALK = [
    "submitted",
    "planned",
    "all.feed2:started",
    "all.site3:started",
    "q1.wikipedia:started",
    "all.feed2#1:queued",
    "all.feed2#1:finished",
    "all.site3#1:queued",
    "all.site3#1:finished",
    "all.site3#1.0:queued",
    "all.site3#1.0:finished",
    "all.site3#2:queued",
    "all.site3#2:finished",
    "q1.wikipedia#1:queued",
    "q1.wikipedia#1:finished",
    "q1.wikipedia#1.1:queued",
    "q1.wikipedia#1.1:finished",
    "stopped",
    "ended",
]


@pytest.fixture(params=["memory", "redis"])
def spine(redis: Redis, redis_url: str, request: pytest.FixtureRequest) -> Spine:
    return Spine(redis_url, in_redis=request.param == "redis")


@pytest.fixture
def in_redis(redis: Redis, redis_url: str) -> Spine:
    return Spine(redis_url, in_redis=True)


def keys_of(spine: Spine) -> list[str]:
    return [key.decode() for key in spine.tools.redis.scan_iter("*")]


def leftovers(spine: Spine) -> list[str]:
    """What an ended job must not leave: steps, open holds, waiting or queued requests."""
    parts = (":step:", ":due", ":holds", ":open:", ":wait:", ":req:", ":queue:", ":leases")
    return [key for key in keys_of(spine) if any(part in key for part in parts)]


def without_trace(result: Result) -> dict[str, Any]:
    """All but the order in which things were noted."""
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return {name: value for name, value in plain.items() if name != "trace"}


def state_of(spine: Spine, job_id: str = "job_1") -> JobState:
    stored = spine.tools.store.get(job_id)
    assert stored is not None
    return stored.state


def keys_in_log(spine: Spine, job_id: str = "job_1") -> list[str]:
    return [each.key for each in spine.entries(job_id) if not each.key.startswith("assessed")]


def of_kind(spine: Spine, kind: type) -> list[Any]:
    return [each for each in spine.entries() if isinstance(each, kind)]


# --- the walk ---------------------------------------------------------------------------------------------------------


def test_from_submission_to_result(spine: Spine) -> None:
    spine.submit()
    spine.drive()
    assert sorted(keys_in_log(spine)) == sorted(WALK)
    assert state_of(spine) is JobState.SUCCEEDED
    result = spine.result()
    assert result.stop.reason is StopReason.AGREEMENT
    assert {each.doc_id for each in result.sources} == {ENCYCLOPEDIA.doc_id, GUIDE.doc_id}
    assert "2,114" in result.answer
    assert {each.source_id.split(":")[0]: each.state for each in result.source_outcomes} == {
        "feed": "answered",
        "site": "answered",
        "wikipedia": "answered",
    }
    assert set(spine.fetched.values()) == {1}


def test_the_ledger_and_the_result_say_the_same(spine: Spine) -> None:
    spine.submit()
    spine.drive()
    # 1 search, 1 page, 1 feed, 3 pages of the site; 1000 bytes each but for the redirect.
    texts = sum(len(each.text) // 4 for each in (ENCYCLOPEDIA, NEWS, GUIDE))
    expected = {"calls": 3, "searches": 1, "fetches": 6, "bytes": 5000, "tokens": texts}
    assert charged(spine.result()) == expected
    assert (spine.used(), spine.held()) == (expected, {})


def test_the_log_and_the_documents_give_the_result_again(spine: Spine) -> None:
    spec = spine.submit()
    spine.drive()
    log = spine.tools.log.read("job_1")
    documents = spine.tools.log.documents("job_1", ["encyclopedia", "guide", "news"]).values()
    raw = spine.tools.store.result("job_1")
    assert raw is not None
    again = replay(unpack(pack(spec, log, documents, raw)))
    assert again.same
    assert of_kind(spine, Ended)[0].result_digest == again.digest


def test_nothing_is_left_of_an_ended_job_but_what_has_a_life_time(in_redis: Spine) -> None:
    in_redis.submit()
    in_redis.drive()
    assert leftovers(in_redis) == []
    for name in ("job", "log", "once", "docs", "result"):
        assert 590_000 < in_redis.tools.redis.pttl(f"ss:{{j:job_1}}:{name}") <= 600_000, name
    immortal = [key for key in keys_of(in_redis) if in_redis.tools.redis.pttl(key) < 0]
    assert [key for key in immortal if not key.endswith(":fence")] == []


def test_a_plan_that_nobody_can_serve_ends_as_partial(spine: Spine) -> None:
    spine.web = lambda request: msgspec.structs.replace(
        small_web(request), state="missed", status=503, reason="server_fault", parsed=got(request).parsed
    )  # fmt: skip
    spine.submit()
    spine.drive()
    assert state_of(spine) is JobState.PARTIAL
    result = spine.result()
    assert result.stop.reason is StopReason.NO_SOURCE_REACHED
    assert {each.state for each in result.source_outcomes} == {"failed"}
    assert (result.findings, result.answer) == ((), "")


def test_a_second_round_asks_in_other_words_when_the_first_is_over(spine: Spine) -> None:
    """The encyclopedia knows nothing; a coverage tier asks it once more, and then stops."""
    spine.web = got
    question = a_question("wikipedia", tier=Tier.L2, query="Why did the Ansel glacier retreat?")
    spine.submit(request=question)
    spine.drive()
    [opened] = of_kind(spine, Expanded)
    before = [each for each in spine.entries() if each.key == "round:2" or "finished" in each.key]
    first_round = {each.key for each in before[: before.index(opened)]}
    assert first_round >= {f"{each.call_id}#1:finished" for each in of_kind(spine, FetchQueued) if not each.call_id.startswith("r2.")}  # fmt: skip
    assert {each.round for each in opened.calls} == {2}
    result = spine.result()
    assert (result.stop.reason, result.usage.rounds) == (StopReason.NO_EVIDENCE, 2)
    assert (charged(result), spine.held()) == (spine.used(), {})


def test_a_round_whose_opener_died_is_asked_all_the_same(in_redis: Spine) -> None:
    in_redis.web = got
    question = a_question("wikipedia", tier=Tier.L2, query="Why did the Ansel glacier retreat?")
    died: list[str] = []

    class DiesOnce:
        def make_all(self, step_ids: Sequence[str]) -> None:
            if any("/crawl/r2." in each for each in step_ids) and not died:
                died.extend(step_ids)
                raise Crash(step_ids)
            steps.make_all(step_ids)

        def __getattr__(self, name: str) -> Any:
            return getattr(steps, name)

    steps = in_redis.tools.steps
    parts: dict[str, Any] = {"steps": DiesOnce()}
    in_redis.tools = replace(in_redis.tools, **parts)
    in_redis.submit(request=question)
    in_redis.drive()
    assert (len(died), in_redis.crashes) == (1, 1)
    asked = {each.call_id for each in of_kind(in_redis, CallStarted)}
    [opened] = of_kind(in_redis, Expanded)
    assert {each.id for each in opened.calls} <= asked
    assert in_redis.result().stop.reason is StopReason.NO_EVIDENCE


# --- bells ------------------------------------------------------------------------------------------------------------


def test_every_bell_may_ring_three_times(spine: Spine) -> None:
    once = undisturbed(spine)
    bell = spine.tools.bell

    def thrice(task: str, step_id: str) -> None:
        for _ in range(3):
            bell(task, step_id)

    spine.tools = replace(spine.tools, bell=thrice)
    spine.submit("job_2")
    spine.fetched.clear()
    spine.drive("job_2")
    keys = keys_in_log(spine, "job_2")
    assert sorted(keys) == sorted(WALK)
    assert len(set(keys)) == len(keys)
    result = spine.result("job_2")
    assert spine.used("job:job_2") == charged(result)
    # Everything but the site's redirect was fresh for the second job, so it paid for that one only.
    assert spine.fetched == Counter({SITE: 1})
    assert (result.usage.fetches, result.answer) == (1, once.answer)


def undisturbed(spine: Spine) -> Result:
    spine.submit()
    spine.drive()
    return spine.result()


def test_lost_bells_are_rung_by_the_reconciler(spine: Spine) -> None:
    spine.submit()
    lost = 0
    for _ in range(60):
        lost += len(spine.bells)
        spine.bells.clear()
        spine.look()  # rings what is overdue: that is all this job ever hears
        spine.run_bells()
        if spine.is_over():
            break
        spine.fetch()
        spine.clock.advance(PAUSE_MS)
    assert lost > 0
    assert sorted(keys_in_log(spine)) == sorted(WALK)


def test_the_reconciler_rings_each_overdue_step_and_counts_them(spine: Spine) -> None:
    spine.tools.steps.make("job_1/plan", "plan")
    spine.tools.steps.make("job_2/crawl/q1.one", "crawl")
    assert spine.look() == 2
    assert sorted(spine.bells) == [("crawl", "job_2/crawl/q1.one"), ("plan", "job_1/plan")]


def test_the_reconciler_gives_back_expired_holds(spine: Spine) -> None:
    ledger = spine.tools.ledger
    ledger.open("job:x", {Dimension.FETCHES: 1}, ttl_ms=60_000)
    ledger.reserve("x|1", ["job:x"], {Dimension.FETCHES: 1}, lease_ms=1, now_ms=1)
    assert spine.held("job:x") == {"fetches": 1}
    spine.look()
    assert spine.held("job:x") == {}


def test_a_held_step_is_left_to_its_holder(spine: Spine) -> None:
    spine.submit()
    rules = StepRules(lease_ms=60_000, grace_ms=60_000, max_attempts=5, ttl_ms=60_000)
    steps = Steps(spine.tools.redis, rules)
    assert steps.claim("job_1/plan").outcome == "claimed"
    spine.run_bells()
    assert keys_in_log(spine) == ["submitted"]


@pytest.mark.parametrize("task", ["plan", "crawl", "reduce"])
def test_a_bell_for_a_step_or_job_that_is_gone_does_nothing(spine: Spine, task: str) -> None:
    step_id = f"job_9/{task}" + ("/q1.one" if task == "crawl" else "")
    assert spine.try_step(task, step_id) == "gone"
    spine.tools.steps.make(step_id, task)
    assert spine.try_step(task, step_id) == "left"
    assert keys_of(spine) == []


def test_a_reducer_that_is_rung_before_the_plan_waits(spine: Spine) -> None:
    spine.submit()
    spine.tools.steps.make("job_1/reduce", "reduce")
    assert spine.try_step("reduce", "job_1/reduce") == "resting"
    spine.drive()
    assert sorted(keys_in_log(spine)) == sorted(WALK)


# --- many jobs --------------------------------------------------------------------------------------------------------


def test_identical_jobs_share_every_request_and_the_first_pays(in_redis: Spine) -> None:
    jobs = [f"job_{number}" for number in range(1, 4)]
    for each in jobs:
        in_redis.submit(each)
    in_redis.drive(*jobs)
    assert set(in_redis.fetched.values()) == {1}
    results = [in_redis.result(each) for each in jobs]
    assert [each.usage.fetches for each in results] == [6, 0, 0]
    assert len({each.answer for each in results}) == 1
    for job_id, result in zip(jobs, results, strict=True):
        assert in_redis.used(f"job:{job_id}") == charged(result)
    assert leftovers(in_redis) == []


# --- the purse --------------------------------------------------------------------------------------------------------


def test_a_purse_for_two_fetches_makes_two_and_says_so(spine: Spine) -> None:
    spine.submit(request=a_question(budget={"fetches": 2}))
    spine.drive()
    result = spine.result()
    assert result.stop.reason is StopReason.BUDGET_NARROW
    assert (spine.used()["fetches"], result.usage.fetches, sum(spine.fetched.values())) == (2, 2, 2)
    assert any("budget" in each for each in result.degradations)


def test_a_tenants_purse_counts_over_jobs_and_is_given_back(redis: Redis, redis_url: str) -> None:
    spine = Spine(redis_url, in_redis=True, tenant={"per": "ever", "fetches": 7})
    spine.submit()
    spine.drive()
    assert (spine.used("tenant:local")["fetches"], spine.held("tenant:local")) == (6, {})
    other = a_question("wikipedia", query="How deep is the lake?")
    spine.submit("job_2", request=other)
    spine.drive("job_2")
    assert spine.used("tenant:local")["fetches"] == 7
    assert spine.result("job_2").stop.reason is StopReason.BUDGET_NARROW


def test_no_money_for_calls_asks_nobody(spine: Spine) -> None:
    spine.submit(request=a_question(budget={"fetches": 0, "tokens": 0}))
    spine.drive()
    assert spine.fetched == {}
    assert {each.state for each in spine.result().source_outcomes} == {"refused"}


# --- crashes ----------------------------------------------------------------------------------------------------------

CRASHES = [
    f"{when} {tool}.{method}"
    for tool, methods in sorted(WRITES.items())
    for method in sorted(methods)
    for when in ("before", "after")
    # Nothing is given back in this walk, and nothing reserved alone.
    if (tool, method) not in {("ledger", "release"), ("ledger", "reserve")}
]


@cache
def names_of_calls(redis_url: str) -> tuple[str, ...]:
    """Every call of a tool that the undisturbed walk makes, in order."""
    spine = Spine(redis_url, in_redis=True)
    spine.submit()
    fuse = Fuse()
    spine.wire(fuse)
    spine.drive()
    return tuple(fuse.passed)


@pytest.mark.parametrize("name", CRASHES)
def test_a_step_that_is_killed_anywhere_is_completed(
    redis: Redis, redis_url: str, name: str
) -> None:
    """Killed before or after each effect: the next try gives the same result, the same charges, and no leftovers."""
    calls = names_of_calls(redis_url)
    redis.flushall()
    spine = Spine(redis_url, in_redis=True)
    expected = without_trace(undisturbed(spine))
    places = [at for at, each in enumerate(calls) if each == name]
    assert places
    for at in places:
        redis.flushall()
        spine = Spine(redis_url, in_redis=True)
        spine.submit()
        fuse = Fuse(at)
        spine.wire(fuse)
        spine.drive()
        where = f"call {at}: {calls[at]}"
        assert (spine.crashes, fuse.passed[at]) == (1, name), where
        assert without_trace(spine.result()) == expected, where
        assert (spine.used(), spine.held()) == (charged(spine.result()), {}), where
        keys = keys_in_log(spine)
        assert sorted(keys) == sorted(WALK), where
        assert leftovers(spine) == [], where
        assert set(spine.fetched.values()) == {1}, where


def test_a_reply_may_be_told_before_its_request_is_in_the_log(redis: Redis, redis_url: str) -> None:
    """The step died between the frontier and the log, and the fetch loop was quicker than the next try."""
    calls = names_of_calls(redis_url)
    redis.flushall()
    expected = without_trace(undisturbed(Spine(redis_url, in_redis=True)))
    places = [at for at, each in enumerate(calls) if each == "after frontier.offer"]
    early = 0
    for at in places:
        redis.flushall()
        spine = Spine(redis_url, in_redis=True)
        spine.is_retried_late = True
        spine.submit()
        spine.wire(Fuse(at))
        spine.drive()
        assert spine.crashes == 1
        keys = keys_in_log(spine)
        early += any(
            f"{each.fetch_id}:queued" in keys[keys.index(each.key) :]
            for each in of_kind(spine, FetchFinished)
        )
        assert sorted(keys) == sorted(WALK), at
        assert set(spine.fetched.values()) == {1}, at
        assert (spine.used(), spine.held()) == (charged(spine.result()), {}), at
        assert without_trace(spine.result()) == expected, at
    assert early >= 3


def test_a_lost_bell_at_each_place_is_rung_again(in_redis: Spine) -> None:
    expected = without_trace(undisturbed(in_redis))
    for at in range(12):
        in_redis.tools.redis.flushall()
        spine = Spine(in_redis.settings.redis_url, in_redis=True)
        spine.submit()
        bell, rung = spine.tools.bell, Counter[str]()

        def losing(task: str, step_id: str, bell: Callable[[str, str], None] = bell, rung: Counter[str] = rung, at: int = at) -> None:  # fmt: skip
            rung["bells"] += 1
            if rung["bells"] != at:
                bell(task, step_id)

        spine.tools = replace(spine.tools, bell=losing)
        for _ in range(3):
            spine.run_bells()
            spine.look()
        spine.drive()
        assert without_trace(spine.result()) == expected


def test_a_reply_that_was_completed_but_never_told_is_found_by_the_re_check(
    spine: Spine,
) -> None:
    spine.submit()
    spine.run_bells()
    assert spine.fetch(tell=False) == 3
    assert of_kind(spine, FetchFinished) == []
    early = round(spine.settings.queue.recheck_s * 1000) - 1
    spine.clock.advance(early)
    spine.try_step("reduce", "job_1/reduce")
    assert of_kind(spine, FetchFinished) == []
    spine.clock.advance(1)
    spine.try_step("reduce", "job_1/reduce")
    assert len(of_kind(spine, FetchFinished)) == 3
    assert {each.paid for each in of_kind(spine, FetchFinished)} == {True}
    spine.drive()
    assert set(spine.fetched.values()) == {1}
    assert charged(spine.result()) == spine.used()


def test_who_asks_again_for_what_was_fetched_for_it_pays_for_it(spine: Spine) -> None:
    """The step of a call comes once more between the end of its request and the word of it."""
    spine.submit()
    spine.run_bells()
    calls = [each.call_id for each in of_kind(spine, CallStarted)]
    assert spine.fetch(tell=False) == len(calls) == 3
    spine.tools.start([f"job_1/crawl/{each}" for each in calls])
    spine.run_bells()
    assert [each.paid for each in of_kind(spine, FetchFinished)] == [True, True, True]
    spine.drive()
    assert set(spine.fetched.values()) == {1}
    assert charged(spine.result()) == spine.used()
    assert spine.used()["fetches"] == 6  # as of the job that nothing disturbs
    assert spine.result().usage.fetches == 6


def test_a_second_teller_changes_nothing(spine: Spine) -> None:
    """The fetch loop and the re-check may tell the same reply at once: one entry, one charge."""
    spine.submit()
    spine.run_bells()
    spine.fetch()
    used = spine.used()
    entries = len(spine.entries())
    spine.clock.advance(PAUSE_MS)
    for each in of_kind(spine, FetchQueued):
        [placed] = [spine.tools.frontier.reply(each.uid, each.host)]
        assert placed is not None
    for _ in range(3):
        spine.look()
        spine.try_step("reduce", "job_1/reduce")
    assert spine.used()["fetches"] == used["fetches"]
    finished = [each.key for each in of_kind(spine, FetchFinished)]
    assert len(finished) == len(set(finished)) == 3
    assert len(spine.entries()) > entries


def poisoned(spine: Spine, name: str) -> None:
    """Every call of that name is the process's last one."""
    tool, method = name.split(".")

    class Poison:
        def __getattr__(self, wanted: str) -> Any:
            if wanted == method:
                raise Crash(name)
            return getattr(inner, wanted)

    inner = getattr(spine.tools, tool)
    parts: dict[str, Any] = {tool: Poison()}
    spine.tools = replace(spine.tools, **parts)


def test_a_poison_step_ends_the_job_as_failed_once(in_redis: Spine) -> None:
    in_redis.submit()
    poisoned(in_redis, "ledger.open")
    for _ in range(40):
        in_redis.run_bells()
        in_redis.look()
    assert state_of(in_redis) is JobState.FAILED
    assert in_redis.crashes == in_redis.settings.queue.max_attempts
    [ended] = of_kind(in_redis, Ended)
    assert (ended.error_code, in_redis.entries()[-1]) == ("internal", ended)
    assert in_redis.tools.store.result("job_1") is None
    assert leftovers(in_redis) == []
    assert in_redis.held() == {}


@pytest.mark.parametrize("name", ["ledger.spend", "frontier.offer"])
def test_sources_that_cannot_be_asked_are_refused_and_the_job_goes_on(
    in_redis: Spine, name: str
) -> None:
    in_redis.submit()
    poisoned(in_redis, name)
    for _ in range(60):
        in_redis.run_bells()
        in_redis.look()
    assert state_of(in_redis) is JobState.PARTIAL
    assert in_redis.crashes == 3 * in_redis.settings.queue.max_attempts
    assert {each.reason for each in of_kind(in_redis, CallRefused)} == {"not_configured"}
    assert len(of_kind(in_redis, CallRefused)) == 3
    assert in_redis.result().stop.reason == "no_source_reached"
    assert len(of_kind(in_redis, Ended)) == 1
    assert leftovers(in_redis) == []
    assert in_redis.held() == {}


# --- cancelled and ended ----------------------------------------------------------------------------------------------


def the_job(tools: Toolbox) -> StoredJob:
    stored = tools.store.get("job_1")
    assert stored is not None
    return stored


def cancel(spine: Spine) -> bool:
    return end_job(spine.tools, the_job(spine.tools), JobEvent.CANCEL)


def test_cancelling_leaves_no_holds_no_waiters_no_steps(in_redis: Spine) -> None:
    in_redis.submit()
    in_redis.run_bells()
    assert in_redis.held()["fetches"] == 3
    assert leftovers(in_redis) != []
    assert cancel(in_redis)
    assert not cancel(in_redis)
    in_redis.run_bells()
    in_redis.look()
    in_redis.run_bells()
    assert (in_redis.held(), leftovers(in_redis)) == ({}, [])
    assert state_of(in_redis) is JobState.CANCELLED
    assert [each.state for each in of_kind(in_redis, Ended)] == [JobState.CANCELLED]
    assert in_redis.fetch() == 0


class Intruder:
    """A tool that cancels the job before or after one of its calls: the other process of a race."""

    def __init__(self, spine: Spine, name: str, number: int, *, after: bool) -> None:
        self._tools = spine.tools
        tool, self._method = name.split(".")
        self._inner = getattr(spine.tools, tool)
        self._number = number
        self._after = after
        self.done = False
        parts: dict[str, Any] = {tool: self}
        spine.tools = replace(spine.tools, **parts)

    def __getattr__(self, name: str) -> Any:
        inner = getattr(self._inner, name)
        if name != self._method:
            return inner

        def call(*args: Any, **kwargs: Any) -> Any:
            if not self._after:
                self._strike()
            answer = inner(*args, **kwargs)
            if self._after:
                self._strike()
            return answer

        return call

    def _strike(self) -> None:
        if self._number == 0:
            self.done = end_job(self._tools, the_job(self._tools), JobEvent.CANCEL)
            self._tools.steps.drop(
                "job_1/reduce"
            )  # as the gateway does: no reducer cleans up later
        self._number -= 1


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
@pytest.mark.parametrize(
    ("name", "number"),
    [
        (name, number)
        for name, numbers in {
            "frontier.offer": (0, 1, 3),
            "log.append": (0, 1, 3),
            "ledger.spend": (0, 1, 2),
            "ledger.reserve_all": (0, 1, 3),
            "ledger.settle_all": (0, 1, 3),
            "steps.make": (0,),
            "steps.make_all": (0,),
            "store.transition": (0, 1, 3),
        }.items()
        for number in numbers
    ],
)
def test_a_cancellation_at_any_moment_leaves_nothing(
    in_redis: Spine, name: str, number: int, after: bool
) -> None:
    """Also when it comes between the offer and the log: the one who offered takes it back."""
    in_redis.submit()
    intruder = Intruder(in_redis, name, number, after=after)
    for _ in range(4):
        in_redis.run_bells()
        was_over = intruder.done
        assert not (in_redis.fetch() and was_over)
        in_redis.run_bells()
        in_redis.look()
        in_redis.clock.advance(PAUSE_MS)
    assert intruder.done
    in_redis.look()
    in_redis.run_bells()
    assert (in_redis.held(), leftovers(in_redis)) == ({}, [])
    assert of_kind(in_redis, Ended) == [in_redis.entries()[-1]]


def test_what_was_in_flight_when_a_job_was_cancelled_is_cached_for_others(
    in_redis: Spine,
) -> None:
    in_redis.submit()
    in_redis.run_bells()
    web = in_redis.web

    def cancelling(request: Request) -> FetchOutcome:
        if not in_redis.is_over():
            cancel(in_redis)
        return web(request)

    in_redis.web = cancelling
    assert in_redis.fetch() == 3
    assert of_kind(in_redis, FetchFinished) == []
    in_redis.web = web
    in_redis.fetched.clear()
    in_redis.submit("job_2")
    in_redis.drive("job_2")
    assert "https://news.test/feed" not in in_redis.fetched


def test_the_deadline_ends_a_job_with_what_has_come(spine: Spine) -> None:
    spine.submit()
    spine.run_bells()
    spine.fetch()
    spine.run_bells()
    spine.clock.advance(DEADLINE_MS)
    spine.try_step("reduce", "job_1/reduce")
    assert state_of(spine) is JobState.PARTIAL
    result = spine.result()
    assert result.stop.reason is StopReason.DEADLINE
    assert [each.evidence for each in of_kind(spine, Stopped)] == [(NEWS.doc_id,)]
    assert (spine.held(), spine.used()) == ({}, charged(result))


def test_a_step_that_ended_its_job_and_died_is_cleared_by_the_next_try(in_redis: Spine) -> None:
    in_redis.submit()
    in_redis.run_bells()
    stored = in_redis.tools.store.get("job_1")
    assert stored is not None
    ended = Ended(at_ms=NOW_MS, key="ended", state=JobState.EXPIRED)
    in_redis.tools.store.end(stored.spec, JobEvent.EXPIRE, ended)
    assert in_redis.held() != {}
    assert attempt(in_redis.tools, "job_1/reduce", reduce) == "left"
    assert (in_redis.held(), leftovers(in_redis)) == ({}, [])


# --- a site -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("suspend_ms", "wait_ms", "reason"),
    [(DEADLINE_MS * 2, 0, "suspended"), (0, DEADLINE_MS - 5_000, "deadline")],
)
def test_a_host_that_cannot_be_asked_in_time_is_not_offered_link_after_link(
    spine: Spine, suspend_ms: int, wait_ms: int, reason: str
) -> None:
    """Each refusal rings the reducer: with no end to it, one job would keep a worker busy until its deadline."""
    links = tuple(Link(url=f"{SITE}{number}", text="Page") for number in range(50))
    spine.web = lambda request: got(request, links=links)
    spine.suspend_ms = suspend_ms
    spine.submit(request=a_question(f"site:{SITE}"))
    spine.run_bells()
    spine.clock.advance(wait_ms)
    spine.fetch()
    spine.run_bells()
    refused = [each for each in of_kind(spine, FetchFinished) if each.state == "skipped"]
    assert [(each.fetch_id, each.reason) for each in refused] == [("all.site1#2", reason)]
    assert refused[0].until_ms > spine.clock.now_ms()
    assert spine.result().stop.reason is StopReason.NO_EVIDENCE
    assert spine.held() == {}


def test_what_the_ledger_has_too_little_of_is_said(spine: Spine) -> None:
    spine.submit(request=a_question(budget={"fetches": 1}))
    spine.run_bells()
    short = spine.tools.ledger.reserve("x", ["job:job_1"], {Dimension.FETCHES: 1}, lease_ms=1)
    assert short == Short(level="job:job_1", dimension=Dimension.FETCHES, left=0)


def test_a_reply_whose_request_is_not_noted_yet_ends_no_search(
    redis: Redis, redis_url: str
) -> None:
    """The only call's step died between the frontier and the log; the reducer looks before that step is tried again."""
    question = a_question(f"site:{SITE}")
    calm = Spine(redis_url, in_redis=True)
    calm.submit(request=question)
    calm.drive()
    expected = without_trace(calm.result())
    redis.flushall()
    spine = Spine(redis_url, in_redis=True)
    spine.submit(request=question)
    spine.try_step("plan", "job_1/plan")
    offer = spine.tools.frontier.offer

    class DiesAfter:
        def offer(self, *args: Any, **kwargs: Any) -> Any:
            offer(*args, **kwargs)
            raise Crash

        def __getattr__(self, name: str) -> Any:
            return getattr(frontier, name)

    frontier = spine.tools.frontier
    whole, parts = spine.tools, {"frontier": DiesAfter()}
    spine.tools = replace(spine.tools, **parts)  # type: ignore[arg-type]
    [crawl_step] = [step_id for task, step_id in spine.bells if task == "crawl"]
    assert spine.try_step("crawl", crawl_step) == "crashed"
    spine.tools = whole
    spine.fetch()
    assert of_kind(spine, FetchFinished)
    assert not of_kind(spine, FetchQueued)
    assert spine.try_step("reduce", "job_1/reduce") == "resting"
    assert of_kind(spine, Stopped) == []
    spine.bells.append(("crawl", crawl_step))
    spine.drive()
    assert without_trace(spine.result()) == expected
