"""The faces over HTTP: who comes in, how each refuses, what becomes of a job. The workers are the test itself."""

import base64
import json
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from redis import Redis
from signal_search.contracts.job import JobEvent, SearchSpec
from signal_search.contracts.result import StopReason

from infra.job_log import JobLog
from infra.job_store import JobStore
from infra.settings import load
from infra.tokens import TokenStore
from tests.fakes.crawled import FRONT, GUIDE, LOG
from tests.fakes.gateway import finish, running
from tests.fakes.hits import a_hit, a_search_result
from tests.fakes.servers import wait_until
from tests.fakes.walk import everything_in

TAVILY, SEARXNG = "/compat/tavily/search", "/compat/searxng/search"
FIRECRAWL, CRAWL = "/compat/firecrawl/v2/search", "/compat/firecrawl/v2/crawl"
SITE = {"url": "http://docs.test/"}
ASKED = {"q": "tidal arrays", "format": "json"}


class Tokens:
    def __init__(self, folder: Path) -> None:
        store = TokenStore(folder / "tokens.json")
        self.acme, _ = store.create("acme", {"read", "write"}, {}, now_ms=1)
        self.other, _ = store.create("other", {"read", "write"}, {}, now_ms=1)
        self.reader, _ = store.create("acme", {"read"}, {}, now_ms=1)


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("compat")


@pytest.fixture(scope="module")
def tokens(folder: Path) -> Tokens:
    return Tokens(folder)


@pytest.fixture(scope="module")
def locked(redis_url: str, folder: Path, tokens: Tokens) -> Iterator[httpx.Client]:
    """A gateway with tokens where nobody waits for long."""
    settings = load(redis_url=redis_url, data_dir=str(folder), gateway={"max_wait_s": 0})
    with running(settings) as client:
        yield client


@pytest.fixture(scope="module")
def gateway(redis_url: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[httpx.Client]:
    with running(
        load(redis_url=redis_url, data_dir=str(tmp_path_factory.mktemp("open")))
    ) as client:
        yield client


@pytest.fixture
def http(gateway: httpx.Client, redis: Redis) -> httpx.Client:
    return gateway


@pytest.fixture
def door(locked: httpx.Client, redis: Redis) -> httpx.Client:
    return locked


def bearer(token: str) -> dict[str, str]:
    return {"authorization": f"Bearer {token}"}


def the_job(http: httpx.Client) -> str:
    """Return the one job that somebody is submitting, once it is there."""
    found: list[str] = []

    def is_there() -> bool:
        found.extend(each["id"] for each in http.get("/v1/jobs").json()["jobs"])
        return bool(found)

    wait_until(is_there, "a job came")
    return found[0]


def answered(
    http: httpx.Client, redis: Redis, ask: Callable[[], httpx.Response], **result: Any
) -> tuple[httpx.Response, SearchSpec]:
    """Ask, play the worker that finishes the search, and return the answer and what was searched."""
    hits = result.pop("hits", (a_hit(),))
    with ThreadPoolExecutor(1) as pool:
        waiting = pool.submit(ask)
        job_id = the_job(http)
        stored = JobStore(redis).get(job_id)
        assert stored is not None
        assert isinstance(stored.spec, SearchSpec)
        raw = msgspec.json.encode(a_search_result(*hits, job_id=job_id, **result))
        finish(redis, job_id, JobEvent.SUCCEED, result=raw)
        return waiting.result(40), stored.spec


# --- each API's own words ---------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("path", "shape"),
    [
        ("/compat/tavily/extract", {"detail": {"error": "There is nothing at this address."}}),
        ("/compat/searxng/autocompleter", {"error": "There is nothing at this address."}),
        (
            "/compat/firecrawl/v2/scrape",
            {"success": False, "error": "There is nothing at this address.", "code": "NOT_FOUND"},
        ),
        (
            "/v2/scrape",
            {"success": False, "error": "There is nothing at this address.", "code": "NOT_FOUND"},
        ),
    ],
)
def test_an_unknown_address_is_404_in_its_apis_shape(
    http: httpx.Client, path: str, shape: object
) -> None:
    answer = http.post(path, json={}, headers={"content-type": "application/json"})
    assert (answer.status_code, answer.json()) == (404, shape)
    assert "x-request-id" in answer.headers


def test_an_unknown_face_is_404_in_our_shape(http: httpx.Client) -> None:
    answer = http.get("/compat/other/search")
    assert answer.status_code == 404
    assert answer.json()["detail"]["code"] == "not_found"


@pytest.mark.parametrize("path", [TAVILY, FIRECRAWL, CRAWL])
def test_another_method_is_405(http: httpx.Client, path: str) -> None:
    answer = http.get(path)
    assert answer.status_code == 405
    assert "POST" in answer.headers["allow"]
    assert "request_id" not in answer.json()


@pytest.mark.parametrize(
    ("body", "status", "words"),
    [
        (b"{", 400, "not JSON"),
        (b'{"query": "a\x00"}', 400, "NUL"),
        (b'{"query": "\xff"}', 400, "UTF-8"),
        (b"[]", 400, "Expected `object`"),
        (b'{"query": "a", "more": 1}', 400, "not known"),
        (b'{"query": 5}', 400, "query: Expected `str`"),
        (b"{}", 400, "query: This field is required."),
        (b'{"query": "   "}', 400, "query: This text is blank."),
        (b'{"query": "' + b"a" * 70_000 + b'"}', 413, "larger than the limit"),
        (b'{"query": "a", "x": ' + b"[" * 70 + b"]" * 70 + b"}", 400, "nested too deeply"),
    ],
)
@pytest.mark.parametrize("path", [TAVILY, FIRECRAWL])
def test_a_wrong_body_makes_no_job(
    http: httpx.Client, path: str, body: bytes, status: int, words: str
) -> None:
    answer = http.post(path, content=body, headers={"content-type": "application/json"})
    assert answer.status_code == status
    told = answer.json()
    text = told["detail"]["error"] if path == TAVILY else told["error"]
    assert words in text
    assert http.get("/v1/jobs").json()["jobs"] == []


def test_fields_in_camels_are_named_as_they_were_sent(http: httpx.Client) -> None:
    answer = http.post(FIRECRAWL, json={"query": "a", "includeDomains": [1]})
    assert answer.json()["error"].startswith("includeDomains[0]: Expected `str`")
    answer = http.post(
        CRAWL, json={"url": "http://a.test/", "scrapeOptions": {"onlyMainContent": 1}}
    )
    assert answer.json()["error"].startswith("scrapeOptions.onlyMainContent: Expected `bool`")


def test_a_wrong_media_type_is_415(http: httpx.Client) -> None:
    assert http.post(TAVILY, content=b"query=a").status_code == 415
    assert http.post(SEARXNG, json=ASKED).status_code == 415


@pytest.mark.parametrize(
    ("params", "status"),
    [
        ({"q": "a"}, 403),
        ({"q": "a", "format": "csv"}, 403),
        ({"q": "a", "format": "rss"}, 403),
        ({"format": "json"}, 400),
        ({**ASKED, "time_range": "decade"}, 400),
        ({**ASKED, "q": "a\x01b"}, 400),
    ],
)
@pytest.mark.parametrize("method", ["GET", "POST"])
def test_searxng_refuses_as_it_does(
    http: httpx.Client, method: str, params: dict[str, str], status: int
) -> None:
    where = {"params": params} if method == "GET" else {"data": params}
    answer = http.request(method, SEARXNG, **where)
    assert answer.status_code == status
    is_page = answer.headers["content-type"].startswith("text/html")
    assert is_page == (status == 403)


def test_parameters_that_are_no_utf8_are_refused(http: httpx.Client) -> None:
    answer = http.get(SEARXNG + "?format=json&q=%ff%fe")
    assert (answer.status_code, set(answer.json())) == (400, {"error"})


# --- who comes in -----------------------------------------------------------------------------------------------------


def test_without_a_token_nobody_comes_in(door: httpx.Client) -> None:
    answer = door.post(TAVILY, json={"query": "a"})
    assert answer.status_code == 401
    assert answer.json() == {"detail": {"error": "Unauthorized: missing or invalid API key."}}
    answer = door.post("/v2/search", json={"query": "a"})
    assert (answer.status_code, answer.json()["success"]) == (401, False)
    answer = door.get(SEARXNG, params=ASKED)
    assert (answer.status_code, set(answer.json())) == (401, {"error"})
    assert door.get(CRAWL + "/job_" + "0" * 26).status_code == 401


@pytest.mark.parametrize("key", ["tvly-wrong", "", 7, None, "x" * 5000, "line\nbreak", "ключ"])
def test_a_wrong_key_in_the_body_is_401(door: httpx.Client, key: object) -> None:
    assert door.post(TAVILY, json={"query": "a", "api_key": key}).status_code == 401


def test_every_api_takes_the_token_in_its_own_way(door: httpx.Client, tokens: Tokens) -> None:
    # Nobody works here, and nobody waits: to come in is to be told that it took too long.
    assert door.post(TAVILY, json={"query": "a"}, headers=bearer(tokens.acme)).status_code == 504
    assert door.post(TAVILY, json={"query": "a", "api_key": tokens.acme}).status_code == 504
    assert door.get(SEARXNG, params=ASKED, headers=bearer(tokens.acme)).status_code == 504
    assert door.get(SEARXNG, params=ASKED, auth=("anyone", tokens.acme)).status_code == 504
    assert door.post(SEARXNG, data=ASKED, auth=("anyone", tokens.acme)).status_code == 504
    assert door.post(FIRECRAWL, json={"query": "a"}, headers=bearer(tokens.acme)).status_code == 408


def test_a_key_in_the_body_opens_nothing_else(door: httpx.Client, tokens: Tokens) -> None:
    for path in ("/v1/search", "/v1/retrieve", FIRECRAWL, "/compat/tavily/extract"):
        assert door.post(path, json={"query": "a", "api_key": tokens.acme}).status_code == 401
    basic = base64.b64encode(f"x:{tokens.acme}".encode()).decode()
    assert door.get("/v1/jobs", headers={"authorization": f"Basic {basic}"}).status_code == 401


def test_a_header_goes_before_a_key_in_the_body(door: httpx.Client, tokens: Tokens) -> None:
    body = {"query": "a", "api_key": tokens.acme}
    assert door.post(TAVILY, json=body, headers=bearer("wrong")).status_code == 401


def test_a_body_that_is_looked_into_for_a_key_has_a_limit(door: httpx.Client) -> None:
    answer = door.post(TAVILY, json={"query": "a" * 70_000})
    assert (answer.status_code, set(answer.json())) == (413, {"detail"})


def test_who_may_only_read_may_not_search(door: httpx.Client, tokens: Tokens) -> None:
    assert door.get(SEARXNG, params=ASKED, headers=bearer(tokens.reader)).status_code == 403
    assert door.head(SEARXNG, params=ASKED, headers=bearer(tokens.reader)).status_code == 403
    assert door.post(TAVILY, json={"query": "a"}, headers=bearer(tokens.reader)).status_code == 403
    assert door.post(CRAWL, json=SITE, headers=bearer(tokens.reader)).status_code == 403


def test_a_page_of_another_site_cannot_have_this_machine_search(http: httpx.Client) -> None:
    for site in ("cross-site", "same-site"):
        assert http.get(SEARXNG, params=ASKED, headers={"sec-fetch-site": site}).status_code == 401
    # From the address line it passes the door, to be told that it is no search at all.
    answer = http.get(SEARXNG, params={"format": "json"}, headers={"sec-fetch-site": "none"})
    assert answer.status_code == 400


def test_no_key_is_stored_or_logged(
    door: httpx.Client, redis: Redis, tokens: Tokens, caplog: pytest.LogCaptureFixture
) -> None:
    door.post(TAVILY, json={"query": "a", "api_key": tokens.acme})
    door.post(TAVILY, json={"query": "a", "api_key": "tvly-of-another-house"})
    door.get(SEARXNG, params=ASKED, auth=("anyone", tokens.acme))
    door.post(CRAWL, json=SITE, headers=bearer(tokens.acme))
    stored = b"\n".join(everything_in(redis))
    assert b"job_" in stored
    for key in (tokens.acme, "tvly-of-another-house"):
        assert key.encode() not in stored
        assert key not in caplog.text


# --- searches ---------------------------------------------------------------------------------------------------------


def test_a_search_of_tavily(http: httpx.Client, redis: Redis) -> None:
    body = {"query": "tidal arrays", "include_usage": True}
    answer, spec = answered(http, redis, lambda: http.post(TAVILY, json=body))
    assert answer.status_code == 200
    found = answer.json()
    assert (found["query"], found["results"][0]["url"]) == ("tidal arrays", "https://example.org/a")
    assert found["request_id"] == answer.headers["x-request-id"]
    assert found["response_time"] >= 0
    assert found["usage"] == {"credits": 3}
    assert (spec.request.query, spec.tenant) == ("tidal arrays", "local")


def test_a_search_of_searxng(http: httpx.Client, redis: Redis) -> None:
    fields = {**ASKED, "pageno": "2"}
    hits = tuple(a_hit(f"https://example.org/{at}") for at in range(12))
    answer, _spec = answered(http, redis, lambda: http.post(SEARXNG, data=fields), hits=hits)
    assert answer.status_code == 200
    assert [each["url"][-2:] for each in answer.json()["results"]] == ["10", "11"]


def test_a_search_of_firecrawl_at_both_addresses(http: httpx.Client, redis: Redis) -> None:
    for path in (FIRECRAWL, "/v2/search"):
        answer, spec = answered(
            http, redis, lambda path=path: http.post(path, json={"query": "a", "limit": 3})
        )
        assert (answer.status_code, answer.json()["success"]) == (200, True)
        assert answer.json()["id"] == spec.id
        redis.flushall()


@pytest.mark.parametrize(("path", "status"), [(TAVILY, 502), (FIRECRAWL, 503)])
def test_nobody_reached_is_an_error_and_not_a_quiet_week(
    http: httpx.Client, redis: Redis, path: str, status: int
) -> None:
    answer, _spec = answered(
        http,
        redis,
        lambda: http.post(path, json={"query": "a"}),
        hits=(),
        reason=StopReason.NO_SOURCE_REACHED,
        errors={"brave": "source_denied"},
    )
    assert answer.status_code == status


def test_searxng_tells_silent_sources_beside_no_results(http: httpx.Client, redis: Redis) -> None:
    answer, _spec = answered(
        http,
        redis,
        lambda: http.get(SEARXNG, params=ASKED),
        hits=(),
        reason=StopReason.NO_SOURCE_REACHED,
        errors={"brave": "challenge: until 2026-09-21T15:13:20Z"},
    )
    assert answer.status_code == 200
    assert answer.json()["unresponsive_engines"] == [
        ["brave", "challenge: until 2026-09-21T15:13:20Z"]
    ]


def test_a_search_that_nobody_answers_is_given_up(
    door: httpx.Client, redis: Redis, tokens: Tokens
) -> None:
    answer = door.post(TAVILY, json={"query": "a"}, headers=bearer(tokens.acme))
    assert answer.json() == {"detail": {"error": "The search did not end in time."}}
    [job] = door.get("/v1/jobs", headers=bearer(tokens.acme)).json()["jobs"]
    assert (job["kind"], job["state"]) == ("search", "cancelled")


def test_one_search_more_than_there_are_slots_is_429_with_a_time(
    redis_url: str, redis: Redis, tmp_path: Path
) -> None:
    narrow = load(
        redis_url=redis_url, data_dir=str(tmp_path), search={"scorer_search_max_concurrency": 1}
    )
    with running(narrow) as http:

        def second() -> list[httpx.Response]:
            return [
                http.post(TAVILY, json={"query": "b"}),
                http.post("/v2/search", json={"query": "b"}),
                http.get(SEARXNG, params=ASKED),
            ]

        refused: list[httpx.Response] = []

        def first() -> httpx.Response:
            return http.post(TAVILY, json={"query": "a"})

        with ThreadPoolExecutor(1) as pool:
            waiting = pool.submit(first)
            job_id = the_job(http)
            refused = second()
            finish(redis, job_id, JobEvent.SUCCEED, result=msgspec.json.encode(a_search_result()))
            assert waiting.result(40).status_code == 200
    assert [each.status_code for each in refused] == [429] * 3
    assert [each.headers["retry-after"] for each in refused] == ["1"] * 3
    assert set(refused[0].json()) == {"detail"}
    assert refused[1].json()["success"] is False
    assert set(refused[2].json()) == {"error"}


# --- crawls -----------------------------------------------------------------------------------------------------------


def begun(http: httpx.Client, **more: Any) -> str:
    answer = http.post(CRAWL, json=SITE, **more)
    assert answer.status_code == 200, answer.text
    job_id: str = answer.json()["id"]
    return job_id


def filled(redis: Redis, job_id: str) -> None:
    log = JobLog(redis)
    log.put_documents(job_id, [FRONT, GUIDE], ttl_ms=60_000)
    log.append(job_id, *LOG)


def test_a_crawl_from_its_beginning_to_its_pages(http: httpx.Client, redis: Redis) -> None:
    answer = http.post("/v2/crawl", json={**SITE, "limit": 500})
    told = answer.json()
    assert told["success"] is True
    assert told["url"] == f"{http.base_url}{CRAWL}/{told['id']}"
    assert "sources.site.max_pages" in told["warning"]
    assert http.get(told["url"]).json()["data"] == []
    filled(redis, told["id"])
    status = http.get(told["url"]).json()
    assert (status["status"], status["total"], status["completed"]) == ("scraping", 5, 4)
    assert [each["markdown"] for each in status["data"]] == ["front text", "guide text"]
    finish(redis, told["id"], JobEvent.DEGRADE, result=b"{}")
    status = http.get(told["url"]).json()
    assert (status["status"], status["total"], status["completed"]) == ("completed", 4, 4)
    faults = http.get(told["url"] + "/errors").json()
    assert [each["code"] for each in faults["errors"]] == ["source_not_found"]
    assert len(faults["robotsBlocked"]) == 1


def test_pages_follow_one_another(http: httpx.Client, redis: Redis) -> None:
    job_id = begun(http)
    filled(redis, job_id)
    first = http.get(f"{CRAWL}/{job_id}", params={"limit": 1}).json()
    assert [each["markdown"] for each in first["data"]] == ["front text"]
    second = http.get(first["next"]).json()
    assert [each["markdown"] for each in second["data"]] == ["guide text"]
    assert second["next"] is None
    for wrong in ({"skip": "-1"}, {"limit": "0"}, {"limit": "101"}, {"skip": "x"}):
        answer = http.get(f"{CRAWL}/{job_id}", params=wrong)
        assert (answer.status_code, answer.json()["success"]) == (400, False)


def test_one_key_is_one_crawl(http: httpx.Client) -> None:
    key = {"x-idempotency-key": "6f1d1c0e-3a5b-4f6e-9a54-0f5f3c1f2b11"}
    with ThreadPoolExecutor(8) as pool:
        ids = set(pool.map(lambda _: begun(http, headers=key), range(20)))
    assert len(ids) == 1
    other = http.post(CRAWL, json={"url": "http://other.test/"}, headers=key)
    assert (other.status_code, other.json()["success"]) == (409, False)


def test_a_crawl_is_cancelled_once(http: httpx.Client, redis: Redis) -> None:
    job_id = begun(http)
    filled(redis, job_id)
    answer = http.delete(f"{CRAWL}/{job_id}")
    assert (answer.status_code, answer.json()) == (200, {"status": "cancelled", "success": True})
    status = http.get(f"{CRAWL}/{job_id}").json()
    assert status["status"] == "cancelled"
    assert len(status["data"]) == 2
    assert status["total"] == status["completed"]
    again = http.delete(f"{CRAWL}/{job_id}")
    assert (again.status_code, again.json()["success"]) == (409, False)


def test_a_crawl_belongs_to_its_tenant(door: httpx.Client, tokens: Tokens) -> None:
    job_id = begun(door, headers=bearer(tokens.acme))
    for method in ("GET", "DELETE"):
        answer = door.request(method, f"{CRAWL}/{job_id}", headers=bearer(tokens.other))
        assert (answer.status_code, answer.json()["error"]) == (404, "Job not found")
    assert door.get(f"{CRAWL}/{job_id}", headers=bearer(tokens.acme)).status_code == 200
    assert door.delete(f"{CRAWL}/{job_id}", headers=bearer(tokens.reader)).status_code == 403


def test_what_is_no_crawl_is_not_there(http: httpx.Client) -> None:
    question = http.post("/v1/retrieve", json={"query": "why"}).json()["id"]
    for job_id in (question, "job_" + "0" * 26, "nonsense"):
        for path in (f"{CRAWL}/{job_id}", f"{CRAWL}/{job_id}/errors"):
            answer = http.get(path)
            assert (answer.status_code, answer.json()["error"]) == (404, "Job not found")
        assert http.delete(f"{CRAWL}/{job_id}").status_code == 404
    assert http.get(f"/v1/jobs/{question}").json()["state"] == "queued"


def test_options_name_the_methods_of_a_crawl(http: httpx.Client) -> None:
    answer = http.options(f"{CRAWL}/job_{'0' * 26}")
    assert (answer.status_code, answer.headers["allow"]) == (204, "DELETE, GET, HEAD, OPTIONS")


def test_replies_are_json(http: httpx.Client) -> None:
    answer = http.get(f"{CRAWL}/{begun(http)}")
    assert answer.headers["content-type"] == "application/json"
    assert json.loads(answer.content)
