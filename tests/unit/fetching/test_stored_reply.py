"""What may be kept of a reply, for how long, and what a 304 or a failing origin makes of it (RFC 9111, RFC 5861)."""

from email.utils import formatdate

import pytest
from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.source import FetchOutcome, FetchState, Parsed

from infra.settings import load
from tests.fakes.builders import a_document
from tests.fakes.fetching import NOW_MS, a_reply, a_request
from workers.fetching.stored_reply import (
    Kept,
    StoredReply,
    conditions,
    confirms,
    is_served_on_failure,
    kept,
    renewed,
    stale,
)

LIMITS = load().cache.model_copy(update={"revalidate_s": 7200, "stale_if_error_s": 3600})
REQUEST = a_request("https://site.test/page")
FAILURE = FetchOutcome(
    state=FetchState.MISSED,
    url=REQUEST.url,
    status=503,
    reason="source_server_fault",
    detail="status 503 Service Unavailable",
    until_ms=NOW_MS + 9,
    bytes=12,
)


def document() -> Document:
    return a_document(url=REQUEST.url)


def an_outcome(**changes: object) -> FetchOutcome:
    parsed = Parsed(documents=(document(),))
    plain = FetchOutcome(
        state=FetchState.FETCHED, url=REQUEST.url, status=200, bytes=900, parsed=parsed
    )
    return replace(plain, decisions={"charset": "utf-8"}, **changes)


def keep(fresh: int = 60_000, **headers: str) -> Kept:
    return kept(REQUEST, a_reply(**headers), an_outcome(), fresh, LIMITS)


@pytest.mark.parametrize(
    ("headers", "stale_s", "error_s"),
    [
        ({}, 3600, 3600),  # no validator: only in place of a failure
        ({"etag": '"v"'}, 7200, 3600),
        ({"last_modified": formatdate(NOW_MS / 1000, usegmt=True)}, 7200, 3600),
        ({"cache_control": "max-age=60, stale-if-error=100"}, 100, 100),
        ({"cache_control": "max-age=60, stale-if-error=99999"}, 3600, 3600),
        ({"cache_control": "max-age=60, stale-if-error=0"}, 0, None),
        ({"cache_control": "max-age=60, must-revalidate", "etag": '"v"'}, 7200, None),
        ({"cache_control": "s-maxage=60", "etag": '"v"'}, 7200, None),
        ({"cache_control": "no-cache", "etag": '"v"'}, 7200, None),
        ({"cache_control": "no-store", "etag": '"v"'}, 0, None),
        ({"cache_control": "private, max-age=60", "etag": '"v"'}, 0, None),
        ({"vary": "*", "etag": '"v"'}, 0, None),
    ],
)
def test_how_long_a_reply_is_kept(
    headers: dict[str, str], stale_s: int, error_s: int | None
) -> None:
    found = keep(**headers)
    assert found.stale_ms == stale_s * 1000
    expected = 0 if error_s is None else NOW_MS + 60_000 + error_s * 1000
    assert found.reply.error_until_ms == expected


def test_what_is_not_to_be_stored_keeps_no_validator_either() -> None:
    found = keep(etag='"v"', cache_control="no-store")
    assert (found.reply.headers, conditions(found.reply)) == ({}, {})


@pytest.mark.parametrize("change", [{"auth": "A_KEY"}, {"method": "POST", "body": "{}"}])
def test_what_was_fetched_with_a_key_or_by_post_is_not_kept(change: dict[str, str]) -> None:
    request = replace(REQUEST, **change)
    found = kept(request, a_reply(etag='"v"'), an_outcome(), 0, LIMITS)
    assert (found.stale_ms, found.reply.headers, found.reply.error_until_ms) == (0, {}, 0)


def test_a_page_that_was_skipped_is_neither_fresh_nor_kept() -> None:
    outcome = an_outcome(state=FetchState.SKIPPED)
    found = kept(REQUEST, a_reply(etag='"v"'), outcome, 60_000, LIMITS)
    assert (found.fresh_ms, found.stale_ms) == (0, 0)


@pytest.mark.parametrize(
    ("ours", "theirs", "expected"),
    [
        ({"etag": '"v1"'}, {"etag": '"v1"'}, True),
        ({"etag": 'W/"v1"'}, {"etag": '"v1"'}, True),  # weak comparison (RFC 9110, 8.8.3.2)
        ({"etag": '"v1"'}, {}, True),
        ({"last-modified": "x"}, {}, True),
        ({"etag": '"v1"'}, {"etag": '"v2"'}, False),
        ({"cache-control": "max-age=1"}, {}, False),
    ],
)
def test_which_304_is_about_ours(
    ours: dict[str, str], theirs: dict[str, str], expected: bool
) -> None:
    stored = StoredReply(outcome=an_outcome(), headers=ours)
    assert confirms(stored, a_reply(status=304, **theirs)) is expected
    assert not confirms(stored, a_reply(status=200, **theirs))
    assert not confirms(None, a_reply(status=304, **theirs))


def test_a_304_renews_by_its_own_headers_and_parses_nothing() -> None:
    old = keep(etag='"v1"', cache_control="max-age=60").reply
    found = renewed(old, a_reply(status=304, cache_control="max-age=300"), LIMITS)
    assert (found.fresh_ms, found.stale_ms) == (300_000, 7_200_000)
    assert found.reply.headers == {"etag": '"v1"', "cache-control": "max-age=300"}
    outcome = found.reply.outcome
    assert outcome.parsed.documents == (document(),)
    assert (outcome.state, outcome.status, outcome.bytes) == ("fetched", 304, 0)
    assert outcome.decisions == {"charset": "utf-8", "cache": "renewed"}


def test_a_304_without_freshness_keeps_the_stored_one_less_its_age() -> None:
    old = keep(etag='"v1"', cache_control="max-age=60").reply
    assert renewed(old, a_reply(status=304, age="10"), LIMITS).fresh_ms == 50_000


def test_a_304_may_forbid_to_keep_it_any_longer() -> None:
    old = keep(etag='"v1"').reply
    found = renewed(old, a_reply(status=304, cache_control="no-store"), LIMITS)
    assert (found.fresh_ms, found.stale_ms, conditions(found.reply)) == (0, 0, {})


def test_a_failing_origin_is_stood_in_for_within_the_window_only() -> None:
    """hishel#306: stale only within a window."""
    old = keep(etag='"v1"').reply
    end_ms = NOW_MS + 60_000 + 3_600_000
    assert is_served_on_failure(old, end_ms - 1)
    assert not is_served_on_failure(old, end_ms)
    assert not is_served_on_failure(None, NOW_MS)


def test_what_stands_in_is_marked_never_fresh_and_kept_no_longer_than_before() -> None:
    old = keep(cache_control="max-age=60").reply
    found = stale(old, FAILURE, NOW_MS + 1_000_000, LIMITS)
    assert (found.fresh_ms, found.stale_ms) == (0, 60_000 + 3_600_000 - 1_000_000)
    assert found.reply.error_until_ms == old.error_until_ms
    outcome = found.reply.outcome
    assert outcome.parsed.documents == (document(),)
    assert (outcome.status, outcome.bytes, outcome.until_ms) == (503, 12, NOW_MS + 9)
    assert outcome.decisions["cache"] == "stale"
    assert outcome.detail == ("served stale: source_server_fault, status 503 Service Unavailable")
