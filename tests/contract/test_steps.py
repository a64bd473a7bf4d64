"""The ledger of steps: no bell lost, no step held twice, no stale worker heard."""

import pytest
from redis import Redis

from infra.job_log import JobLog
from infra.job_store import JobStore
from infra.opened_job import OpenedJob, reading
from infra.steps import StepRules, Steps
from tests.fakes.builders import a_job

NOW = 1_790_000_000_000
RULES = StepRules(lease_ms=1000, grace_ms=100, max_attempts=3, ttl_ms=60_000)
STEP = "job_1/reduce"


@pytest.fixture
def steps(redis: Redis) -> Steps:
    return Steps(redis, RULES)


def test_a_made_step_is_claimed_once(steps: Steps):
    assert steps.make(STEP, "reduce", now_ms=NOW)
    assert not steps.make(STEP, "reduce", now_ms=NOW)
    first = steps.claim(STEP, now_ms=NOW)
    assert (first.outcome, first.attempt) == ("claimed", 1)
    assert steps.claim(STEP, now_ms=NOW + 999).outcome == "held"


def test_several_steps_are_made_at_once_and_those_that_are_there_stay(steps: Steps):
    steps.make("job_1/crawl/a", "crawl")
    assert steps.claim("job_1/crawl/a").outcome == "claimed"
    steps.make_all(["job_1/crawl/a", "job_1/crawl/b"])
    asked = [steps.claim(f"job_1/crawl/{each}").outcome for each in "abc"]
    assert asked == ["held", "claimed", "gone"]
    steps.make_all([])


def test_a_claim_reads_the_job_in_the_same_trip(steps: Steps, redis: Redis):
    spec = a_job(request_id="req_1")
    JobStore(redis).create(spec)
    steps.make(STEP, "reduce", now_ms=NOW)
    claim, read = steps.claim_and_read(STEP, reading("job_1"), now_ms=NOW)
    job = OpenedJob(read)
    assert (claim.outcome, job.request_id) == ("claimed", "req_1")
    assert job.stored == JobStore(redis).get("job_1")
    assert job.entries == JobLog(redis).read("job_1")
    assert [entry.key for _id, entry in job.entries] == ["submitted"]


def test_an_unknown_job_reads_as_nothing(steps: Steps):
    claim, read = steps.claim_and_read("job_2/plan", reading("job_2"), now_ms=NOW)
    job = OpenedJob(read)
    assert (claim.outcome, job.stored, job.entries, job.request_id) == ("gone", None, [], "")


def test_an_unknown_step_is_gone(steps: Steps):
    assert steps.claim("job_2/plan", now_ms=NOW).outcome == "gone"


def test_a_lost_bell_is_rung_again_after_the_grace_time_by_one_worker_only(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    assert steps.overdue(now_ms=NOW + 99) == []
    assert steps.overdue(now_ms=NOW + 100) == [(STEP, "reduce")]
    assert steps.overdue(now_ms=NOW + 101) == []


def test_a_dead_workers_step_is_overdue_when_its_lease_ends(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.claim(STEP, now_ms=NOW)
    assert steps.overdue(now_ms=NOW + 999) == []
    assert steps.overdue(now_ms=NOW + 1000) == [(STEP, "reduce")]
    again = steps.claim(STEP, now_ms=NOW + 1001)
    assert (again.outcome, again.attempt) == ("claimed", 2)


def test_a_stale_worker_changes_nothing(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    stale = steps.claim(STEP, now_ms=NOW)
    fresh = steps.claim(STEP, now_ms=NOW + 1001)
    assert steps.leave(STEP, stale, now_ms=NOW + 1002) == "superseded"
    assert steps.rest(STEP, stale, wake_ms=10, now_ms=NOW + 1002) == "superseded"
    assert not steps.renew(STEP, stale, now_ms=NOW + 1002)
    assert not steps.retry(STEP, stale, wait_ms=1, now_ms=NOW + 1002)
    assert steps.leave(STEP, fresh, now_ms=NOW + 1003) == "left"


def test_news_during_a_claim_is_looked_at_afterwards(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    claim = steps.claim(STEP, now_ms=NOW)
    assert steps.ring(STEP, now_ms=NOW + 1) == ""
    assert steps.rest(STEP, claim, wake_ms=0, now_ms=NOW + 2) == "again"
    after = steps.claim(STEP, now_ms=NOW + 3)
    assert after.outcome == "claimed"
    assert steps.rest(STEP, after, wake_ms=0, now_ms=NOW + 4) == "resting"


def test_ringing_an_idle_step_makes_it_due(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.rest(STEP, steps.claim(STEP, now_ms=NOW), wake_ms=0, now_ms=NOW)
    assert steps.overdue(now_ms=NOW + 50_000) == []
    assert steps.ring(STEP, now_ms=NOW + 50_000) == "reduce"
    assert steps.ring(STEP, now_ms=NOW + 50_001) == ""
    assert steps.overdue(now_ms=NOW + 50_100) == [(STEP, "reduce")]


def test_a_resting_step_wakes_by_itself(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.rest(STEP, steps.claim(STEP, now_ms=NOW), wake_ms=5000, now_ms=NOW)
    assert steps.overdue(now_ms=NOW + 4999) == []
    assert steps.overdue(now_ms=NOW + 5000) == [(STEP, "reduce")]
    assert steps.claim(STEP, now_ms=NOW + 5001).outcome == "claimed"


def test_a_poison_step_dies_after_its_attempts(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    for attempt in (1, 2, 3):
        claim = steps.claim(STEP, now_ms=NOW + attempt * 2000)
        assert claim.attempt == attempt
    assert steps.claim(STEP, now_ms=NOW + 10_000).outcome == "dead"
    assert steps.claim(STEP, now_ms=NOW + 20_000).outcome == "dead"
    assert steps.overdue(now_ms=NOW + 99_000) == []


def test_success_forgives_earlier_attempts(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.claim(STEP, now_ms=NOW)
    second = steps.claim(STEP, now_ms=NOW + 2000)
    steps.rest(STEP, second, wake_ms=1, now_ms=NOW + 2001)
    assert steps.claim(STEP, now_ms=NOW + 3000).attempt == 1


def test_renewing_prolongs_the_lease(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    claim = steps.claim(STEP, now_ms=NOW)
    assert steps.renew(STEP, claim, now_ms=NOW + 900)
    assert steps.claim(STEP, now_ms=NOW + 1500).outcome == "held"


def test_a_dropped_step_leaves_nothing(steps: Steps, redis: Redis):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.drop(STEP)
    assert redis.keys("*") == []


# --- since when a step waits for a worker ------------------------------------------------------------------------------


def test_a_claim_says_how_long_the_step_was_due(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.overdue(now_ms=NOW + 100)  # ringing again does not make it younger
    steps.overdue(now_ms=NOW + 700)
    first = steps.claim(STEP, now_ms=NOW + 800)
    assert first.waited_ms == 800
    steps.rest(STEP, first, wake_ms=5000, now_ms=NOW + 900)
    steps.overdue(now_ms=NOW + 6000)  # it woke at 5900
    second = steps.claim(STEP, now_ms=NOW + 6030)
    assert second.waited_ms == 130
    steps.retry(STEP, second, wait_ms=1000, now_ms=NOW + 6100)
    third = steps.claim(STEP, now_ms=NOW + 7150)
    assert third.waited_ms == 50
    steps.overdue(now_ms=NOW + 8200)  # its worker died: the lease ended at 8150
    assert steps.claim(STEP, now_ms=NOW + 8400).waited_ms == 250


def test_news_for_an_idle_step_count_from_the_ring(steps: Steps):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.rest(STEP, steps.claim(STEP, now_ms=NOW), wake_ms=0, now_ms=NOW)
    steps.ring(STEP, now_ms=NOW + 70)
    steps.ring(STEP, now_ms=NOW + 90)
    claim = steps.claim(STEP, now_ms=NOW + 100)
    assert claim.waited_ms == 30
    steps.ring(STEP, now_ms=NOW + 110)
    assert steps.rest(STEP, claim, wake_ms=0, now_ms=NOW + 120) == "again"
    assert steps.claim(STEP, now_ms=NOW + 125).waited_ms == 5


# --- a worker that leaves -----------------------------------------------------------------------------------------------


def test_what_a_leaving_worker_holds_is_due_at_once_and_its_attempt_uncounted(
    steps: Steps, redis: Redis
):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.make("job_2/plan", "plan", now_ms=NOW)
    steps.make("job_3/plan", "plan", now_ms=NOW)
    held = steps.claim(STEP, now_ms=NOW)
    done = steps.claim("job_2/plan", now_ms=NOW)
    steps.leave("job_2/plan", done, now_ms=NOW + 1)
    assert steps.give_back(now_ms=NOW + 10) == [STEP]
    assert steps.give_back(now_ms=NOW + 11) == []
    assert steps.leave(STEP, held, now_ms=NOW + 12) == "superseded"
    other = Steps(redis, RULES)
    again = other.claim(STEP, now_ms=NOW + 20)
    assert (again.outcome, again.attempt, again.waited_ms) == ("claimed", 1, 10)
    assert other.leave(STEP, again, now_ms=NOW + 21) == "left"


def test_a_step_that_is_someone_elses_by_now_is_not_given_back(steps: Steps, redis: Redis):
    steps.make(STEP, "reduce", now_ms=NOW)
    steps.claim(STEP, now_ms=NOW)
    other = Steps(redis, RULES)
    fresh = other.claim(STEP, now_ms=NOW + 1001)
    assert steps.give_back(now_ms=NOW + 1002) == []
    assert other.leave(STEP, fresh, now_ms=NOW + 1003) == "left"
