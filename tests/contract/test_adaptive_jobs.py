"""Whole adaptive searches over the loopback web: through the frontier to sources, with a judge, to the page."""

from collections.abc import Iterator
from typing import Any

import msgspec
import pytest
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult

from infra.loopback_web.server import LoopbackWeb, hosts
from infra.settings import Settings
from tests.fakes.walk import Walk, settings_for

QUESTION = "How is the island of Vall supplied with power?"


@pytest.fixture(scope="module")
def web() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


@pytest.fixture(autouse=True)
def healed(web: LoopbackWeb) -> None:
    web.faults.clear()
    web.log.clear()


def settings(redis_url: str, web: LoopbackWeb, **adaptive: Any) -> Settings:
    made = settings_for(redis_url, hosts(web.port))
    figures = {"judge": "rule", "sources": ["wikipedia", "openalex"], **adaptive}
    return made.model_copy(update={"adaptive": made.adaptive.model_copy(update=figures)})


def asked(**given: Any) -> AdaptiveRequest:
    return msgspec.convert(given, AdaptiveRequest)


def screened(settings: Settings, **given: Any) -> AdaptiveResult:
    walk = Walk(settings)
    walk.submit(asked(**given))
    result = walk.outcome()
    assert isinstance(result, AdaptiveResult)
    return result


@pytest.mark.usefixtures("redis")
def test_a_search_is_satisfied(redis_url: str, web: LoopbackWeb) -> None:
    result = screened(settings(redis_url, web), questions=["tidal power"], keywords=["tidal power"])
    print(msgspec.json.format(msgspec.json.encode(result)).decode())
    assert result.stop_reason == "keyword_queue_empty"
