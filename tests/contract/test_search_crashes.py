"""A search whose process is killed anywhere comes to the same hits, is charged once and leaves nothing behind."""

from functools import cache
from typing import Any

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.job import SearchSpec
from signal_search.contracts.outcome import decode_result
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_result import SearchResult
from signal_search.contracts.source import FetchOutcome, Request

from infra import keys
from tests.fakes.builders import NOW_MS, a_document
from tests.fakes.spine import Fuse, Spine, got, small_web

PARTS = 8  # the calls of a walk are tried in so many tests
PAPER = a_document(
    doc_id="paper",
    url="https://doi.org/10.5555/a",
    site="doi.org",
    source_id="crossref",
    title="The height of Mount Ansel",
    text="The height of Mount Ansel\n\nIt is 2,114 metres.",
    doi="10.5555/a",
    published="2020",
    citations=3,
)


def web(request: Request) -> FetchOutcome:
    if "crossref" in request.url:
        return got(request, documents=(PAPER,))
    return small_web(request)


def a_search(redis_url: str, fuse: Fuse | None = None) -> Spine:
    """Return a spine that was driven to the end of a search of two sources, one of them in two steps."""
    spine = Spine(redis_url, in_redis=True)
    spine.web = web
    spec = SearchSpec(
        id="job_1",
        tenant="local",
        request=SearchRequest(query="Mount Ansel", sources=("wikipedia", "crossref")),
        created_at_ms=NOW_MS,
        deadline_ms=NOW_MS + 300_000,
        result_ttl_s=600,
    )
    spine.tools.store.create(spec)
    spine.tools.start(["job_1/plan"])
    if fuse is not None:
        spine.wire(fuse)
    spine.drive()
    return spine


def told(spine: Spine) -> dict[str, Any]:
    """Return the result without its trace, which tells of the crash."""
    raw = spine.tools.store.result("job_1")
    assert raw is not None
    result = decode_result(raw)
    assert isinstance(result, SearchResult)
    plain: dict[str, Any] = msgspec.to_builtins(result)
    return {name: value for name, value in plain.items() if name != "trace"}


@cache
def undisturbed(redis_url: str) -> tuple[tuple[str, ...], dict[str, Any], dict[str, int]]:
    fuse = Fuse()
    spine = a_search(redis_url, fuse)
    return tuple(fuse.passed), told(spine), spine.used()


def test_both_sources_are_merged_and_paid(redis: Redis, redis_url: str) -> None:
    calls, result, used = undisturbed(redis_url)
    assert len(calls) > 20
    assert {hit["url"] for hit in result["hits"]} == {
        "https://doi.org/10.5555/a",
        "https://en.wikipedia.org/wiki/Mount_Ansel",
    }
    assert (used["calls"], used["fetches"]) == (2, 3)


@pytest.mark.parametrize("part", range(PARTS))
def test_killed_anywhere_it_is_completed(redis: Redis, redis_url: str, part: int) -> None:
    calls, expected, used = undisturbed(redis_url)
    for at in range(part, len(calls), PARTS):
        redis.flushall()
        spine = a_search(redis_url, Fuse(at))
        where = f"call {at}: {calls[at]}"
        assert spine.crashes == 1, where
        assert told(spine) == expected, where
        assert (spine.used(), spine.held()) == (used, {}), where
        assert set(spine.fetched.values()) == {1}, where
        assert not redis.zcard(keys.open_jobs()), where
