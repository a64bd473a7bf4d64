"""Whole searches with the four web sources and the registers: over HTTP, through the frontier, to the hits."""

from collections.abc import Iterator
from typing import Any

import pytest
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_result import SearchResult

from infra.loopback_web.server import LoopbackWeb, hosts
from tests.fakes.walk import Walk, settings_for
from workers.pipeline.parse import _registry

KEYS = {
    "BRAVE_API_KEY": "BSAloopback0001",
    "EXA_API_KEY": "01234567-89ab-cdef-0123-456789abcdef",
    "TAVILY_API_KEY": "tvly-loopback0001",
    "GROK_API_KEY": "xai-loopback0001",
}


@pytest.fixture(scope="module")
def web() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


@pytest.fixture
def keys(monkeypatch: pytest.MonkeyPatch) -> Iterator[pytest.MonkeyPatch]:
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    _registry.cache_clear()
    yield monkeypatch
    _registry.cache_clear()


def search(redis_url: str, web: LoopbackWeb, **asked: Any) -> SearchResult:
    walk = Walk(settings_for(redis_url, hosts(web.port)))
    walk.submit(SearchRequest(**asked))
    result = walk.outcome()
    assert isinstance(result, SearchResult)
    return result
