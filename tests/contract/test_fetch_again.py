"""What is fetched again: renewed by a 304, replaced when it changed, served stale while its origin fails.

A real store and a real web; a reply without freshness is stale at once, so nothing waits for it to become so.
"""

import threading
from collections.abc import Callable, Iterator

import pytest
from redis import Redis
from signal_search.contracts.trace import FetchFinished, FetchQueued

from tests.fakes.crawler import Crawler, crawl, until
from tests.fakes.web import Answer, Seen, Web, html, refusal, running_web, text

BODY = (
    "<html><head><title>Mount Ansel</title></head><body><article><p>"
    + "Mount Ansel is 2,114 metres high and was first climbed in 1903. " * 8
    + "</p></article></body></html>"
)
HTML = ("Content-Type", "text/html; charset=utf-8")
STALE = ("Cache-Control", "max-age=0")


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as server:
        server.route("/robots.txt", text(""))
        yield server


def page(*headers: tuple[str, str], body: str = BODY) -> Answer:
    return Answer(body.encode(), headers=(HTML, *headers))


def in_turn(*answers: Answer) -> Callable[[Seen], Answer]:
    """Answer with one after the other, the last one for ever."""
    left = list(answers)
    return lambda _seen: left.pop(0) if len(left) > 1 else left[0]


def ask_twice(web: Web, redis_url: str, **changes: object) -> tuple[FetchFinished, FetchFinished]:
    """Two jobs ask for the same page, one after the other."""
    ends: list[FetchFinished] = []

    async def play(crawler: Crawler) -> None:
        for job in ("job_1", "job_2"):
            crawler.ask(web.url("/a"), job)
            ends.extend(await crawler.heard(1, job))

    crawl(web, redis_url, play, **changes)
    first, second = ends
    return first, second


def test_a_304_renews_the_stored_reply_for_another_job(
    redis: Redis, redis_url: str, web: Web
) -> None:
    unchanged = Answer(b"", 304, (("ETag", '"v1"'), ("Cache-Control", "max-age=600")))
    web.route("/a", in_turn(page(STALE, ("ETag", '"v1"')), unchanged))
    seen: list[str] = []

    async def play(crawler: Crawler) -> None:
        for job in ("job_1", "job_2", "job_3"):
            crawler.ask(web.url("/a"), job)
            await crawler.heard(1, job)
        first, second, third = (crawler.ends(f"job_{n}")[0] for n in (1, 2, 3))
        assert (first.status, second.status, second.bytes) == (200, 304, 0)
        assert second.paid
        assert second.documents == first.documents
        assert second.decisions["cache"] == "renewed"
        assert crawler.tools.log.documents("job_2", second.documents)
        assert (third.paid, third.documents) == (False, first.documents)  # fresh again
        queued = [e for _id, e in crawler.tools.log.read("job_3") if isinstance(e, FetchQueued)]
        seen.extend(each.disposition for each in queued)

    crawl(web, redis_url, play)
    assert seen == ["cached"]
    assert web.paths() == ["/robots.txt", "/a", "/a"]
    assert [each.headers.get("if-none-match") for each in web.log[1:]] == [None, '"v1"']


def test_what_changed_is_read_anew(redis: Redis, redis_url: str, web: Web) -> None:
    other = page(body=BODY.replace("2,114", "2,115"))
    web.route("/a", in_turn(page(STALE, ("ETag", '"v1"')), other))
    first, second = ask_twice(web, redis_url)
    assert (second.status, second.state) == (200, "fetched")
    assert first.documents != second.documents
    assert "cache" not in second.decisions


@pytest.mark.parametrize("kind", ["no-store", "private"])
def test_what_must_not_be_stored_is_neither_renewed_nor_served_stale(
    redis: Redis, redis_url: str, web: Web, kind: str
) -> None:
    first_answer = page(("Cache-Control", kind), ("ETag", '"v1"'))
    web.route("/a", in_turn(first_answer, Answer(b"no", 500)))
    _, second = ask_twice(web, redis_url)
    assert "if-none-match" not in web.log[-1].headers
    assert (second.state, second.reason, second.documents) == (
        "missed",
        "source_server_fault",
        (),
    )


@pytest.mark.parametrize(
    ("failure", "status", "reason"),
    [
        (Answer(b"oops", 500), 500, "source_server_fault"),
        (refusal(503), 503, "source_server_fault"),
        (refusal(429), 429, "source_rate_limited"),
        (Answer(silent=True), 0, "source_bad_reply"),
    ],
)
def test_a_stale_reply_stands_in_for_a_failing_origin_and_says_so(
    redis: Redis, redis_url: str, web: Web, failure: Answer, status: int, reason: str
) -> None:
    web.route("/a", in_turn(page(STALE), failure))
    first, second = ask_twice(web, redis_url)
    assert (second.state, second.status) == ("fetched", status)
    assert second.documents == first.documents
    assert second.decisions["cache"] == "stale"
    assert second.reason == "stale"
    assert second.detail.startswith(f"served stale: {reason}, ")
    assert second.paid == (status > 0)


def test_without_a_window_a_failure_is_a_failure(redis: Redis, redis_url: str, web: Web) -> None:
    web.route("/a", in_turn(page(STALE, ("ETag", '"v1"')), Answer(b"oops", 500)))
    _, second = ask_twice(web, redis_url, cache={"stale_if_error_s": 0})
    assert (second.state, second.reason) == ("missed", "source_server_fault")


def test_a_page_that_is_gone_is_gone(redis: Redis, redis_url: str, web: Web) -> None:
    web.route("/a", in_turn(page(STALE), Answer(b"gone", 410)))
    _, second = ask_twice(web, redis_url)
    assert (second.state, second.reason) == ("missed", "source_not_found")


def test_a_suspended_host_is_stood_in_for_and_every_waiting_job_hears_why_and_until_when(
    redis: Redis, redis_url: str, web: Web
) -> None:
    go_on = threading.Event()

    def busy(_seen: Seen) -> Answer:
        go_on.wait(40)
        return refusal(429, Retry_After="3600")

    web.route("/a", page(STALE))
    web.route("/busy", busy)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        await crawler.heard()
        crawler.ask(web.url("/busy"), "job_2", kind="api")
        await until(lambda: web.paths()[-1] == "/busy", "the request")
        crawler.ask(web.url("/other"), "job_3", kind="api")  # stands in the queue meanwhile
        go_on.set()
        await crawler.heard(1, "job_2")
        await until(
            lambda: crawler.tools.frontier.host_state(web.authority).reason != "", "suspended"
        )
        crawler.ask(web.url("/a"), "job_4")
        [old] = await crawler.heard(1, "job_4")
        assert (old.state, old.paid, old.decisions["cache"]) == ("fetched", False, "stale")
        crawler.ask(web.url("/other"), "job_3", kind="api")  # the job looks again
        [refused] = await crawler.heard(1, "job_3")
        assert (refused.state, refused.reason) == ("skipped", "suspended")
        assert "(source_rate_limited: status 429 Too Many Requests), until 20" in refused.detail
        assert refused.until_ms is not None
        left_ms = refused.until_ms - crawler.tools.clock.now_ms()
        assert 3_540_000 < left_ms <= 3_600_000
        assert crawler.tools.frontier.host_state(web.authority).queued == 0

    crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/a", "/busy"]


def test_the_trace_says_what_was_decided_on_the_way(redis: Redis, redis_url: str, web: Web) -> None:
    web.route("/robots.txt", text("User-agent: *\nAllow: /a\nDisallow: /"))
    chinese = "<html><body><article><p>" + "安塞尔山海拔二千一百一十四米，一九〇三年首次登顶。" * 9
    web.route("/a", html(chinese, charset="gb18030", declared="gb2312"))
    first, _ = ask_twice(web, redis_url)
    assert first.decisions["robots"] == "Allow: /a"
    assert first.decisions["charset"] == "gb18030"
    assert 0.9 < float(first.decisions["extraction_ratio"]) <= 1.0
