"""Jobs over HTTP from submission to the end: keys, waiting, events, files; and the same over Redis without HTTP."""

import socket
import threading
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from redis import Redis
from signal_search.contracts.job import JobEvent
from signal_search.contracts.source import SourceView
from signal_search.contracts.trace import CallStarted, FetchFinished, FetchQueued, Planned

from api_gateway.local import LocalTransport, open_local
from budget.frontier import Offer
from budget.redis_frontier import RedisFrontier
from infra import keys
from infra.bundle import unpack
from infra.heartbeat import beat
from infra.job_log import JobLog
from infra.settings import load
from tests.fakes.builders import a_document, a_plan, a_request
from tests.fakes.gateway import a_result, bells_for, finish, running

ASKED = {"query": "How high is Mount Ansel?"}


@pytest.fixture(scope="module")
def gateway(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(
        load(redis_url=redis_url, data_dir=str(tmp_path_factory.mktemp("jobs")))
    ) as client:
        yield client


@pytest.fixture
def http(gateway: httpx.Client, redis: Redis) -> httpx.Client:
    """Return a client of a gateway over an empty store."""
    return gateway


@pytest.fixture
def local(
    redis_url: str, redis: Redis, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> Iterator[LocalTransport]:
    monkeypatch.setenv("SIGNAL_SEARCH_DATA_DIR", str(tmp_path))
    transport = open_local(redis_url, None)
    yield transport
    transport.close()


def submit(http: httpx.Client, request: dict[str, Any] = ASKED, **more: Any) -> httpx.Response:
    return http.post("/v1/retrieve", json=request, **more)


def succeed(redis: Redis, job_id: str) -> bytes:
    raw = msgspec.json.encode(a_result(job_id))
    finish(redis, job_id, JobEvent.SUCCEED, result=raw)
    return raw


def events(text: str) -> list[dict[str, str]]:
    found = []
    for block in text.split("\n\n"):
        lines = [
            line.partition(": ") for line in block.split("\n") if line and not line.startswith(":")
        ]
        if any(name == "data" for name, _, _ in lines):
            found.append({name: value for name, _, value in lines})
    return found


def wait_until(is_so: Callable[[], bool]) -> None:
    ends = time.monotonic() + 30
    while not is_so():
        assert time.monotonic() < ends, "it did not come true"
        time.sleep(0.01)


def test_a_submission_is_a_job_a_due_step_and_a_bell(http: httpx.Client, redis: Redis):
    reply = submit(http, {**ASKED, "depth": "deep", "result_ttl_s": 600})
    job = reply.json()
    here = f"/v1/jobs/{job['id']}"
    assert (reply.status_code, reply.headers["location"]) == (202, here)
    assert int(reply.headers["retry-after"]) >= 1
    assert (job["kind"], job["state"], job["query"]) == ("retrieve", "queued", ASKED["query"])
    assert job["deadline_ms"] - job["created_at_ms"] == 3_600_000  # L3 of infra/defaults.toml
    assert job["links"] == {
        "self": here, "result": f"{here}/result", "events": f"{here}/events", "export": f"{here}/export",
        "delegations": f"{here}/delegations",
    }  # fmt: skip
    step = redis.hgetall(keys.step(keys.step_shard(f"{job['id']}/plan"), f"{job['id']}/plan"))
    assert (step[b"state"], step[b"task"]) == (b"due", b"plan")
    wait_until(lambda: bells_for(redis, f"{job['id']}/plan") == 1)
    # Bells of an earlier test may ring late, and such as wait together share a message.
    told = [msgspec.json.decode(each)["headers"] for each in redis.lrange("ss:mq:plan", 0, -1)]
    [headers] = [each for each in told if f"'{job['id']}/plan'" in each["argsrepr"]]
    assert headers["task"] == "workers.tasks.plan"
    assert headers["expires"]
    assert redis.llen("ss:mq:crawl") == 0


@pytest.mark.parametrize(
    ("request_", "seconds"),
    [
        ({"query": "a"}, 3600),
        ({"query": "a", "depth": "quick"}, 300),
        ({"query": "a", "constraints": {"required_tier": "L0"}}, 120),
        ({"query": "/signal L1 a", "depth": "deep"}, 300),
        ({"query": "a", "depth": "deep", "constraints": {"deadline_s": 1.5}}, 1.5),
    ],
)
def test_the_deadline_is_the_callers_or_the_tiers(
    http: httpx.Client, request_: dict[str, Any], seconds: float
):
    job = submit(http, request_).json()
    assert job["deadline_ms"] - job["created_at_ms"] == seconds * 1000


def test_the_plan_may_bring_the_deadline_forward(http: httpx.Client, redis: Redis):
    job = submit(http).json()
    for number, deadline_ms in enumerate((job["deadline_ms"] - 5, job["deadline_ms"] + 5)):
        other = submit(http).json()
        plan = a_plan(deadline_ms=deadline_ms - job["created_at_ms"] + other["created_at_ms"])
        JobLog(redis).append(other["id"], Planned(at_ms=1, key="planned", plan=plan, rules={}))
        shown = http.get(f"/v1/jobs/{other['id']}").json()
        assert shown["deadline_ms"] == other["deadline_ms"] - (5 if number == 0 else 0)


def test_one_key_is_one_job(http: httpx.Client, redis: Redis):
    headers = {"Idempotency-Key": "one"}
    first = submit(http, headers=headers)
    again = http.post(
        "/v1/retrieve",
        content=b'{ "query" : "How high is Mount Ansel?" }',
        headers={**headers, "Content-Type": "application/json"},
    )
    assert (first.status_code, again.status_code) == (202, 200)
    assert first.json()["id"] == again.json()["id"]
    assert again.headers["idempotency-replayed"] == "true"
    assert "idempotency-replayed" not in first.headers
    step_id = f"{first.json()['id']}/plan"
    wait_until(lambda: bells_for(redis, step_id) == 1)
    other = submit(http, {"query": "zz9secret"}, headers=headers)
    assert (other.status_code, other.json()["detail"]["code"]) == (409, "idempotency_conflict")
    assert "zz9secret" not in other.text
    assert len(http.get("/v1/jobs").json()["jobs"]) == 1
    [record] = redis.keys("ss:{t:local}:idem:*")
    assert 86_000_000 < redis.pttl(record) <= 86_400_000


def test_a_submission_that_died_half_way_is_finished_by_its_repetition(
    http: httpx.Client, redis: Redis
):
    headers = {"Idempotency-Key": "died"}
    job_id = submit(http, headers=headers).json()["id"]
    wait_until(lambda: bells_for(redis, f"{job_id}/plan") == 1)
    for name in (
        keys.job(job_id),
        keys.job_log(job_id),
        keys.job_once(job_id),
        keys.tenant_jobs("local"),
        "ss:mq:plan",
    ):
        redis.delete(name)  # as if the process had died after the record and the step
    again = submit(http, headers=headers)
    assert (again.status_code, again.json()["id"]) == (202, job_id)
    wait_until(lambda: bells_for(redis, f"{job_id}/plan") == 1)


def test_a_key_whose_job_expired_makes_no_second_job(http: httpx.Client, redis: Redis):
    headers = {"Idempotency-Key": "old"}
    job_id = submit(http, headers=headers).json()["id"]
    redis.delete(keys.job(job_id))
    assert submit(http, headers=headers).status_code == 410


def test_a_key_must_be_visible_ascii(http: httpx.Client):
    for given in ("", "x" * 256, b"\xc3\xa9"):
        reply = http.post(
            "/v1/retrieve",
            json=ASKED,
            headers=[(b"Idempotency-Key", given if isinstance(given, bytes) else given.encode())],
        )
        assert (reply.status_code, reply.json()["detail"]["field"]) == (422, "Idempotency-Key")


def test_wait_answers_with_the_result_when_the_job_ends_in_time(http: httpx.Client, redis: Redis):
    replies: list[httpx.Response] = []
    waiting = threading.Thread(target=lambda: replies.append(submit(http, params={"wait": "20"})))
    waiting.start()
    wait_until(lambda: redis.zcard(keys.tenant_jobs("local")) == 1)
    [raw] = redis.zrange(keys.tenant_jobs("local"), 0, -1)
    expected = succeed(redis, raw.decode())
    waiting.join(30)
    [reply] = replies
    assert (reply.status_code, reply.content) == (200, expected)
    assert reply.headers["location"] == f"/v1/jobs/{raw.decode()}"


def test_wait_answers_with_the_job_when_time_is_over(http: httpx.Client):
    reply = submit(http, params={"wait": "1"})
    assert (reply.status_code, reply.json()["state"]) == (202, "queued")


def test_wait_on_a_failed_job_is_its_error(http: httpx.Client, redis: Redis):
    headers = {"Idempotency-Key": "f"}
    job_id = submit(http, headers=headers).json()["id"]
    finish(redis, job_id, JobEvent.FAIL, error_code="unsupported_requirements", error_message="No.")
    reply = submit(http, headers=headers, params={"wait": "20"})
    assert (reply.status_code, reply.json()["detail"]["code"]) == (409, "unsupported_requirements")


def test_a_waiting_caller_who_leaves_does_not_end_the_job(http: httpx.Client, redis: Redis):
    """By hand: the caller has to be there when its job is made, however long that takes, and gone afterwards."""
    body = msgspec.json.encode(ASKED)
    head = (
        f"Host: 127.0.0.1\r\nContent-Type: application/json\r\nContent-Length: {len(body)}\r\n\r\n"
    )
    with socket.create_connection(("127.0.0.1", http.base_url.port or 0), timeout=30) as wire:
        wire.sendall(b"POST /v1/retrieve?wait=30 HTTP/1.1\r\n" + head.encode() + body)
        wait_until(lambda: http.get("/v1/jobs").json()["jobs"] != [])
    [job] = http.get("/v1/jobs").json()["jobs"]
    assert job["state"] == "queued"


def test_events_are_the_log_and_end_with_it(http: httpx.Client, redis: Redis):
    job_id = submit(http).json()["id"]
    JobLog(redis).append(job_id, Planned(at_ms=1, key="planned", plan=a_plan(), rules={}))
    succeed(redis, job_id)
    reply = http.get(f"/v1/jobs/{job_id}/events")
    assert reply.headers["content-type"].startswith("text/event-stream")
    seen = events(reply.text)
    assert [each["event"] for each in seen] == ["submitted", "planned", "ended"]
    assert [each["id"] for each in seen] == [name for name, _entry in JobLog(redis).read(job_id)]
    assert msgspec.json.decode(seen[1]["data"])["plan"]["tier"] == "L1"
    resumed = http.get(f"/v1/jobs/{job_id}/events", headers={"Last-Event-ID": seen[0]["id"]})
    assert events(resumed.text) == seen[1:]
    over = http.get(f"/v1/jobs/{job_id}/events", headers={"Last-Event-ID": seen[2]["id"]})
    assert events(over.text) == []


def test_events_come_while_the_job_runs(http: httpx.Client, redis: Redis):
    job_id = submit(http).json()["id"]
    with http.stream("GET", f"/v1/jobs/{job_id}/events") as reply:
        text, steps = (
            "",
            iter(
                [
                    lambda: JobLog(redis).append(
                        job_id,
                        CallStarted(at_ms=1, key="s", call_id="c", source_id="one", fetches=()),
                    ),
                    lambda: succeed(redis, job_id),
                ]
            ),
        )
        count = 0
        for chunk in reply.iter_text():
            text += chunk
            if len(events(text)) > count:
                count = len(events(text))
                next(steps, lambda: None)()
    assert [each["event"] for each in events(text)] == ["submitted", "call_started", "ended"]


def test_the_files_of_a_finished_job(http: httpx.Client, redis: Redis):
    job_id = submit(http).json()["id"]
    JobLog(redis).put_documents(job_id, [a_document()], ttl_ms=60_000)
    ended = FetchFinished(
        at_ms=1,
        key="x",
        fetch_id="c#0",
        call_id="c",
        url="https://example.org/a",
        state="fetched",
        documents=("d1",),
    )
    JobLog(redis).append(job_id, ended)
    raw = succeed(redis, job_id)
    assert http.get(f"/v1/jobs/{job_id}/result").content == raw
    ris = http.get(f"/v1/jobs/{job_id}/export", params={"format": "ris"})
    assert ris.headers["content-disposition"] == f'attachment; filename="{job_id}.ris"'
    assert ris.headers["content-type"] == "application/x-research-info-systems; charset=utf-8"
    assert "https://example.org/a" in ris.text
    packed = http.get(f"/v1/jobs/{job_id}/bundle")
    assert packed.headers["content-type"] == "application/zstd"
    bundle = unpack(packed.content)
    assert (bundle.spec.id, bundle.result, bundle.documents) == (job_id, raw, (a_document(),))
    assert list(bundle.entries) == JobLog(redis).read(job_id)
    done = http.get(f"/v1/jobs/{job_id}")
    assert (done.json()["state"], done.json()["progress"]["documents"]) == ("succeeded", 1)
    assert "retry-after" not in done.headers


def test_jobs_are_listed_newest_first_page_by_page(http: httpx.Client, redis: Redis):
    made = [submit(http, {"query": f"q{number}"}).json()["id"] for number in range(5)]
    for number, job_id in enumerate(made):
        redis.zadd(keys.tenant_jobs("local"), {job_id: number})
    http.delete(f"/v1/jobs/{made[1]}")
    http.delete(f"/v1/jobs/{made[3]}")
    seen: list[str] = []
    page: dict[str, Any] = {"next_cursor": ""}
    while page["next_cursor"] is not None:
        params = {"limit": 2, **({"cursor": page["next_cursor"]} if page["next_cursor"] else {})}
        page = http.get("/v1/jobs", params=params).json()
        assert len(page["jobs"]) <= 2
        seen += [each["id"] for each in page["jobs"]]
    assert seen == made[::-1]
    cancelled = http.get("/v1/jobs", params={"state": "cancelled"}).json()
    assert [each["id"] for each in cancelled["jobs"]] == [made[3], made[1]]


def test_cancelling_empties_frontier_and_steps(http: httpx.Client, redis: Redis):
    job = submit(http).json()
    job_id = job["id"]
    frontier = RedisFrontier(redis)
    offer = Offer(
        uid="u1",
        host="one.example",
        payload=b"x",
        job=job_id,
        waiter=f"{job_id}|q1.one#0",
        deadline_ms=job["deadline_ms"],
        pause_ms=14_000,
    )
    frontier.offer([offer])
    log = JobLog(redis)
    log.append(
        job_id,
        Planned(at_ms=1, key="planned", plan=a_plan(), rules={}),
        FetchQueued(at_ms=1, key="q", fetch_id="q1.one#0", call_id="q1.one", request=a_request(), uid="u1", host="one.example", disposition="queued"),
    )  # fmt: skip
    waiting = http.get(f"/v1/jobs/{job_id}").json()["progress"]
    assert (waiting["waiting_on"], waiting["fetches_queued"]) == (["one.example"], 1)
    assert waiting["eta_ms"] is not None
    assert frontier.host_state("one.example").queued == 1
    reply = http.delete(f"/v1/jobs/{job_id}")
    assert (reply.status_code, reply.json()["progress"]["waiting_on"]) == (202, [])
    assert frontier.host_state("one.example").queued == 0
    assert redis.keys("ss:{s:*}:step:*") == []
    assert [type(entry).__name__ for _id, entry in log.read(job_id)][-1] == "Ended"
    assert redis.zcard(keys.slots("jobs")) == 0


def test_sources_are_what_the_workers_wrote(http: httpx.Client, redis: Redis):
    assert http.get("/v1/sources").json() == {"sources": []}
    view = SourceView(id="arxiv", name="arXiv", kind="api", category="academic", languages=("en",), topics=(), access="open", enabled=True, key_present=None, constraints=(), terms="")  # fmt: skip
    redis.set(keys.sources(), msgspec.json.encode([view]))
    redis.set(keys.source_health("arxiv"), "source_timed_out")
    [shown] = http.get("/v1/sources").json()["sources"]
    assert (shown["id"], shown["enabled"], shown["health"]) == ("arxiv", True, "source_timed_out")


def test_ready_means_a_live_worker_for_every_queue(http: httpx.Client, redis: Redis):
    reply = http.get("/readyz")
    assert (reply.status_code, reply.json()["detail"]["code"]) == (503, "not_ready")
    beat(redis, "w1", "crawl", pid=1, started_ms=1)
    assert "crawl" not in http.get("/readyz").json()["detail"]["message"]
    beat(redis, "w2", "reduce", pid=2, started_ms=1)
    assert http.get("/readyz").json() == {"status": "ready", "workers": 2}


def test_metrics_count_by_route_and_not_by_id(http: httpx.Client, redis: Redis):
    job_id = submit(http).json()["id"]
    http.get(f"/v1/jobs/{job_id}")
    page = http.get("/metrics")
    assert page.headers["content-type"].startswith("text/plain")
    assert 'route="/v1/jobs/{job_id}"' in page.text
    assert job_id not in page.text
