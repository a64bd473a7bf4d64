"""Searches over HTTP and over Redis without a gateway: the same requests, the same answers, the same refusals."""

import asyncio
from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from msgspec import UNSET
from redis import Redis
from signal_search.client import AsyncClient, Client
from signal_search.contracts.job import JobState
from signal_search.contracts.result import Result
from signal_search.contracts.search_result import SearchResult
from signal_search.errors import (
    Busy,
    Conflict,
    Invalid,
    ModeConflict,
    Position,
    ProgramError,
    ProgramTooLarge,
    SignalSearchError,
)

from api_gateway.request_slots import slots_of
from budget.slots import Slots
from infra import keys
from infra.redis import connect
from tests.fakes.gateway import running
from tests.fakes.search_stack import Served, keys_set, serving
from tests.fakes.walk import everything_in

WORDS = "Mount Corvel height"
REGISTERS = ("arxiv", "crossref")
SECRET = "sk-Zq7k9Wm2XbT4vN"


@pytest.fixture(scope="module")
def served(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Served]:
    with keys_set(), serving(redis_url, tmp_path_factory.mktemp("faces")) as found:
        yield found


@pytest.fixture
def store(served: Served) -> Iterator[Redis]:
    """The store, empty but for what the workers wrote at their start."""
    redis = connect(served.settings.redis_url)
    sources = redis.get(keys.sources())
    redis.flushdb()
    redis.set(keys.sources(), sources)
    served.web.log.clear()
    yield redis
    redis.close()


@pytest.fixture(params=["http", "redis"])
def client(
    request: pytest.FixtureRequest, served: Served, store: Redis, monkeypatch: pytest.MonkeyPatch
) -> Iterator[Client]:
    monkeypatch.setenv("SIGNAL_SEARCH_DATA_DIR", served.settings.data_dir)
    if request.param == "http":
        over = {"gateway_url": str(served.http.base_url)}
    else:
        over = {"redis_url": served.settings.redis_url}
    with Client(**over) as found:
        yield found


def refusal(client: Client, **asked: Any) -> SignalSearchError:
    with pytest.raises(SignalSearchError) as caught:
        client.search(**asked)
    return caught.value


# --- both faces -------------------------------------------------------------------------------------------------------


def test_a_search_and_its_job(client: Client) -> None:
    result = client.search(WORDS, sources=REGISTERS, max_results=3)
    assert isinstance(result, SearchResult)
    assert result.hits[0].doi == "10.5555/merrin.2020.014"
    assert len(result.hits) <= 3
    job = client.job(result.job_id)
    assert (job.kind, job.state, job.query) == ("search", JobState.SUCCEEDED, WORDS)
    assert client.result(result.job_id) == result
    with pytest.raises(Conflict) as caught:
        client.export(result.job_id, "bibtex")
    assert caught.value.code == "without_citations"


def test_a_survey(client: Client) -> None:
    result = client.survey_search(
        "the height of Mount Corvel", queries=(WORDS,), sources=("crossref",)
    )
    assert result.hits
    assert client.job(result.job_id).kind == "survey"
    assert client.result(result.job_id) == result


def test_the_same_key_is_the_same_search(client: Client, served: Served) -> None:
    first = client.search(WORDS, sources=REGISTERS, idempotency_key="k")
    asked = len(served.web.log.entries())
    assert client.search(WORDS, sources=REGISTERS, idempotency_key="k") == first
    assert len(served.web.log.entries()) == asked
    with pytest.raises(Conflict) as caught:
        client.search("tea", sources=REGISTERS, idempotency_key="k")
    assert caught.value.code == "idempotency_conflict"


PROGRAM = {"language": "qatlas-expr-v1", "score": "lexical"}


@pytest.mark.parametrize(
    ("asked", "told"),
    [
        ({}, (Invalid, "invalid_request", "query")),
        ({"query": "  "}, (Invalid, "invalid_request", "query")),
        ({"query": "q", "sources": ("nowhere",)}, (Invalid, "invalid_request", "sources")),
        ({"query": "q", "freshness": "2024-02-30..2024-03-01"}, (Invalid, "invalid_request", "freshness")),
        ({"query": "q", "max_results": 0}, (Invalid, "invalid_request", "max_results")),
        ({"query": "q", "ranking": "scorer"}, (ModeConflict, "ranking_conflict", "scorer")),
        ({"query": "q", "scorer": PROGRAM}, (ModeConflict, "ranking_conflict", "ranking")),
        ({"query": "q", "scorer": PROGRAM, "ranking": "auto"}, (ModeConflict, "ranking_conflict", "ranking")),
        ({"query": "q", "scorer": PROGRAM, "ranking": "scorer", "mode": "multi"}, (ModeConflict, "mode_conflict", "mode")),
        ({"query": "q", "scorer": {**PROGRAM, "score": "nope"}, "ranking": "scorer"}, (ProgramError, "unknown_name", "score")),
        ({"query": "q", "scorer": {**PROGRAM, "score": "1" * 5000}, "ranking": "scorer"}, (ProgramTooLarge, "scorer_too_large", "scorer")),
    ],
)  # fmt: skip
def test_what_is_refused_before_a_source_is_asked(
    client: Client, served: Served, asked: dict[str, Any], told: tuple[type, str, str]
) -> None:
    error = refusal(client, **asked)
    assert (type(error), error.code, error.field) == told
    assert served.web.log.entries() == []


def test_a_program_that_fails_is_told_with_its_place(client: Client) -> None:
    error = refusal(
        client,
        query=WORDS,
        sources=("crossref",),
        ranking="scorer",
        scorer={**PROGRAM, "score": "1 / (lexical - lexical)"},
    )
    assert (type(error), error.status) == (ProgramError, 422)
    assert (error.code, error.field, error.candidate_index) == ("division_by_zero", "score", 0)
    assert error.position == Position(line=1, column=1, end_line=1, end_column=24)


def test_no_slot_no_search(client: Client, served: Served, store: Redis) -> None:
    slots = Slots(store)
    assert all(slots.take(slots_of("search"), f"other-{n}", 4, 60_000) for n in range(4))
    client._desk._timing = _Impatient()  # type: ignore[assignment]
    error = refusal(client, query=WORDS, sources=("crossref",))
    assert isinstance(error, Busy)
    assert (error.code, error.retry_after_s) == ("rate_limited", 1.0)
    assert served.web.log.entries() == []
    assert client.survey_search("x", queries=(WORDS,), sources=("crossref",)).hits


class _Impatient:
    """Time that jumps over every wait, so that nothing is waited for."""

    def __init__(self) -> None:
        self._now_s = 0.0

    def monotonic(self) -> float:
        return self._now_s

    async def pause(self, seconds: float) -> None:
        self._now_s += seconds + 100


# --- HTTP's own -------------------------------------------------------------------------------------------------------


def post(served: Served, body: dict[str, Any], path: str = "/v1/search", **headers: str) -> Any:
    return served.http.post(path, json=body, headers=headers)


def test_who_prefers_not_to_wait_gets_the_job(served: Served, store: Redis) -> None:
    body = {"query": WORDS, "sources": REGISTERS}
    reply = post(served, body, prefer="respond-async, wait=10", **{"idempotency-key": "k"})
    assert reply.status_code == 202
    assert reply.headers["preference-applied"] == "respond-async"
    assert reply.headers["location"] == reply.json()["links"]["self"]
    again = post(served, body, **{"idempotency-key": "k"})
    assert again.status_code == 200
    assert again.headers["idempotency-replayed"] == "true"
    assert again.json()["job_id"] == reply.json()["id"]


def test_other_fields_are_left_alone_and_keys_never_stored(served: Served, store: Redis) -> None:
    body = {"query": WORDS, "sources": ["crossref"], "api_keys": {"brave": SECRET}, "novel": SECRET}
    assert post(served, body).status_code == 200
    survey = {"goal": WORDS, "sources": ["crossref"], "api_keys": {"brave": SECRET}}
    assert post(served, survey, "/v1/survey-search").status_code == 200
    assert not any(SECRET.encode() in each for each in everything_in(store))


@pytest.mark.parametrize("name", ["ranking", "scorer", "explain", "novel"])
@pytest.mark.parametrize("value", [None, False])
def test_a_survey_ranks_by_nothing_else(
    served: Served, store: Redis, name: str, value: object
) -> None:
    reply = post(served, {"goal": "g", name: value}, "/v1/survey-search")
    assert (reply.status_code, reply.json()["detail"]["code"]) == (422, "invalid_request")


def test_the_names_of_the_scorer_guide_are_known(served: Served, store: Redis) -> None:
    body = {"query": WORDS, "sources": ["crossref", "semantic_scholar", "scopus"], "mode": "fused"}
    reply = post(served, body).json()
    assert reply["errors"]["scopus"] == "not_configured"
    assert "semanticscholar" in {each["source_id"] for each in reply["source_outcomes"]}


def test_other_spellings_of_the_address_answer_too(served: Served, store: Redis) -> None:
    reply = post(served, {"query": WORDS, "sources": ["crossref"]}, "/v1/search/")
    assert reply.status_code == 200
    assert reply.json()["kind"] == "search"
    assert served.http.get("/v1/search").status_code == 405


def test_what_clients_of_the_scorer_guide_read(served: Served, store: Redis) -> None:
    """The shapes that are pinned: texts for errors, numbers for years, null for no conclusion."""
    body = {
        "query": WORDS,
        "max_results": 5,
        "sources": ["crossref", "scopus"],
        "agent": False,
        "mode": "fused",
        "ranking": "scorer",
        "scorer": PROGRAM,
        "explain": True,
    }
    reply = post(served, body).json()
    assert reply["conclusion"] is None
    assert reply["usage"]["llm_tokens"] == 0
    assert all(isinstance(each, str) for each in reply["errors"].values())
    for hit in reply["hits"]:
        assert isinstance(hit["source"], str)
        assert isinstance(hit["year"], int)
        assert all(isinstance(each, str) for each in hit["authors"])
        assert hit["score_detail"] is None
        assert hit["score_explanation"]["final_score"] == hit["score"]


def test_a_search_that_outlasts_the_wait_is_followed(served: Served, store: Redis) -> None:
    door = served.settings.gateway.model_copy(update={"max_wait_s": 0})
    program = {**PROGRAM, "score": "sqrt(0 - lexical - 1)"}
    with running(served.settings.model_copy(update={"gateway": door})) as http:
        assert http.post("/v1/search", json={"query": WORDS}).status_code == 202
        with Client(str(http.base_url)) as client:
            assert client.search(WORDS, sources=REGISTERS).hits
            error = refusal(
                client, query=WORDS, sources=("crossref",), ranking="scorer", scorer=program
            )
    assert (type(error), error.code, error.candidate_index) == (ProgramError, "domain", 0)


# --- asyncio ----------------------------------------------------------------------------------------------------------


def test_the_same_from_asyncio(served: Served, store: Redis) -> None:
    async def ask() -> tuple[SearchResult, object]:
        async with AsyncClient(gateway_url=str(served.http.base_url)) as client:
            found = await client.search(WORDS, sources=REGISTERS)
            return found, await client.survey_search(WORDS, sources=("crossref",))

    found, survey = asyncio.run(ask())
    assert found.hits[0].score is not UNSET
    assert not isinstance(survey, Result)
    assert msgspec.json.encode(survey).startswith(b'{"kind":"survey"')
