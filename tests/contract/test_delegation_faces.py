"""Delegations at the door: the same over HTTP and Redis, in the order of refusals, once, in time, per tenant."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from redis import Redis
from signal_search.client import Client
from signal_search.contracts.delegation import Delegation, RelevanceJudge, Shown
from signal_search.contracts.job import JobEvent, JobState
from signal_search.contracts.query import DelegationKind, RetrieveRequest
from signal_search.contracts.trace import Delegated, DelegationAnswered
from signal_search.errors import Conflict, Forbidden, Invalid, NotFound

from api_gateway.local import open_local
from infra.job_log import JobLog
from infra.settings import load
from infra.store_clock import StoreClock
from infra.tokens import TokenStore
from tests.fakes.gateway import finish, running
from workers.pipeline.answer_schema import schema_of

ASKED = RetrieveRequest(
    query="How high is Mount Ansel?", delegate=(DelegationKind.RELEVANCE_JUDGE,)
)
NAME = "relevance_judge.q1"
QUESTION = RelevanceJudge(
    question=ASKED.query,
    passages=(
        Shown(number=1, url="https://a.test/", text="Mount Ansel is 2,114 metres high."),
        Shown(number=2, url="https://b.test/", text="The hut opens in June."),
    ),
)


@pytest.fixture(scope="module")
def gateway(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    folder = str(tmp_path_factory.mktemp("faces"))
    with running(load(redis_url=redis_url, data_dir=folder)) as client:
        yield client


@pytest.fixture
def http(gateway: httpx.Client, redis: Redis) -> httpx.Client:
    return gateway


@pytest.fixture
def data_dir(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("SIGNAL_SEARCH_DATA_DIR", str(tmp_path))
    return tmp_path


@pytest.fixture(params=["http", "redis"])
def client(
    request: pytest.FixtureRequest, redis_url: str, data_dir: Path, http: httpx.Client
) -> Iterator[Client]:
    over = (
        {"gateway_url": str(http.base_url)} if request.param == "http" else {"redis_url": redis_url}
    )
    with Client(**over) as found:
        yield found


def asking(client: Client, redis: Redis, redis_url: str, *, wait_ms: int = 60_000) -> str:
    """Submit a job and ask what its worker would."""
    job = client.submit(ASKED)
    now_ms = StoreClock(redis_url).now_ms()
    delegation = Delegation(
        id=NAME,
        kind=DelegationKind.RELEVANCE_JUDGE,
        question=QUESTION,
        answer_schema=schema_of(QUESTION),
        deadline_ms=now_ms + wait_ms,
    )
    entry = Delegated(at_ms=now_ms, key=f"{NAME}:asked", delegation=delegation)
    JobLog(redis).append(job.id, entry)
    return job.id


def test_a_question_is_listed_answered_and_logged(client: Client, redis: Redis, redis_url: str):
    job_id = asking(client, redis, redis_url)
    [state] = client.delegations(job_id)
    assert (state.state, state.delegation.question) == ("open", QUESTION)
    said = client.answer(job_id, NAME, {"relevant": [1]}, tokens=9)
    assert (said.state, said.answer, said.tokens) == ("answered", {"relevant": [1]}, 9)
    assert client.delegations(job_id) == (said,)
    assert client.answer(job_id, NAME, {"relevant": [1]}, tokens=9) == said
    with pytest.raises(Conflict) as other:
        client.answer(job_id, NAME, {"relevant": [2]}, tokens=9)
    assert other.value.code == "delegation_answered"
    entries = [entry for _id, entry in JobLog(redis).read(job_id)]
    assert sum(isinstance(each, DelegationAnswered) for each in entries) == 1


@pytest.mark.parametrize(
    ("answer", "field"),
    [
        ({}, "answer"),
        ({"relevant": [3]}, "answer.relevant[0]"),
        ({"relevant": [1, 1]}, "answer.relevant"),
        ({"relevant": "1"}, "answer.relevant"),
        ({"relevant": [1], "sources": ["x"]}, "answer"),
    ],
)
def test_an_answer_beside_its_schema_is_refused(
    client: Client, redis: Redis, redis_url: str, answer: dict[str, Any], field: str
):
    job_id = asking(client, redis, redis_url)
    with pytest.raises(Invalid) as refused:
        client.answer(job_id, NAME, answer)
    assert refused.value.field == field
    assert client.delegations(job_id)[0].state == "open"


def test_late_unknown_and_ended_are_told_apart(client: Client, redis: Redis, redis_url: str):
    late = asking(client, redis, redis_url, wait_ms=-5_000)
    with pytest.raises(Conflict) as over:
        client.answer(late, NAME, {"relevant": []})
    assert over.value.code == "delegation_late"
    with pytest.raises(NotFound) as unknown:
        client.answer(late, "entail", None)
    assert unknown.value.code == "delegation_not_found"
    ended = asking(client, redis, redis_url)
    finish(redis, ended, JobEvent.CANCEL)
    with pytest.raises(Conflict) as gone:
        client.answer(ended, NAME, {"relevant": []})
    assert gone.value.code == "delegation_late"
    assert client.job(ended).state is JobState.CANCELLED


def test_declining_ends_the_question(client: Client, redis: Redis, redis_url: str):
    job_id = asking(client, redis, redis_url)
    assert client.answer(job_id, NAME, None).state == "declined"
    assert client.answer(job_id, NAME, None).state == "declined"
    with pytest.raises(Conflict):
        client.answer(job_id, NAME, {"relevant": []})


def test_an_answer_rings_the_step_that_waits(client: Client, redis: Redis, redis_url: str):
    job_id = asking(client, redis, redis_url)
    before = redis.hget(_step(job_id), "rung")
    client.answer(job_id, NAME, {"relevant": [2]})
    assert redis.hget(_step(job_id), "rung") != before


def _step(job_id: str) -> str:
    from infra import keys  # noqa: PLC0415

    return keys.step(keys.step_shard(f"{job_id}/plan"), f"{job_id}/plan")


def test_over_http_statuses_and_events_are_as_described(
    http: httpx.Client, redis: Redis, redis_url: str, data_dir: Path
):
    with Client(str(http.base_url)) as client:
        job_id = asking(client, redis, redis_url)
    here = f"/v1/jobs/{job_id}/delegations"
    assert http.get(f"/v1/jobs/{job_id}").json()["links"]["delegations"] == here
    listed = http.get(here).json()["delegations"][0]
    assert listed["delegation"]["question"]["kind"] == "relevance_judge"
    assert listed["delegation"]["answer_schema"]["properties"]["relevant"]["items"] == {
        "enum": [1, 2]
    }
    cases: list[tuple[Any, int]] = [
        ({"answer": {"relevant": [1]}, "more": 1}, 422),
        ({"answer": {"relevant": [1]}, "decline": True}, 422),
        ({"answer": None}, 422),
        ({"answer": {"relevant": [1]}, "tokens": -1}, 422),
        ({"answer": {"relevant": [1.0]}}, 422),
    ]
    for body, status in cases:
        assert http.post(f"{here}/{NAME}", json=body).status_code == status, body
    assert http.post(f"{here}/{NAME}", content=b"{", headers=JSON).status_code == 400
    assert http.post(f"{here}/nothing", json={"decline": True}).status_code == 404
    assert http.post(f"{here}/{NAME}", json={"answer": {"relevant": [1]}}).status_code == 200
    finish(redis, job_id, JobEvent.CANCEL)
    events = http.get(f"/v1/jobs/{job_id}/events").text
    names = [
        line.removeprefix("event: ") for line in events.splitlines() if line.startswith("event")
    ]
    assert names == ["submitted", "delegated", "delegation_answered", "ended"]


JSON = {"content-type": "application/json"}


def test_another_tenant_sees_and_answers_nothing(redis: Redis, redis_url: str, data_dir: Path):
    store = TokenStore.load(data_dir / "tokens.json")
    red, _record = store.create("red", ("read", "write"), {}, now_ms=1)
    blue, _record = store.create("blue", ("read", "write"), {}, now_ms=1)
    reader, _record = store.create("red", ("read",), {}, now_ms=1)
    with Client(transport=open_local(redis_url, red)) as owner:
        job_id = asking(owner, redis, redis_url)
        with Client(transport=open_local(redis_url, blue)) as other:
            for call in (
                lambda: other.delegations(job_id),
                lambda: other.answer(job_id, NAME, {"relevant": [1]}),
            ):
                with pytest.raises(NotFound) as unseen:
                    call()
                assert unseen.value.code == "job_not_found"
        with Client(transport=open_local(redis_url, reader)) as looking:
            assert len(looking.delegations(job_id)) == 1
            with pytest.raises(Forbidden):
                looking.answer(job_id, NAME, {"relevant": [1]})
        assert owner.answer(job_id, NAME, {"relevant": [1]}).state == "answered"


def test_the_description_has_both_addresses():
    from api_gateway.openapi import DESCRIPTION  # noqa: PLC0415

    paths = DESCRIPTION["paths"]
    assert "get" in paths["/v1/jobs/{job_id}/delegations"]
    assert "post" in paths["/v1/jobs/{job_id}/delegations/{delegation_id}"]
    assert msgspec.json.encode(DESCRIPTION)
