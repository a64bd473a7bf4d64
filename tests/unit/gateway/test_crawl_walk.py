"""From a job's log to the pages of a crawl, its faults and its state."""

from typing import Any

import msgspec
import pytest
from msgspec.structs import replace
from signal_search.contracts.job import Job, JobState, Progress
from signal_search.contracts.result import Stop, StopReason
from signal_search.contracts.source import FetchState

from api_gateway.compat.crawl_reply import faults_of, last_shown, status_of
from api_gateway.compat.crawl_walk import Crawl, Walked, walked
from tests.fakes.crawled import DOCUMENTS, LOG, NOW_MS, SITE, ended, queued


def test_what_a_log_says() -> None:
    found = walked(LOG, DOCUMENTS, limit=10)
    assert [each.metadata.url for each in found.pages] == [SITE, SITE + "guide"]
    assert found.pages[1].markdown == "guide text"
    # The sitemap is no page, and a redirect is a step on the way to one.
    assert (found.asked, found.ended) == (5, 4)
    assert found.paid == 4
    assert found.forbidden == (SITE + "private",)
    [fault] = found.faults
    assert (fault.url, fault.code, fault.error) == (
        SITE + "gone",
        "source_not_found",
        "source_not_found: HTTP 404",
    )


@pytest.mark.parametrize("limit", [0, 1, 2, 3])
def test_never_more_pages_than_the_limit(limit: int) -> None:
    assert len(walked(LOG, DOCUMENTS, limit=limit).pages) == min(limit, 2)


def test_a_page_that_came_twice_is_one() -> None:
    again = [*LOG, queued("6", "guide?x"), ended("6", "guide?x", documents=("guide",))]
    assert len(walked(again, DOCUMENTS, limit=10).pages) == 2


def test_entries_that_come_twice_count_once() -> None:
    assert walked([*LOG, *LOG], DOCUMENTS, limit=10) == walked(LOG, DOCUMENTS, limit=10)


def test_a_reason_is_said_once() -> None:
    wall = ended(
        "1", "", FetchState.SKIPPED, reason="pay_wall", detail="pay_wall: a paywall element"
    )
    [fault] = walked([queued("1"), wall], {}, limit=1).faults
    assert fault.error == "pay_wall: a paywall element"
    bare = ended("1", "", FetchState.SKIPPED, reason="suspended")
    [fault] = walked([queued("1"), bare], {}, limit=1).faults
    assert fault.error == "suspended"


def crawl(state: JobState, found: Walked, **more: Any) -> Crawl:
    job = Job(
        id="job_1",
        kind="retrieve",
        state=state,
        query="*",
        created_at_ms=NOW_MS,
        deadline_ms=NOW_MS + 60_000,
        **more,
    )
    return Crawl(job=job, result_ttl_s=600, walked=found)


def told(
    found: Crawl, first: int = 0, last: int = 100, next_url: str | None = None
) -> dict[str, Any]:
    status = status_of(found, first=first, last=last, next_url=next_url)
    reply: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(status))
    return reply


def test_a_running_crawl() -> None:
    reply = told(crawl(JobState.CRAWLING, walked(LOG, DOCUMENTS, limit=10)), 1, 2)
    assert (reply["success"], reply["status"]) == (True, "scraping")
    assert (reply["total"], reply["completed"], reply["creditsUsed"]) == (5, 4, 4)
    assert reply["createdAt"] == "2026-09-21T14:13:20.000Z"
    assert reply["expiresAt"] == "2026-09-21T14:24:20.000Z"
    assert reply["next"] is None
    assert "completedAt" not in reply
    [page] = reply["data"]
    assert page == {
        "markdown": "guide text",
        "metadata": {
            "title": "guide",
            "sourceURL": SITE + "guide",
            "url": SITE + "guide",
            "statusCode": 200,
            "language": "en",
        },
    }


@pytest.mark.parametrize(
    ("state", "has_pages", "status"),
    [
        (JobState.QUEUED, False, "scraping"),
        (JobState.PLANNING, False, "scraping"),
        (JobState.REDUCING, True, "scraping"),
        (JobState.SUCCEEDED, True, "completed"),
        (JobState.PARTIAL, True, "completed"),
        (JobState.PARTIAL, False, "failed"),
        (JobState.SUCCEEDED, False, "failed"),
        (JobState.FAILED, True, "failed"),
        (JobState.EXPIRED, True, "failed"),
        (JobState.CANCELLED, True, "cancelled"),
        (JobState.CANCELLED, False, "cancelled"),
    ],
)
def test_states(state: JobState, has_pages: bool, status: str) -> None:
    found = walked(LOG if has_pages else [], DOCUMENTS, limit=10)
    assert told(crawl(state, found))["status"] == status


def test_an_ended_crawl_has_as_many_completed_as_in_all() -> None:
    found = walked(LOG, DOCUMENTS, limit=10)
    reply = told(
        crawl(
            JobState.CANCELLED, found, finished_at_ms=NOW_MS + 2500, expires_at_ms=NOW_MS + 10_000
        )
    )
    assert reply["total"] == reply["completed"] == 4
    assert reply["completedAt"] == "2026-09-21T14:13:22.500Z"
    assert reply["expiresAt"] == "2026-09-21T14:13:30.000Z"
    assert reply["duration"] == 2.5


def test_an_answer_is_as_long_as_it_may_be() -> None:
    [page, _] = walked(LOG, DOCUMENTS, limit=10).pages
    megabyte = replace(page, markdown="x" * 2**20)
    assert last_shown([megabyte] * 30, 0, 100) == 10
    assert last_shown([megabyte] * 30, 25, 100) == 30
    assert last_shown([megabyte] * 30, 3, 4) == 7
    assert last_shown([], 0, 100) == 0
    assert last_shown([megabyte] * 3, 5, 100) == 5
    # Twelve MiB of Chinese are four of characters; a page that is too long alone is told all the same.
    giant = replace(page, markdown="港" * 2**22)
    assert last_shown([giant, page], 0, 100) == 1


def test_a_limit_that_ended_it_is_named() -> None:
    stop = Stop(
        reason=StopReason.BUDGET_COVERAGE,
        text="...",
        exhausted=True,
        coverage=0.0,
        saturation=0.0,
        rounds=1,
    )
    found = walked(LOG, DOCUMENTS, limit=10)
    reply = told(crawl(JobState.PARTIAL, found, progress=Progress(stop=stop)))
    assert reply["warning"] == "the limit was reached; the site may have more pages"


def test_faults_as_they_are_listed() -> None:
    found = faults_of(walked(LOG, DOCUMENTS, limit=10))
    reply = msgspec.json.decode(msgspec.json.encode(found))
    assert reply["robotsBlocked"] == [SITE + "private"]
    [fault] = reply["errors"]
    assert fault["timestamp"] == "2026-09-21T14:13:20.001Z"
    assert fault["id"] == "all.site1#3"
