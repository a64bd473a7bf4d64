"""What is at hand may end a question of one fact, but not one for what is new before the web has answered."""

from pathlib import Path
from typing import Any

import pytest
from signal_search.contracts.query import Constraints, Intent, RetrieveRequest, SourcePrefs, Tier
from signal_search.contracts.result import Result, StopReason
from signal_search.contracts.source import FetchOutcome, Request
from signal_search.contracts.trace import Planned

from infra.clock import FixedClock
from tests.contract.test_memory_jobs import DAY_2025_MS, OURS, a_spine, answered, outcomes
from tests.fakes.builders import a_document
from tests.fakes.research import Shelf, a_memory
from tests.fakes.spine import Spine, got, not_there, small_web

WEB = "https://en.wikipedia.org/wiki/Mount_Ansel"
OURS_SAYS = "Mount Ansel is 2,114 metres high."
FACT = "How high is Mount Ansel?"
LATEST = "How high is Mount Ansel today?"


@pytest.fixture
def shelf(tmp_path: Path) -> Shelf:
    """A memory of 2025, asked in 2026."""
    made = Shelf(tmp_path / "memory")
    made.clock = FixedClock(DAY_2025_MS)
    made.publish(a_memory("old", OURS_SAYS, OURS, title="Mount Ansel"))
    return made


def asked(query: str, *only: str, **more: Any) -> RetrieveRequest:
    prefs = SourcePrefs(only=only or ("wikipedia",))
    wanted = Constraints(required_tier=Tier.L0, scope=OURS, source_prefs=prefs, **more)
    return RetrieveRequest(query=query, constraints=wanted)


def urls(result: Result) -> list[str]:
    return [each.url for each in result.sources]


def intent_of(spine: Spine) -> Intent:
    [planned] = [each for each in spine.entries() if isinstance(each, Planned)]
    return planned.plan.intent


@pytest.mark.usefixtures("redis")
def test_one_voice_is_enough_for_one_value(redis_url: str, shelf: Shelf) -> None:
    spine = a_spine(redis_url, shelf)
    result = answered(spine, asked(FACT))
    assert intent_of(spine) is Intent.FACT
    assert (result.stop.reason, urls(result)) == (
        StopReason.AGREEMENT,
        ["memory://local/records/old"],
    )
    assert not spine.fetched


@pytest.mark.parametrize(
    ("query", "given"), [(LATEST, {}), (FACT, {"freshness": "2025-01-01..2026-12-31"})]
)
@pytest.mark.usefixtures("redis")
def test_what_is_new_is_not_answered_by_what_is_at_hand_alone(
    redis_url: str, shelf: Shelf, query: str, given: dict[str, Any]
) -> None:
    spine = a_spine(redis_url, shelf)
    result = answered(spine, asked(query, **given))
    assert (intent_of(spine) is Intent.LATEST) == (query is LATEST)
    assert (result.stop.reason, urls(result)) == (StopReason.AGREEMENT, [WEB])
    [claim] = [claim for each in result.findings for claim in each.claims if "2,114" in claim.text]
    assert {each.url for each in claim.supporting} == {"memory://local/records/old", WEB}


@pytest.mark.usefixtures("redis")
def test_a_page_that_says_otherwise_is_shown_and_weighs_more(redis_url: str, shelf: Shelf) -> None:
    spine = a_spine(redis_url, shelf)
    spine.web = newer
    result = answered(spine, asked(LATEST, max_sources=2))
    assert urls(result) == [WEB, "memory://local/records/old"]
    [conflict] = result.conflicts
    assert (conflict.stronger.url, conflict.weaker.url) == (WEB, "memory://local/records/old")
    assert result.stop.reason is StopReason.PLAN_COMPLETE  # they do not agree


@pytest.mark.usefixtures("redis")
def test_a_page_that_stands_alone_is_not_verified_against_what_is_at_hand(
    redis_url: str, shelf: Shelf
) -> None:
    """One value has one source; the other one is heard against it."""
    spine = a_spine(redis_url, shelf)
    spine.web = newer
    [finding] = answered(spine, asked(LATEST)).findings
    [claim] = finding.claims
    assert (claim.text, claim.reason) == (
        "Mount Ansel is 2,209 metres high.",
        "contradicted_elsewhere",
    )
    assert [each.url for each in claim.contradicting] == ["memory://local/records/old"]


def newer(request: Request) -> FetchOutcome:
    """The encyclopedia with a page of this month, which states another height."""
    if "pageids" not in request.url:
        return small_web(request)
    page = a_document(
        doc_id="new",
        url=WEB,
        site="wikipedia.org",
        source_id="wikipedia",
        title="Mount Ansel",
        published="2026-09-20",
        date_kind="record",
        text="Mount Ansel is 2,209 metres high.",
    )
    return got(request, documents=(page,))


@pytest.mark.usefixtures("redis")
def test_what_is_at_hand_answers_where_the_web_does_not(redis_url: str, shelf: Shelf) -> None:
    spine = a_spine(redis_url, shelf)
    spine.web = not_there
    result = answered(spine, asked(LATEST))
    assert (urls(result), outcomes(result)["wikipedia"][0]) == (
        ["memory://local/records/old"],
        "failed",
    )
    assert result.stop.reason is StopReason.AGREEMENT


@pytest.mark.usefixtures("redis")
def test_memory_alone_waits_for_nobody(redis_url: str, shelf: Shelf) -> None:
    spine = a_spine(redis_url, shelf)
    result = answered(spine, asked(LATEST, "memory"))
    assert (result.stop.reason, urls(result)) == (
        StopReason.AGREEMENT,
        ["memory://local/records/old"],
    )
