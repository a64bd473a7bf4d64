"""The fetcher against a real server: what goes over the wire, in which order, and what comes of it."""

from collections.abc import Iterator
from email.utils import formatdate

import pytest
from signal_search.contracts.source import FetchOutcome, FetchState, SkipReason

from infra.settings import load
from tests.fakes.fetching import NOW_MS, a_request, an_open_record, settings_for, with_fetcher
from tests.fakes.web import (
    Answer,
    Web,
    gzip_bomb,
    html,
    redirect,
    refusal,
    running_web,
    text,
)
from workers.fetching.fetcher import Exchange, Fetched, Finished, NeedsRobots, Unchanged
from workers.fetching.robots import RobotsRecord
from workers.fetching.stored_reply import StoredReply


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as server:
        yield server


def fetch(web: Web, path: str, robots: RobotsRecord | None, **fields: str) -> Exchange:
    request = a_request(web.url(path), **fields)  # type: ignore[arg-type]
    return with_fetcher(settings_for(web), lambda fetcher: fetcher.fetch(request, robots))


def open_fetch(web: Web, path: str, **fields: str) -> Exchange:
    return fetch(web, path, an_open_record(f"http://{web.authority}"), **fields)


def finished(exchange: Exchange) -> FetchOutcome:
    assert isinstance(exchange, Finished)
    return exchange.outcome


def robots_step(web: Web, previous: RobotsRecord | None = None) -> RobotsRecord:
    """Make one exchange."""
    return with_fetcher(
        settings_for(web), lambda fetcher: fetcher.fetch_robots(web.url("/any"), previous)
    )


def robots_of(web: Web, previous: RobotsRecord | None = None) -> RobotsRecord:
    """Make as many exchanges as it takes: one per redirect."""
    record = robots_step(web, previous)
    while record.state == "moved":
        record = robots_step(web, record)
    return record


# --- robots ----------------------------------------------------------------------------------------------------------


def test_no_page_before_robots(web: Web) -> None:
    """scrapy#2014: zero page requests before the robots answer."""
    exchange = fetch(web, "/page", None)
    origin = f"http://{web.authority}"
    assert exchange == NeedsRobots(origin=origin, url=f"{origin}/robots.txt")
    assert web.log == []


@pytest.mark.parametrize("kind", ["feed", "sitemap"])
def test_feeds_and_sitemaps_need_robots_too(web: Web, kind: str) -> None:
    assert isinstance(fetch(web, "/feed", None, kind=kind), NeedsRobots)


def test_expired_and_foreign_records_do_not_count(web: Web) -> None:
    expired = RobotsRecord(
        origin=f"http://{web.authority}", state="allow_all", fetched_at_ms=0, expires_at_ms=NOW_MS
    )
    assert isinstance(fetch(web, "/page", expired), NeedsRobots)
    assert isinstance(fetch(web, "/page", an_open_record("http://other.test")), NeedsRobots)


def test_robots_500_with_a_page_forbids_everything(web: Web) -> None:
    """crawlee-python#2065."""
    web.route("/robots.txt", Answer(b"<html>oops", 500))
    record = robots_of(web)
    assert record.state == "unreachable"
    outcome = finished(fetch(web, "/page", record))
    assert (outcome.state, outcome.reason) == (FetchState.SKIPPED, SkipReason.ROBOTS_UNREACHABLE)
    assert web.paths() == ["/robots.txt"]


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (404, "allow_all"),
        (410, "allow_all"),
        (400, "allow_all"),
        (304, "allow_all"),
        (401, "unreachable"),
        (403, "unreachable"),
        (429, "unreachable"),
        (503, "unreachable"),
    ],
)
def test_robots_by_status(web: Web, status: int, state: str) -> None:
    web.route("/robots.txt", Answer(b"User-agent: *\nDisallow: /", status))
    assert robots_of(web).state == state


@pytest.mark.parametrize("answer", [Answer(silent=True), Answer(b"User-agent: *", drop_after=3)])
def test_broken_robots_are_asked_again_later_and_later(web: Web, answer: Answer) -> None:
    """PyScrappy#152: not now, but not for ever: 300 s, doubling."""
    web.route("/robots.txt", answer)
    first = robots_of(web)
    second = robots_of(web, first)
    assert [first.failures, second.failures] == [1, 2]
    assert first.expires_at_ms - NOW_MS == 300_000
    assert second.expires_at_ms - NOW_MS == 600_000
    assert not first.check("SignalSearchBot", web.url("/")).allowed


def test_robots_line_and_delay(web: Web) -> None:
    web.route("/robots.txt", text("User-agent: *\nCrawl-delay: 20\nDisallow: /private # no\n"))
    web.route("/open", html("<p>x"))
    record = robots_of(web)
    refused = finished(fetch(web, "/private/x", record))
    assert (refused.reason, refused.detail) == (SkipReason.ROBOTS, "Disallow: /private # no")
    exchange = fetch(web, "/open", record)
    assert isinstance(exchange, Fetched)
    assert exchange.pacing.crawl_delay_s == 20.0
    assert record.expires_at_ms - NOW_MS == 86_400_000


def test_the_deciding_line_is_told_without_personal_data(web: Web) -> None:
    rules = "User-agent: *\nDisallow: /no # ask bob@example.com\nAllow: / # or +1 650-253-0000\n"
    web.route("/robots.txt", text(rules))
    web.route("/open", html("<p>x"))
    record = robots_of(web)
    assert finished(fetch(web, "/no", record)).detail == "Disallow: /no # ask [EMAIL#1]"
    fetched = fetch(web, "/open", record)
    assert isinstance(fetched, Fetched)
    assert fetched.robots == "Allow: / # or [PHONE#1]"


def test_crawl_delay_above_the_cap_is_skipped(web: Web) -> None:
    """stormcrawler#1979: not fetched faster than asked."""
    web.route("/robots.txt", text("User-agent: *\nCrawl-delay: 86400\n"))
    outcome = finished(fetch(web, "/x", robots_of(web)))
    assert (outcome.reason, outcome.detail) == (SkipReason.CRAWL_DELAY, "Crawl-delay: 86400")
    assert web.paths() == ["/robots.txt"]


def test_robots_of_five_hops_counts_for_the_first_origin(web: Web) -> None:
    for hop in range(5):
        web.route("/robots.txt" if not hop else f"/hop{hop}", redirect(f"/hop{hop + 1}"))
    web.route("/hop5", text("User-agent: *\nDisallow: /"))
    record = robots_of(web)
    assert (record.state, record.origin) == ("rules", f"http://{web.authority}")
    web.route("/hop5", redirect("/hop6"))
    assert robots_of(web).state == "allow_all"


def test_a_redirected_robots_is_one_exchange_per_slot_and_never_valid_before_its_end(
    web: Web,
) -> None:
    web.route("/robots.txt", redirect("/real"))
    web.route("/real", text("User-agent: *\nDisallow: /private"))
    moved = robots_step(web)
    assert (moved.state, moved.hops, moved.next_url) == ("moved", 1, web.url("/real"))
    assert web.paths() == ["/robots.txt"]
    assert not moved.is_valid(NOW_MS)
    assert not moved.check("SignalSearchBot", web.url("/open")).allowed
    assert isinstance(fetch(web, "/open", moved), NeedsRobots)
    record = robots_step(web, moved)
    assert web.paths() == ["/robots.txt", "/real"]
    assert record.check("SignalSearchBot", web.url("/open")).allowed
    assert not record.check("SignalSearchBot", web.url("/private")).allowed


def test_a_chain_that_was_left_for_an_hour_begins_anew(web: Web) -> None:
    web.route("/robots.txt", text(""))
    old = RobotsRecord(
        origin=f"http://{web.authority}",
        state="moved",
        fetched_at_ms=NOW_MS - 3_600_000,
        expires_at_ms=NOW_MS - 3_600_000,
        next_url=web.url("/elsewhere"),
        hops=1,
    )
    assert robots_step(web, old).state == "rules"
    assert web.paths() == ["/robots.txt"]


def test_the_bytes_of_all_hops_count_together(web: Web) -> None:
    """Two bodies of 600 kB are more than one file may have; what was read says nothing and allows nothing."""
    web.route("/robots.txt", Answer(b"x" * 600_000, 302, (("Location", "/real"),)))
    web.route("/real", Answer(b"User-agent: *\nAllow: /\n" + b"#" * 600_000))
    record = robots_of(web)
    assert (record.state, record.failures) == ("unreachable", 1)
    web.route("/real", Answer(b"User-agent: *\nAllow: /\n" + b"#" * 300_000))
    assert robots_of(web).state == "rules"


def test_robots_belong_to_scheme_host_and_port(web: Web) -> None:
    """RFC 9309, 2.3: the record of one port says nothing about another, nor http about https."""
    record = an_open_record("http://a.test:8080")
    for url in ("http://a.test/x", "https://a.test:8080/x", "http://b.test:8080/x"):
        settings = load(loopback={"only": False, "allow": [], "hosts": {}})
        request = a_request(url)
        exchange = with_fetcher(
            settings, lambda fetcher, request=request: fetcher.fetch(request, record)
        )
        assert isinstance(exchange, NeedsRobots)
    assert web.log == []


def test_size_limit_holds_for_a_redirected_robots(web: Web) -> None:
    """stormcrawler#2004; rules beyond 500 KiB count, those beyond the limit do not."""
    filler = b"# filler line of thirty bytes\n" * 20_000
    body = (
        b"User-agent: *\n" + filler + b"Disallow: /late\n" + b"#" * 1_000_000 + b"\nDisallow: /\n"
    )
    web.route("/robots.txt", redirect("/real"))
    web.route("/real", Answer(body))
    record = robots_of(web)
    assert not record.check("SignalSearchBot", web.url("/late")).allowed
    assert record.check("SignalSearchBot", web.url("/early")).allowed


def test_robots_redirect_to_a_private_address_fails_closed(web: Web) -> None:
    web.route("/robots.txt", redirect("http://169.254.169.254/robots.txt"))
    assert robots_of(web).state == "unreachable"


def test_cache_headers_shorten_the_day_but_not_to_nothing(web: Web) -> None:
    body = b"User-agent: *\nAllow: /"
    for stated, expected_s in [
        ("max-age=7200", 7200),
        ("max-age=1", 3600),
        ("max-age=99999999", 86_400),
    ]:
        web.route("/robots.txt", Answer(body, headers=(("Cache-Control", stated),)))
        assert robots_of(web).expires_at_ms - NOW_MS == expected_s * 1000


# --- status, redirects, pace -----------------------------------------------------------------------------------------


def test_retry_after_in_seconds(web: Web) -> None:
    """scrapy#3849."""
    web.route("/busy", refusal(429, Retry_After="7"))
    exchange = open_fetch(web, "/busy")
    assert isinstance(exchange, Finished)
    assert (exchange.pacing.verdict, exchange.pacing.retry_after_s) == ("limited", 7.0)
    assert exchange.outcome.reason == "source_rate_limited"
    assert exchange.outcome.until_ms == NOW_MS + 7000
    assert exchange.fresh_ms == 0


def test_retry_after_as_a_date(web: Web) -> None:
    date = formatdate(NOW_MS / 1000 + 90, usegmt=True)
    web.route("/busy", refusal(503, Retry_After=date))
    exchange = open_fetch(web, "/busy")
    assert isinstance(exchange, Finished)
    assert (exchange.pacing.verdict, exchange.pacing.retry_after_s) == ("limited", 90.0)
    assert exchange.outcome.reason == "source_server_fault"


@pytest.mark.parametrize(
    ("status", "kind", "state", "reason"),
    [
        (401, "page", FetchState.SKIPPED, "login_wall"),
        (401, "api", FetchState.MISSED, "source_denied"),
        (402, "page", FetchState.SKIPPED, "pay_wall"),
        (402, "api", FetchState.MISSED, "source_denied"),
        (403, "page", FetchState.MISSED, "source_denied"),
        (407, "page", FetchState.SKIPPED, "login_wall"),
        (451, "page", FetchState.MISSED, "source_denied"),
        (404, "page", FetchState.MISSED, "source_not_found"),
        (410, "api", FetchState.MISSED, "source_not_found"),
        (418, "page", FetchState.MISSED, "source_bad_reply"),
        (500, "page", FetchState.MISSED, "source_server_fault"),
        (204, "page", FetchState.SKIPPED, "empty"),
    ],
)
def test_status_classes(web: Web, status: int, kind: str, state: FetchState, reason: str) -> None:
    web.route("/s", Answer(b"" if status == 204 else b"no", status))
    outcome = finished(open_fetch(web, "/s", kind=kind))
    assert (outcome.state, outcome.reason, outcome.status) == (state, reason, status)


def test_used_up_allowance_is_not_a_wall(web: Web) -> None:
    web.route("/s", refusal(403, X_RateLimit_Remaining="0"))
    exchange = open_fetch(web, "/s", kind="api")
    assert isinstance(exchange, Finished)
    assert (exchange.outcome.reason, exchange.pacing.verdict) == ("source_rate_limited", "limited")


def test_challenge_is_blocked_not_answered(web: Web) -> None:
    page = b"<title>Just a moment...</title><script src=/cdn-cgi/challenge-platform/x.js></script>"
    web.route("/s", Answer(page, 503))
    outcome = finished(open_fetch(web, "/s"))
    assert (outcome.state, outcome.reason) == (FetchState.SKIPPED, SkipReason.CHALLENGE)
    assert "challenge script" in outcome.detail


@pytest.mark.parametrize("kind", ["page", "api"])
def test_a_redirect_is_an_outcome(web: Web, kind: str) -> None:
    web.route("/old", redirect("../new?x=1#part", 301))
    outcome = finished(open_fetch(web, "/old", kind=kind))
    assert outcome.state == FetchState.REDIRECTED
    assert outcome.parsed.redirect_to == web.url("/new?x=1")
    assert web.paths() == ["/old"]


@pytest.mark.parametrize(
    ("location", "reason"),
    [
        ("http://169.254.169.254/latest/meta-data/", SkipReason.ADDRESS),  # crewAI#5843
        ("file:///etc/passwd", SkipReason.ADDRESS),
        ("//127.0.0.1:6379/", SkipReason.ADDRESS),
        ("http://[::1/", "source_bad_reply"),
        ("/login?next=%2Fold", SkipReason.LOGIN_WALL),
        ("/files?access_token=abcdef", SkipReason.ADDRESS),
        ("/old", "source_bad_reply"),
        ("", "source_bad_reply"),
    ],
)
def test_redirects_that_are_not_followed(web: Web, location: str, reason: str) -> None:
    web.route("/old", redirect(location))
    outcome = finished(open_fetch(web, "/old"))
    assert outcome.reason == reason
    assert outcome.parsed.redirect_to == ""


@pytest.mark.parametrize("url", ["file:///etc/passwd", "http://10.0.0.1/", "http://u:p@127.0.0.1/"])
def test_bad_addresses_are_refused_before_any_io(web: Web, url: str) -> None:
    """CVE-2026-26217, CVE-2026-53755."""
    request = a_request(url)
    exchange = with_fetcher(settings_for(web), lambda fetcher: fetcher.fetch(request, None))
    assert isinstance(exchange, Finished)
    assert exchange.outcome.reason == SkipReason.ADDRESS
    assert exchange.pacing.verdict == "unsent"
    assert "etc/passwd" not in exchange.outcome.detail


def test_failures_slow_the_host_down(web: Web) -> None:
    web.route("/gone", Answer(silent=True))
    web.route("/big", gzip_bomb(6_000_000))
    broken, big = open_fetch(web, "/gone"), open_fetch(web, "/big")
    assert finished(broken).reason == "source_bad_reply"
    assert finished(big).reason == "source_body_too_large"
    assert [broken.pacing.verdict, big.pacing.verdict] == ["fault", "fine"]  # type: ignore[union-attr]
    settings = settings_for(web)
    web.stop()
    request = a_request(web.url("/x"), "api")
    dead = with_fetcher(settings, lambda fetcher: fetcher.fetch(request, None))
    assert isinstance(dead, Finished)
    assert (dead.outcome.reason, dead.pacing.verdict) == ("source_unreachable", "fault")


def test_freshness_comes_with_the_reply(web: Web) -> None:
    web.route("/a", Answer(b"<p>x", headers=(("Cache-Control", "max-age=30"),)))
    exchange = open_fetch(web, "/a")
    assert isinstance(exchange, Fetched)
    assert exchange.fresh_ms == 30_000


# --- revalidation ----------------------------------------------------------------------------------------------------


def stored(**headers: str) -> StoredReply:
    outcome = FetchOutcome(state=FetchState.FETCHED, url="http://a.test/", status=200)
    return StoredReply(outcome=outcome, headers=headers)


def again(web: Web, old: StoredReply) -> Exchange:
    request, record = a_request(web.url("/a")), an_open_record(f"http://{web.authority}")
    return with_fetcher(settings_for(web), lambda fetcher: fetcher.fetch(request, record, old))


def test_a_stale_reply_is_asked_for_by_its_validators(web: Web) -> None:
    web.route("/a", Answer(b"", 304, (("ETag", '"v1"'),)))
    exchange = again(web, stored(etag='"v1"', **{"last-modified": "Sun, 06 Nov 1994 08:49:37 GMT"}))
    assert isinstance(exchange, Unchanged)
    [seen] = web.log
    assert seen.headers["if-none-match"] == '"v1"'
    assert seen.headers["if-modified-since"] == "Sun, 06 Nov 1994 08:49:37 GMT"


@pytest.mark.parametrize(
    ("old", "etag"),
    [
        (stored(etag='"v1"'), '"v2"'),  # the 304 is about something we do not have
        (stored(**{"cache-control": "max-age=1"}), '"v1"'),  # nobody asked conditionally
    ],
)
def test_a_304_about_something_else_is_no_answer(web: Web, old: StoredReply, etag: str) -> None:
    web.route("/a", Answer(b"", 304, (("ETag", etag),)))
    assert finished(again(web, old)).reason == "source_bad_reply"


def test_a_changed_reply_is_a_reply(web: Web) -> None:
    web.route("/a", html("<p>new"))
    exchange = again(web, stored(etag='"v1"'))
    assert isinstance(exchange, Fetched)
    assert exchange.raw.body == b"<p>new"
