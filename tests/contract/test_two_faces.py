"""Two faces, one desk: the same client gets the same from a gateway and from Redis without one."""

import threading
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from redis import Redis
from signal_search.client import Client
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.query import Constraints, RetrieveRequest
from signal_search.contracts.result import Result
from signal_search.errors import (
    Conflict,
    Forbidden,
    Gone,
    Invalid,
    NotFound,
    SignalSearchError,
    Unauthorized,
)

from api_gateway.local import LocalTransport, open_local
from infra import keys
from infra.bundle import unpack
from infra.settings import load
from infra.tokens import TokenStore
from tests.fakes.gateway import a_result, bells_for, finish, running

ASKED = RetrieveRequest(query="How high is Mount Ansel?")


@pytest.fixture(scope="module")
def gateway(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(load(redis_url=redis_url, data_dir=str(tmp_path_factory.mktemp("two")))) as client:
        yield client


@pytest.fixture
def http(gateway: httpx.Client, redis: Redis) -> httpx.Client:
    """Return a client of a gateway over an empty store."""
    return gateway


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIGNAL_SEARCH_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture
def local(redis_url: str, redis: Redis, data_dir: Path) -> Iterator[LocalTransport]:
    transport = open_local(redis_url, None)
    yield transport
    transport.close()


@pytest.fixture(params=["http", "redis"])
def client(
    request: pytest.FixtureRequest, redis_url: str, data_dir: Path, http: httpx.Client
) -> Iterator[Client]:
    over = (
        {"gateway_url": str(http.base_url)} if request.param == "http" else {"redis_url": redis_url}
    )
    with Client(**over) as found:
        yield found


def submit(http: httpx.Client, **more: Any) -> httpx.Response:
    return http.post("/v1/retrieve", json={"query": ASKED.query}, **more)


def succeed(redis: Redis, job_id: str) -> bytes:
    raw = msgspec.json.encode(a_result(job_id))
    finish(redis, job_id, JobEvent.SUCCEED, result=raw)
    return raw


def test_a_job_from_submission_to_its_files(client: Client, redis: Redis):
    job = client.submit(ASKED)
    assert job.state is JobState.QUEUED
    ending = threading.Timer(0.1, succeed, (redis, job.id))
    ending.start()
    assert [entry.key for _id, entry in client.events(job.id)] == ["submitted", "ended"]
    ending.join()
    assert client.job(job.id).state is JobState.SUCCEEDED
    assert client.result(job.id) == a_result(job.id)
    assert client.export(job.id, "ris").startswith("TY  - ")
    assert unpack(client.bundle(job.id)).spec.request == ASKED
    assert client.sources() == ()
    with pytest.raises(Conflict) as caught:
        client.cancel(job.id)
    assert caught.value.code == "job_finished"


def test_refusals_reach_the_client_as_they_are(client: Client, redis: Redis):
    with pytest.raises(NotFound) as unknown:
        client.job("job_" + "0" * 26)
    assert unknown.value.code == "job_not_found"
    with pytest.raises(Invalid) as invalid:
        client.submit(
            RetrieveRequest(query="a", constraints=Constraints(freshness="2024-02-30..2024-03-01"))
        )
    assert invalid.value.field == "constraints.freshness"
    job = client.submit(ASKED, idempotency_key="k")
    assert client.submit(ASKED, idempotency_key="k").id == job.id
    with pytest.raises(Conflict) as conflict:
        client.submit(RetrieveRequest(query="b"), idempotency_key="k")
    assert conflict.value.code == "idempotency_conflict"
    with pytest.raises(Conflict) as unfinished:
        client.result(job.id)
    assert unfinished.value.code == "job_unfinished"
    assert client.cancel(job.id).state is JobState.CANCELLED
    redis.delete(keys.job(job.id))
    with pytest.raises(Gone):
        client.job(job.id)


def test_over_redis_tokens_count_as_over_http(redis: Redis, redis_url: str, data_dir: Path):
    store = TokenStore.load(data_dir / "tokens.json")
    reader, _record = store.create("red", ("read",), {}, now_ms=1)
    with pytest.raises(Unauthorized):
        open_local(redis_url, None)
    with pytest.raises(Unauthorized):
        open_local(redis_url, "sst_wrong")
    transport = open_local(redis_url, reader)
    with pytest.raises(Forbidden):
        transport.submit(ASKED, idempotency_key="k")
    assert transport.jobs(state=None, limit=None, cursor=None) == ((), None)
    transport.close()


def outcome(call: Callable[[], Any]) -> Any:
    try:
        return call()
    except SignalSearchError as error:
        return type(error), error.code, error.field, error.position, error.message


def test_a_job_submitted_over_redis_is_the_same_job_over_http(
    http: httpx.Client, local: LocalTransport, redis: Redis
):
    job = local.submit(RetrieveRequest(query=ASKED.query), idempotency_key="k")
    assert local.submit(RetrieveRequest(query=ASKED.query), idempotency_key="k").id == job.id
    assert submit(http, headers={"Idempotency-Key": "k"}).json()["id"] == job.id
    assert bells_for(redis, f"{job.id}/plan") == 1
    assert (
        msgspec.json.decode(msgspec.json.encode(local.job(job.id)))
        == http.get(f"/v1/jobs/{job.id}").json()
    )
    assert outcome(lambda: local.result(job.id))[:2] == (Conflict, "job_unfinished")
    assert [entry.key for _id, entry in local.events(job.id, after="", wait_s=0.01) if entry] == [
        "submitted"
    ]
    raw = succeed(redis, job.id)
    assert local.result(job.id) == msgspec.json.decode(raw, type=Result)
    assert [entry.key for _id, entry in local.events(job.id, after="", wait_s=5) if entry] == [
        "submitted",
        "ended",
    ]
    assert (
        local.export(job.id, "ris").encode()
        == http.get(f"/v1/jobs/{job.id}/export?format=ris").content
    )
    assert local.bundle(job.id) == http.get(f"/v1/jobs/{job.id}/bundle").content
    jobs, cursor = local.jobs(state=JobState.SUCCEEDED, limit=1, cursor=None)
    assert ([each.id for each in jobs], cursor) == ([job.id], None)
    assert local.sources() == ()
    assert outcome(lambda: local.cancel(job.id))[:2] == (Conflict, "job_finished")


@pytest.mark.parametrize(
    "request_",
    [
        RetrieveRequest(query=" "),
        RetrieveRequest(query="x" * 4001),
        RetrieveRequest(query="a\x00"),
        RetrieveRequest(query="a", constraints=Constraints(freshness="2024-13-01..2024-13-02")),
        RetrieveRequest(query="a", constraints=Constraints(max_sources=0)),
        RetrieveRequest(query="a", result_ttl_s=1),
    ],
)
def test_both_refuse_the_same_in_the_same_words(
    http: httpx.Client, local: LocalTransport, request_: RetrieveRequest
):
    _type, code, field, position, message = outcome(
        lambda: local.submit(request_, idempotency_key="k")
    )
    reply = http.post(
        "/v1/retrieve",
        content=msgspec.json.encode(request_),
        headers={"Content-Type": "application/json"},
    )
    detail = reply.json()["detail"]
    assert (code, field, position, message) == (
        detail["code"],
        detail.get("field"),
        detail.get("position"),
        detail["message"],
    )
    assert _type is Invalid


def test_over_redis_unknown_and_expired_jobs_differ(local: LocalTransport, redis: Redis):
    assert outcome(lambda: local.job("job_" + "0" * 26))[:2] == (NotFound, "job_not_found")
    job_id = local.submit(RetrieveRequest(query="a"), idempotency_key="k").id
    redis.delete(keys.job(job_id))
    assert outcome(lambda: local.job(job_id))[:2] == (Gone, "result_expired")
