"""Whose pace a request has: the public interval, a cited published one, or that of the operator's own plan."""

from typing import Any

import pytest
from msgspec.structs import replace
from signal_search.contracts.source import Request

from infra.catalog.catalog import SourceRow
from infra.settings import load
from tests.fakes.fetching import a_request
from workers.fetching.pace import Paces, paces_of

CITED = {"pace_citation": "https://api.test/terms"}
ROWS = (
    SourceRow(
        id="quick",
        name="q",
        adapter="quick",
        kind="api",
        endpoint="https://api.test/search",
        published_pace_s=3.0,
        **CITED,
    ),
    SourceRow(
        id="slow",
        name="s",
        adapter="slow",
        kind="api",
        endpoint="https://slow.test/",
        published_pace_s=60.0,
        **CITED,
    ),
    SourceRow(
        id="many",
        name="m",
        adapter="many",
        kind="api",
        endpoint="https://{language}.wiki.test/api",
        published_pace_s=1.0,
        **CITED,
    ),
    SourceRow(id="plain", name="p", adapter="plain", kind="api", endpoint="https://plain.test/"),
)
USUAL_MS = 14_001  # 14 s and the guard of 1 ms


def asked(source_id: str, **fields: Any) -> Request:
    request = a_request("https://api.test/search?q=x", fields.pop("kind", "api"))
    return replace(request, source_id=source_id, **fields)


def pause(request: Request, host: str, **politeness: Any) -> int:
    return Paces(load(politeness=politeness), ROWS).pause_ms(request, host)


def test_without_the_setting_nobody_is_faster_than_the_public_interval() -> None:
    assert pause(asked("quick"), "api.test") == USUAL_MS


def test_a_slower_published_pace_counts_without_the_setting_too() -> None:
    assert pause(asked("slow"), "slow.test") == 60_001


@pytest.mark.parametrize(
    ("request_", "host", "expected_ms"),
    [
        (asked("quick"), "api.test", 3_001),
        (asked("slow"), "slow.test", 60_001),
        (asked("plain"), "plain.test", USUAL_MS),  # nothing published
        (asked("unknown"), "api.test", USUAL_MS),
        (asked("quick", kind="page"), "api.test", USUAL_MS),  # a page is not the API
        (asked("quick", kind="feed"), "api.test", USUAL_MS),
        (asked("quick"), "www.test", USUAL_MS),  # not the API's host
        (asked("quick"), "api.test:8443", USUAL_MS),
        (asked("many"), "en.wiki.test", 1_001),
        (asked("many"), "zh-yue.wiki.test", 1_001),
        (asked("many"), "wiki.test", USUAL_MS),
        (asked("many"), "en.wiki.test.evil.test", USUAL_MS),
    ],
)
def test_with_the_setting_an_api_has_its_cited_pace_at_its_own_host(
    request_: Request, host: str, expected_ms: int
) -> None:
    assert pause(request_, host, published_pace=True) == expected_ms


def test_a_call_with_a_key_has_the_pace_of_its_plan_whatever_the_setting() -> None:
    keyed = asked("quick", auth="QUICK_KEY")
    assert pause(keyed, "api.test") == 3_001
    assert pause(keyed, "api.test", plan_pace_s={"quick": 0.5}) == 501
    assert pause(keyed, "api.test", plan_pace_s={"quick": 30}) == 30_001
    assert pause(asked("quick"), "api.test", plan_pace_s={"quick": 0.5}) == USUAL_MS
    assert pause(asked("plain", auth="P"), "plain.test") == USUAL_MS


def test_loopback_hosts_are_never_slowed_by_a_row() -> None:
    loopback = {"allow": [], "only": True, "hosts": {"slow.test": "127.0.0.1:9"}}
    paces = Paces(load(loopback=loopback, politeness={"loopback_interval_s": 0.5}), ROWS)
    assert paces.pause_ms(asked("slow"), "slow.test") == 501


def test_every_shipped_row_with_a_published_pace_is_entitled_to_exactly_that() -> None:
    paces = paces_of(load(politeness={"published_pace": True}))
    arxiv = replace(asked("arxiv"), url="https://export.arxiv.org/api/query?search_query=x")
    assert paces.pause_ms(arxiv, "export.arxiv.org") == 3_001  # cited: one request per 3 s
    assert paces.is_own(arxiv, "export.arxiv.org")
    assert not paces_of(load()).is_own(arxiv, "export.arxiv.org")
