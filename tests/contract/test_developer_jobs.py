"""Whole jobs with general and developer sources: over HTTP, through the frontier, to the result."""

import asyncio
from collections.abc import Iterator
from typing import cast

import pytest
from redis import Redis
from signal_search.contracts.result import Result
from signal_search.contracts.source import FetchOutcome, FetchState, Parsed
from signal_search.contracts.trace import FetchFinished
from signal_search.errors import BadReply

from infra.clock import FixedClock
from infra.loopback_web.server import LoopbackWeb, hosts
from infra.redis import connect_async
from infra.settings import load
from tests.fakes.fetching import NOW_MS, a_reply, a_request
from tests.fakes.walk import Walk, settings_for
from workers.fetching.backoff import Pacing
from workers.fetching.host_memory import AsyncKeys, HostMemory
from workers.fetching.outcomes import missed
from workers.fetching.pace import paces_of
from workers.pipeline.rests import Rests

REQUEST = a_request("https://api.test/search", "api")


@pytest.fixture(scope="module")
def web() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


def _done(redis_url: str, web: LoopbackWeb, query: str, source_id: str) -> tuple[Walk, Result]:
    web.log.clear()
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.ask(query, source_id)
    (result,) = walk.results("job_1")
    return walk, result


def _fetched(walk: Walk) -> list[str]:
    ends = [entry for entry in walk.entries() if isinstance(entry, FetchFinished)]
    assert {each.state for each in ends} == {FetchState.FETCHED}
    return [document.title for each in ends for document in each.documents]


@pytest.mark.parametrize(
    ("source_id", "query", "asked", "said"),
    [
        (
            "stackexchange",
            "How long should a lease of the SQLite job queue be?",
            ["api.stackexchange.com", "api.stackexchange.com"],
            "thirty seconds",
        ),
        (
            "ietf",
            "What must a receiver ignore by RFC 90001?",
            ["datatracker.ietf.org", "www.rfc-editor.org", "www.rfc-editor.org"],
            "ignore members",
        ),
        ("nvd", "How severe is CVE-1998-90001?", ["services.nvd.nist.gov"], "7.5"),
        ("osv", "Which version fixes CVE-1998-90001?", ["api.osv.dev"], "3.1.4"),
    ],
)
@pytest.mark.usefixtures("redis")
def test_a_job_finds_what_the_source_says(
    redis_url: str, web: LoopbackWeb, source_id: str, query: str, asked: list[str], said: str
) -> None:
    walk, result = _done(redis_url, web, query, source_id)
    assert [entry.host for entry in web.log.entries()] == asked
    assert {entry.status for entry in web.log.entries()} == {200}
    assert all(entry.complaint == "" for entry in web.log.entries())
    assert _fetched(walk)
    assert any(said in finding.text for finding in result.findings)


def test_a_source_that_can_only_be_asked_by_number_ends_a_job_without_one(
    redis: Redis, redis_url: str, web: LoopbackWeb
) -> None:
    _walk, result = _done(redis_url, web, "How high is Mount Corvel?", "osv")
    assert web.log.entries() == []
    assert (result.findings, result.confidence) == ((), 0.0)


# --- a pause that a reply asks for -----------------------------------------------------------------------------------


def _pause_ms(redis_url: str, outcome: FetchOutcome) -> int:
    settings = load(politeness={"jitter": 0.0})

    async def play() -> int:
        client = connect_async(redis_url)
        try:
            memory = HostMemory(cast("AsyncKeys", client), 3)
            rests = Rests(settings, FixedClock(NOW_MS), memory, paces_of(settings))
            return (await rests.after(REQUEST, "api.test", Pacing(verdict="fine"), outcome))[0]
        finally:
            await client.aclose()

    return asyncio.run(play())


@pytest.mark.parametrize(
    ("pause_s", "expected_ms"), [(0.0, 14_001), (10.0, 14_001), (40.0, 40_000), (1e9, 86_400_000)]
)
def test_a_pause_in_a_reply_counts_up_to_the_cap(
    redis: Redis, redis_url: str, pause_s: float, expected_ms: int
) -> None:
    parsed = Parsed(pause_s=pause_s)
    outcome = FetchOutcome(state=FetchState.FETCHED, url=REQUEST.url, status=200, parsed=parsed)
    assert _pause_ms(redis_url, outcome) == expected_ms


def test_an_error_with_status_200_may_ask_for_a_pause_too(redis: Redis, redis_url: str) -> None:
    error = BadReply("The source sent a message.", retry_after_s=60.0)
    assert _pause_ms(redis_url, missed(REQUEST, error, raw=a_reply(b"{}"))) == 60_000
