"""Other APIs' own clients pointed at a real gateway: nothing of theirs is changed but the address and the key."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import httpx
import pytest
from firecrawl import Firecrawl
from firecrawl.v2.utils.error_handler import BadRequestError, FirecrawlError, UnauthorizedError
from tavily import BadRequestError as TavilyBadRequestError
from tavily import InvalidAPIKeyError, TavilyClient

from infra.stack import Parts
from infra.tokens import TokenStore
from tests.chaos.stage import wait_until
from tests.e2e.conftest import Running, start
from tests.fakes.ports import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

KEYS = {
    "BRAVE_API_KEY": "BSAloopback0001",
    "EXA_API_KEY": "01234567-89ab-cdef-0123-456789abcdef",
    "TAVILY_API_KEY": "tvly-loopback0001",
    "GROK_API_KEY": "xai-loopback0001",
}
RECORD = "http://news.test/2026/05/28/tidal-array-record"


class House:
    """A stack with one tenant, and a token of it."""

    def __init__(self, running: Running, token: str) -> None:
        self.running = running
        self.token = token
        self.url = running.gateway_url.rstrip("/")

    def spoil(self, host: str, **how: Any) -> None:
        address = f"http://127.0.0.1:{self.running.web_port}/__faults"
        httpx.post(
            address, json={"host": host, "count": None, **how}, timeout=30
        ).raise_for_status()


@contextmanager
def opened(folder: Path) -> Iterator[House]:
    token, _ = TokenStore(folder / "tokens.json").create("acme", {"read", "write"}, {}, now_ms=1)
    parts = Parts(
        workers={"crawl": 1, "reduce": 1}, gateway=True, port=free_port(), web_port=free_port()
    )
    running = start(folder, parts, **KEYS)
    try:
        yield House(running, token)
    finally:
        running.stack.stop()


@pytest.fixture(scope="module")
def house(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    with opened(tmp_path_factory.mktemp("dropin")) as house:
        yield house


@pytest.fixture(scope="module")
def shaken(tmp_path_factory: pytest.TempPathFactory) -> Iterator[House]:
    """A house of its own for faults: a host that refused us is left alone for longer than a test lasts."""
    with opened(tmp_path_factory.mktemp("shaken")) as house:
        yield house


@pytest.fixture(autouse=True)
def _unasked(house: House) -> None:
    house.running.forget_requests()


@pytest.fixture
def tavily(house: House) -> Iterator[TavilyClient]:
    with TavilyClient(api_key=house.token, api_base_url=f"{house.url}/compat/tavily") as client:
        yield client


@pytest.fixture
def firecrawl(house: House) -> Firecrawl:
    # Its client drops the path of an address: the gateway answers at /v2 too.
    return Firecrawl(api_key=house.token, api_url=house.url)


@pytest.fixture
def searxng(house: House) -> Iterator[httpx.Client]:
    address = f"{house.url}/compat/searxng"
    with httpx.Client(base_url=address, auth=("anyone", house.token), timeout=30) as client:
        yield client


# --- Tavily -----------------------------------------------------------------------------------------------------------


def test_tavily_searches(house: House, tavily: TavilyClient) -> None:
    found = tavily.search("tidal array record in May", include_usage=True)
    assert found["results"][0]["url"] == RECORD
    assert "7.4 gigawatt hours" in found["results"][0]["content"]
    assert len(found["results"]) <= 5
    assert all(0 <= each["score"] <= 1 for each in found["results"])
    assert found["results"][0]["score"] == max(each["score"] for each in found["results"])
    asked = {row["host"] for row in house.running.requests()}
    assert asked == {"api.search.brave.com", "api.exa.ai"}
    assert found["usage"] == {"credits": 2}


def test_tavily_answers_with_a_sentence_of_the_hits(tavily: TavilyClient) -> None:
    found = tavily.search("How much did the tidal array deliver?", include_answer=True)
    assert any(found["answer"] in each["content"] for each in found["results"])


def test_tavilys_domains_are_kept_to_whatever_a_source_makes_of_them(tavily: TavilyClient) -> None:
    only = tavily.search("tidal array power", include_domains=["news.test"])
    assert {each["url"].split("/")[2] for each in only["results"]} == {"news.test"}
    others = tavily.search("tidal array power", exclude_domains=["news.test"])
    assert others["results"]
    assert "news.test" not in {each["url"].split("/")[2] for each in others["results"]}


def test_tavilys_ages_are_kept_to_and_what_is_left_out_is_counted(tavily: TavilyClient) -> None:
    found = tavily.search(
        "tidal array in Merrin Sound", start_date="2021-01-01", end_date="2021-12-31", topic="news"
    )
    assert [each["published_date"] for each in found["results"]] == [
        "Tue, 09 Mar 2021 00:00:00 GMT"
    ]
    [told] = found["warnings"]
    assert "without a date" in told


def test_tavilys_client_knows_our_refusals(house: House, tavily: TavilyClient) -> None:
    with pytest.raises(TavilyBadRequestError, match="When days is set"):
        tavily.search("tides", days=3, start_date="2026-01-01")
    with pytest.raises(TavilyBadRequestError, match="country"):
        tavily.search("tides", country="france")
    with (
        TavilyClient(api_key="tvly-x", api_base_url=f"{house.url}/compat/tavily") as stranger,
        pytest.raises(InvalidAPIKeyError),
    ):
        stranger.search("tides")
    assert house.running.requests() == []


# --- SearXNG ----------------------------------------------------------------------------------------------------------


def test_searxng_searches(searxng: httpx.Client) -> None:
    asked = {"q": "green tea temperature", "format": "json", "safesearch": "1", "language": "all"}
    by_get = searxng.get("/search", params=asked).raise_for_status().json()
    by_post = searxng.post("/search", data=asked).raise_for_status().json()
    assert by_get["results"] == by_post["results"]
    first = by_get["results"][0]
    assert first["engine"] in first["engines"]
    assert first["parsed_url"][1] in first["url"]
    assert by_get["warnings"] == ["safesearch: not applied; the sources are searched as they are"]
    second = searxng.get("/search", params={**asked, "pageno": "2"}).json()
    urls = {each["url"] for each in by_get["results"]}
    assert not urls & {each["url"] for each in second["results"]}


def test_searxng_by_named_engines(searxng: httpx.Client) -> None:
    asked = {"q": "Mount Corvel height", "format": "json", "engines": "crossref,arxiv"}
    [row] = searxng.get("/search", params=asked).json()["results"]
    assert row["engines"] == ["crossref", "arxiv"]
    assert row["author"].startswith("Ilse Tamarin")
    asked["engines"] = "nosuchengine"
    refused = searxng.get("/search", params=asked)
    assert refused.status_code == 400
    assert refused.json()["error"].startswith("engines: ")
    assert "nosuchengine" not in refused.text


# --- Firecrawl --------------------------------------------------------------------------------------------------------


def test_firecrawl_searches(firecrawl: Firecrawl) -> None:
    found = firecrawl.search("record month of the tidal array", limit=3)
    assert len(found.web) == 3
    assert found.web[0].url == RECORD
    assert [each.position for each in found.web] == [1, 2, 3]
    assert found.warning is None
    news = firecrawl.search("record month of the tidal array", sources=["news"], limit=2)
    assert news.web is None
    assert news.news[0].date == "2026-05-28"


def test_firecrawl_crawls_a_site_within_its_limit_and_its_rules(
    house: House, firecrawl: Firecrawl
) -> None:
    job = firecrawl.crawl("http://harbour.test/", limit=6, poll_interval=1)
    asked = [row["path"] for row in house.running.requests("harbour.test")]
    pages = [each for each in asked if each not in {"/robots.txt", "/sitemap.xml"}]
    assert job.status == "completed"
    assert job.total == job.completed == len(job.data) == len(pages)
    assert 1 < len(pages) <= 6
    assert len(asked) == len(set(asked))
    assert not any(each.startswith("/private/") for each in asked)
    assert [each.metadata.source_url for each in job.data] == [
        f"http://harbour.test{each}" for each in pages
    ]
    assert all(each.metadata.status_code == 200 for each in job.data)
    assert job.warning == "the limit was reached; the site may have more pages"


def test_firecrawl_reads_gbk_pages_as_what_they_are(firecrawl: Firecrawl) -> None:
    job = firecrawl.crawl("http://gbk.test/", limit=4, poll_interval=1)
    text = "\n".join(each.markdown for each in job.data)
    assert "总装机容量24兆瓦，自2021年3月起向群岛供电" in text
    assert "�" not in text


def test_firecrawl_is_told_why_a_site_gave_nothing(firecrawl: Firecrawl) -> None:
    job = firecrawl.crawl("http://wall.test/", limit=2, poll_interval=1)
    assert (job.status, job.data) == ("failed", [])
    faults = firecrawl.get_crawl_errors(job.id)
    assert {each.code for each in faults.errors} == {"pay_wall"}
    forbidden = "http://harbour.test/private/rota"
    job = firecrawl.crawl(forbidden, limit=1, poll_interval=1)
    assert (job.status, job.data) == ("failed", [])
    assert firecrawl.get_crawl_errors(job.id).robots_blocked == [forbidden]


def test_cancelling_a_crawl_ends_its_requests(house: House, firecrawl: Firecrawl) -> None:
    begun = firecrawl.start_crawl("http://slow.test/", limit=8)
    assert firecrawl.get_crawl_status(begun.id).status == "scraping"
    assert firecrawl.cancel_crawl(begun.id)
    sent = len(house.running.requests("slow.test"))
    # Another job runs from its beginning to its end meanwhile.
    firecrawl.crawl("http://forum.test/", limit=3, poll_interval=1)
    assert len(house.running.requests("slow.test")) <= sent + 1
    assert firecrawl.get_crawl_status(begun.id).status == "cancelled"
    assert firecrawl.cancel_crawl(begun.id) is False


def test_firecrawls_client_knows_our_refusals(house: House, firecrawl: Firecrawl) -> None:
    with pytest.raises(BadRequestError, match="includePaths"):
        firecrawl.start_crawl("http://harbour.test/", include_paths=["guide/.*"])
    with pytest.raises(BadRequestError, match="scrapeOptions"):
        firecrawl.search("tides", scrape_options={"formats": ["markdown"]})
    with pytest.raises(FirecrawlError, match="Job not found"):
        firecrawl.get_crawl_status("job_" + "0" * 26)
    with pytest.raises(UnauthorizedError):
        Firecrawl(api_key="fc-x", api_url=house.url).search("tides")
    assert house.running.requests() == []


# --- sources that fail ------------------------------------------------------------------------------------------------


def test_a_source_that_refuses_or_wants_a_captcha_is_named(shaken: House) -> None:
    shaken.spoil("api.exa.ai", status=429, retry_after=60)
    shaken.spoil("api.search.brave.com", captcha_200=True)
    address = f"{shaken.url}/compat/searxng/search"
    asked = {"q": "tidal array power", "format": "json"}
    found = httpx.get(address, params=asked, auth=("anyone", shaken.token), timeout=30).json()
    assert found["results"]
    silent = dict(found["unresponsive_engines"])
    assert set(silent) == {"brave", "exa"}
    assert "challenge" in silent["brave"]
    assert "source_rate_limited" in silent["exa"]
    with TavilyClient(api_key=shaken.token, api_base_url=f"{shaken.url}/compat/tavily") as tavily:
        told = tavily.search("tidal array energy", search_depth="advanced")
    assert told["results"]
    assert {each.split(":")[0] for each in told["warnings"]} >= {"brave", "exa"}


def test_a_crawl_ends_though_its_worker_was_killed(shaken: House) -> None:
    client = Firecrawl(api_key=shaken.token, api_url=shaken.url)
    stack = shaken.running.stack
    begun = client.start_crawl("http://slow.test/", limit=2)
    wait_until(lambda: len(shaken.running.requests("slow.test")) > 0, "the site is asked")
    [worker] = [each.child for each in stack.processes if each.child.name == "worker-crawl1"]
    assert worker.pid is not None
    os.kill(worker.pid, signal.SIGKILL)
    wait_until(lambda: stack.watch() == ["worker-crawl1"], "the worker is started again")
    wait_until(lambda: client.get_crawl_status(begun.id).status != "scraping", "the crawl ends")
    job = client.get_crawl_status(begun.id)
    assert job.status == "completed"
    assert job.total == job.completed == len(job.data) == 1
