"""Job store and job log: one terminal entry, each key once, nothing after the end."""

import itertools

import pytest
from redis import Redis
from signal_search.contracts.job import TERMINAL_STATES, TRANSITIONS, JobEvent, JobState
from signal_search.contracts.trace import CallRefused, Ended, Submitted

from infra import keys
from infra.job_log import JobLog
from infra.job_store import JobStore
from tests.fakes.builders import NOW_MS, a_document, a_job


@pytest.fixture
def store(redis: Redis) -> JobStore:
    return JobStore(redis)


@pytest.fixture
def log(redis: Redis) -> JobLog:
    return JobLog(redis)


def ended(state: JobState) -> Ended:
    return Ended(at_ms=NOW_MS + 5, key="ended", state=state)


def refused(key: str) -> CallRefused:
    return CallRefused(at_ms=NOW_MS, key=key, call_id="q1.one", source_id="one", reason="budget")


def test_creating_twice_makes_one_job(store: JobStore, log: JobLog):
    assert store.create(a_job())
    assert not store.create(a_job())
    [(_id, entry)] = log.read("job_1")
    assert entry == Submitted(at_ms=NOW_MS, key="submitted", job=a_job())


def test_an_entry_is_stored_once_by_its_key(store: JobStore, log: JobLog):
    store.create(a_job())
    [first] = log.append("job_1", refused("a"))
    [again, other] = log.append("job_1", refused("a"), refused("b"))
    assert first == again != other
    assert [entry.key for _id, entry in log.read("job_1")] == ["submitted", "a", "b"]


def test_reading_resumes_after_an_id(store: JobStore, log: JobLog):
    store.create(a_job())
    [first, _second] = log.append("job_1", refused("a"), refused("b"))
    assert [entry.key for _id, entry in log.read("job_1", after=first)] == ["b"]
    assert [entry.key for _id, entry in log.wait("job_1", after=first, timeout_ms=10)] == ["b"]


def test_nothing_follows_the_end(store: JobStore, log: JobLog):
    store.create(a_job())
    assert store.end(a_job(), JobEvent.CANCEL, ended(JobState.CANCELLED)) is JobState.CANCELLED
    assert store.end(a_job(), JobEvent.FAIL, ended(JobState.FAILED)) is None
    assert log.append("job_1", refused("late")) == [""]
    assert [entry.key for _id, entry in log.read("job_1")] == ["submitted", "ended"]


def test_an_unknown_job_takes_no_entries(log: JobLog):
    assert log.append("job_9", refused("a")) == [""]
    assert log.read("job_9") == []


@pytest.mark.parametrize(("state", "event"), list(itertools.product(JobState, JobEvent)))
def test_every_state_and_event_follows_the_table(
    redis: Redis, store: JobStore, state: JobState, event: JobEvent
):
    store.create(a_job())
    redis.hset("ss:{j:job_1}:job", "state", state.value)
    expected = TRANSITIONS.get((state, event))
    if event in {JobEvent.PLAN, JobEvent.CRAWL, JobEvent.REDUCE, JobEvent.DELEGATE}:
        got = store.transition("job_1", event)
    else:
        got = store.end(a_job(), event, ended(JobState.FAILED))
    assert got is expected
    if state in TERMINAL_STATES:
        assert got is None


def test_an_ended_job_lives_for_its_results_time(redis: Redis, store: JobStore):
    store.create(a_job())
    redis.hset("ss:{j:job_1}:job", "state", "reducing")
    store.end(a_job(), JobEvent.SUCCEED, ended(JobState.SUCCEEDED), result=b"{}")
    job = store.get("job_1")
    assert job is not None
    assert job.expires_at_ms == NOW_MS + 5 + 600_000
    for name in ("job", "log", "once", "result"):
        assert 590_000 < redis.pttl(f"ss:{{j:job_1}}:{name}") <= 600_000
    assert store.result("job_1") == b"{}"


def test_jobs_are_listed_newest_first_in_pages(store: JobStore):
    for number in range(5):
        store.create(a_job(id=f"job_{number}", created_at_ms=NOW_MS + number))
    store.create(a_job(id="job_other", tenant="other"))
    page, cursor = store.newest(("local",), limit=2)
    assert [job.spec.id for job in page] == ["job_4", "job_3"]
    page, cursor = store.newest(("local",), before=cursor, limit=2)
    assert [job.spec.id for job in page] == ["job_2", "job_1"]
    page, cursor = store.newest(("local",), before=cursor, limit=2)
    assert ([job.spec.id for job in page], cursor) == (["job_0"], "")


def test_documents_come_back_as_they_were(store: JobStore, log: JobLog):
    store.create(a_job())
    document = a_document(text="安塞尔山海拔 2114 米。\n" * 1000)
    log.put_documents("job_1", [document], ttl_ms=1000)
    assert log.documents("job_1", ["d1", "missing"]) == {"d1": document}


def test_every_key_of_a_job_has_a_life_time(redis: Redis, store: JobStore, log: JobLog):
    store.create(a_job())
    log.append("job_1", refused("a"))
    log.put_documents("job_1", [a_document()], ttl_ms=1000)
    mortal = set(redis.scan_iter("*")) - {keys.open_jobs().encode()}
    for key in mortal:
        assert redis.pttl(key) > 0, key
    assert redis.zrange(keys.open_jobs(), 0, -1) == [b"job_1"]
    store.forget("job_1")
    assert not redis.exists(keys.open_jobs())
