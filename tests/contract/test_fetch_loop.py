"""The polite fetchers on a real web and a real store: who is asked, when, how often, and who hears of it.

Intervals are short but real: what counts is when requests arrive at the server.
"""

import asyncio
import os
import threading
from collections.abc import Callable, Iterator
from itertools import pairwise

import pytest
from redis import Redis
from signal_search.contracts.budget import Dimension
from signal_search.contracts.source import FetchOutcome, FetchState
from signal_search.contracts.trace import FetchQueued, Planned

from budget.policy import job_level
from infra import keys
from tests.fakes.builders import a_plan
from tests.fakes.crawler import LONG_MS, PAUSE_S, Crawler, crawl, make, opened, settings_for, until
from tests.fakes.fetching import a_reply, a_request
from tests.fakes.parsers import moody
from tests.fakes.servers import wait_until
from tests.fakes.web import Answer, Seen, Web, html, redirect, refusal, running_web, text
from workers.fetch_loop import FetchLoop
from workers.pipeline.exchange import Finished, Postponed
from workers.pipeline.parse import ParsePool, parse_reply

PAGE = html(
    "<html><head><title>Mount Ansel</title></head><body><article><p>"
    + "Mount Ansel is 2,114 metres high and was first climbed in 1903. " * 8
    + "</p></article></body></html>"
)


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as server:
        server.route("/robots.txt", text(""))
        yield server


# --- robots.txt -------------------------------------------------------------------------------------------------------


def test_robots_is_read_before_any_page_and_the_page_one_interval_later(
    redis: Redis, redis_url: str, web: Web
) -> None:
    web.route("/a", PAGE)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        [end] = await crawler.heard()
        assert (end.state, end.status, end.paid, len(end.documents)) == ("fetched", 200, True, 1)

    crawler = crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/a"]
    first, second = crawler.arrivals()
    assert second - first >= PAUSE_S
    [document] = crawler.tools.log.documents("job_1", crawler.ends()[0].documents).values()
    assert "2,114 metres" in document.text


def test_robots_is_read_once_for_many_pages(redis: Redis, redis_url: str, web: Web) -> None:
    async def play(crawler: Crawler) -> None:
        for number in range(1, 4):
            web.route(f"/{number}", PAGE)
            crawler.ask(web.url(f"/{number}"), number=number)
        await crawler.heard(3)

    crawl(web, redis_url, play)
    assert sorted(web.paths()) == ["/1", "/2", "/3", "/robots.txt"]
    assert web.paths()[0] == "/robots.txt"


def test_a_forbidden_page_is_not_requested(redis: Redis, redis_url: str, web: Web) -> None:
    web.route("/robots.txt", text("User-agent: *\nDisallow: /private"))
    web.route("/private/a", PAGE)
    web.route("/open", PAGE)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/private/a"), number=1)
        crawler.ask(web.url("/open"), number=2)
        ends = {each.fetch_id: each for each in await crawler.heard(2)}
        refused = ends["q1.one#1"]
        assert (refused.state, refused.reason, refused.paid) == ("skipped", "robots", False)
        assert "Disallow: /private" in refused.detail
        assert ends["q1.one#2"].state == "fetched"

    crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/open"]


def test_unreachable_robots_forbid_the_page(redis: Redis, redis_url: str, web: Web) -> None:
    web.route("/robots.txt", Answer(b"oops", 500))
    web.route("/a", PAGE)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        [end] = await crawler.heard()
        assert (end.state, end.reason) == ("skipped", "robots_unreachable")

    crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt"]


def test_rules_on_another_host_are_read_at_the_pace_of_that_host(
    redis: Redis, redis_url: str, web: Web
) -> None:
    web.route("/robots.txt", redirect("http://b.test/rules"), host="a.test")
    web.route("/rules", text("User-agent: *\nDisallow: /private"), host="b.test")
    for host, path in (("a.test", "/open"), ("b.test", "/1"), ("b.test", "/2"), ("b.test", "/3")):
        web.route(path, PAGE, host=host)

    async def play(crawler: Crawler) -> None:
        for number in (1, 2, 3):
            crawler.ask(f"http://b.test/{number}", number=number)
        crawler.ask("http://a.test/private/x", number=4)
        crawler.ask("http://a.test/open", number=5)
        ends = {each.fetch_id: each for each in await crawler.heard(5)}
        assert (ends["q1.one#4"].reason, ends["q1.one#5"].state) == ("robots", "fetched")

    crawl(web, redis_url, play, workers=2)
    for host in ("a.test", "b.test"):
        times = [each.at_s for each in web.log if each.host.split(":")[0] == host]
        assert all(later - earlier >= PAUSE_S for earlier, later in pairwise(times)), host
    assert web.paths().count("/rules") == 1


def test_unreachable_robots_say_until_when(redis: Redis, redis_url: str, web: Web) -> None:
    web.route("/robots.txt", refusal(503, Retry_After="900"))

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        [end] = await crawler.heard()
        assert end.until_ms is not None
        assert 850_000 < end.until_ms - end.at_ms <= 900_000  # longer than the usual 300 s

    crawl(web, redis_url, play)


# --- pace -------------------------------------------------------------------------------------------------------------


def test_the_pause_begins_when_the_answer_is_complete(
    redis: Redis, redis_url: str, web: Web
) -> None:
    answered: list[float] = []
    slowness_s = 0.15

    def slow(seen: Seen) -> Answer:
        web.stopping.wait(slowness_s)
        answered.append(seen.at_s + slowness_s)
        return PAGE

    async def play(crawler: Crawler) -> None:
        for number in range(1, 4):
            web.route(f"/{number}", slow)
            crawler.ask(web.url(f"/{number}"), number=number)
        await crawler.heard(3)

    crawler = crawl(web, redis_url, play)
    arrivals = crawler.arrivals("/robots.txt")
    assert len(arrivals) == 3
    for done, following in zip(answered, arrivals[1:], strict=False):
        assert following - done >= PAUSE_S


def test_two_workers_never_meet_at_one_host_and_hosts_do_not_wait_for_each_other(
    redis: Redis, redis_url: str, web: Web
) -> None:
    """Both are at work at once: each answers its first request when the other has got one, and not before."""
    both = threading.Barrier(2)

    def together(_seen: Seen) -> Answer:
        both.wait(20)
        return text("")

    web.route("/robots.txt", together)

    async def play(crawler: Crawler) -> None:
        for number in range(1, 4):
            for host, start in (("a.test", 0), ("b.test", 10)):
                web.route(f"/{number}", PAGE)
                crawler.ask(f"http://{host}/{number}", number=start + number)
        await crawler.heard(6)

    crawl(web, redis_url, play, workers=2)
    for host in ("a.test", "b.test"):
        times = [each.at_s for each in web.log if each.host.startswith(host)]
        assert len(times) == 4
        assert min(b - a for a, b in pairwise(times)) >= PAUSE_S


def test_a_new_store_makes_every_host_rest_first(redis: Redis, redis_url: str, web: Web) -> None:
    """The store may have forgotten requests of a moment ago; one that is known already has not."""
    started: list[float] = []

    async def play(crawler: Crawler) -> None:
        started.append(asyncio.get_running_loop().time())
        crawler.ask(web.url("/x"), kind="api")
        await crawler.heard()

    crawl(web, redis_url, play)
    assert web.log[0].at_s - started[0] >= PAUSE_S
    assert redis.get(keys.boot()) == str(redis.info("server")["run_id"]).encode()


def test_a_worker_remembers_its_last_request_when_the_store_forgot_it(
    redis: Redis, redis_url: str, web: Web
) -> None:
    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/1"), number=1, kind="api")
        await crawler.heard(1)
        for key in redis.scan_iter("ss:{f:*}:host:*"):
            redis.delete(key)
        crawler.ask(web.url("/2"), number=2, kind="api")
        await crawler.heard(2)

    crawler = crawl(web, redis_url, play)
    first, second = crawler.arrivals()
    assert second - first >= PAUSE_S


def test_retry_after_suspends_the_host_for_everyone(redis: Redis, redis_url: str, web: Web) -> None:
    go_on = threading.Event()

    def busy(seen: Seen) -> Answer:
        go_on.wait(40)
        return refusal(429, Retry_After="3600")

    web.route("/busy", busy)

    async def play(crawler: Crawler) -> None:
        now_ms = crawler.tools.clock.now_ms()
        crawler.ask(web.url("/busy"), kind="api")
        await until(lambda: web.paths() == ["/busy"], "the request")
        crawler.ask(web.url("/other"), "job_2", kind="api")  # waits in the queue already
        go_on.set()
        [end] = await crawler.heard()
        assert (end.state, end.reason, end.status) == ("missed", "source_rate_limited", 429)
        assert end.until_ms is not None
        assert 3_600_000 <= end.until_ms - now_ms < 3_660_000
        crawler.ask(web.url("/third"), "job_3", kind="api")
        [refused] = await crawler.heard(1, "job_3")
        assert (refused.state, refused.reason) == ("skipped", "suspended")
        assert refused.until_ms is not None
        assert abs(refused.until_ms - end.until_ms) < 20_000  # told by two clocks of one hour
        assert "until 20" in refused.detail
        await asyncio.sleep(2 * PAUSE_S)  # the queued one would have had its turn
        assert crawler.ends("job_2") == []

    crawl(web, redis_url, play)
    assert web.paths() == ["/busy"]


@pytest.mark.parametrize("answer", [refusal(429), refusal(503), Answer(silent=True)])
def test_a_host_that_names_no_time_is_told_with_ours(
    redis: Redis, redis_url: str, web: Web, answer: Answer
) -> None:
    web.route("/busy", answer)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/busy"), kind="api")
        [end] = await crawler.heard()
        assert end.until_ms is not None
        assert (
            0 < end.until_ms - end.at_ms <= 30_000
        )  # the first step of the back-off; the next is 60 s

    crawl(web, redis_url, play)


# --- who hears --------------------------------------------------------------------------------------------------------


def test_a_redirect_comes_back_and_its_target_goes_through_the_queue(
    redis: Redis, redis_url: str, web: Web
) -> None:
    web.route("/old", redirect("/new"))
    web.route("/new", PAGE)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/old"))
        [hop] = await crawler.heard()
        assert (hop.state, hop.status, hop.redirect_to) == ("redirected", 302, web.url("/new"))
        assert "/new" not in web.paths()
        crawler.ask(web.url("/new"), number=2)
        await crawler.heard(2)

    crawler = crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/old", "/new"]
    times = crawler.arrivals()
    assert min(b - a for a, b in pairwise(times)) >= PAUSE_S


def test_five_jobs_that_ask_the_same_are_one_request(
    redis: Redis, redis_url: str, web: Web
) -> None:
    web.route("/a", PAGE)
    jobs = [f"job_{number}" for number in range(5)]

    async def play(crawler: Crawler) -> None:
        for each in jobs:
            crawler.tools.ledger.open(job_level(each), {Dimension.FETCHES: 5}, ttl_ms=LONG_MS)
            crawler.ask(web.url("/a"), each)
            crawler.tools.steps.make(f"{each}/reduce", "reduce")
            claim = crawler.tools.steps.claim(f"{each}/reduce")
            crawler.tools.steps.rest(f"{each}/reduce", claim, wake_ms=0)
        for each in jobs:
            await crawler.heard(1, each)
        await until(lambda: len(crawler.bells) == 5, "five bells")

    crawler = crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/a"]
    assert [crawler.ends(each)[0].paid for each in jobs] == [True, False, False, False, False]
    assert len({crawler.ends(each)[0].documents for each in jobs}) == 1
    used = [crawler.tools.ledger.balance(job_level(each)) for each in jobs]
    assert [each.used.get(Dimension.FETCHES, 0) for each in used] == [1, 0, 0, 0, 0]
    assert [each.held.get(Dimension.FETCHES, 0) for each in used] == [0] * 5
    assert sorted(crawler.bells) == [f"{each}/reduce" for each in jobs]


def test_a_page_that_was_asked_for_by_another_source_is_told_as_the_own_source_s(
    redis: Redis, redis_url: str, web: Web
) -> None:
    """Joined in flight and answered from the cache: a document names the source of the plan it is delivered to."""
    at_work, go_on = threading.Event(), threading.Event()

    def slow(_seen: Seen) -> Answer:
        at_work.set()
        go_on.wait(40)
        return PAGE

    web.route("/a", slow)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        await until(at_work.is_set, "a request in flight")
        crawler.ask(web.url("/a"), "job_2", source_id="one")
        crawler.tools.log.append("job_2", Planned(at_ms=0, key="plan", plan=a_plan(), rules={}))
        go_on.set()
        await crawler.heard(1, "job_2")
        crawler.ask(web.url("/a"), "job_3", source_id="two")
        await crawler.heard(1, "job_3")

    crawler = crawl(web, redis_url, play)
    sources = {
        job: [each.source_id for each in crawler.documents(job)]
        for job in ("job_1", "job_2", "job_3")
    }
    assert sources == {"job_1": ["test"], "job_2": ["one"], "job_3": ["two"]}
    assert web.paths() == ["/robots.txt", "/a"]


def test_a_sixth_job_is_answered_from_the_cache_without_a_request(
    redis: Redis, redis_url: str, web: Web
) -> None:
    web.route("/a", PAGE)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        await crawler.heard()
        crawler.ask(web.url("/a"), "job_2")
        [end] = crawler.ends("job_2")
        assert (end.state, end.paid) == ("fetched", False)
        entries = [entry for _id, entry in crawler.tools.log.read("job_2")]
        [queued] = [each for each in entries if isinstance(each, FetchQueued)]
        assert queued.disposition == "cached"

    crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/a"]


def test_a_request_that_every_worker_lost_is_given_up(
    redis: Redis, redis_url: str, web: Web
) -> None:
    async def die(crawler: Crawler) -> None:
        async with opened(crawler) as exchanges:
            crawler.ask(web.url("/a"), kind="api")
            turn = await exchanges.frontier.turn([], 1, lease_ms=1, pause_ms=1)
            assert len(turn.claims) == 1

    async def hear(crawler: Crawler) -> None:
        [end] = await crawler.heard()
        assert (end.state, end.reason, end.paid) == ("missed", "source_timed_out", False)

    crawl(web, redis_url, die, workers=0)  # nobody else who might claim it
    crawl(web, redis_url, hear, frontier={"max_attempts": 1})
    assert web.log == []


# --- the check that counts --------------------------------------------------------------------------------------------


def test_who_lost_its_lease_does_not_send(redis: Redis, redis_url: str, web: Web) -> None:
    assert make(web, redis_url, lease_ms=1) == Postponed()
    assert web.log == []


def test_who_has_its_lease_sends(redis: Redis, redis_url: str, web: Web) -> None:
    made = make(web, redis_url, lease_ms=10_000)
    assert isinstance(made, Finished)
    assert (made.outcome.state, made.outcome.reason) == (FetchState.MISSED, "source_not_found")
    assert made.pause_ms == round(PAUSE_S * 1000) + 1
    assert web.paths() == ["/a"]


# --- idle connections -------------------------------------------------------------------------------------------------


def once_silent(answer: Answer) -> Callable[[Seen], Answer]:
    """Close the connection at the first request, answer the others."""
    left = [Answer(silent=True)]
    return lambda _seen: left.pop() if left else answer


@pytest.mark.parametrize("path", ["/a", "/robots.txt"])
def test_a_request_on_a_connection_that_was_closed_goes_again_one_pause_later_and_is_no_fault(
    redis: Redis, redis_url: str, web: Web, path: str
) -> None:
    """One in flight, a full pause in between, and nobody says the host is away: it only closed an idle connection."""
    web.route("/first", Answer(b"{}", 404), host="a.test")
    web.route("/a", PAGE, host="a.test")
    web.route("/robots.txt", text(""), host="a.test")
    web.route(path, once_silent(PAGE if path == "/a" else text("")), host="a.test")

    async def play(crawler: Crawler) -> None:
        crawler.ask("http://a.test/first", number=1, kind="api")
        await crawler.heard(1)
        crawler.ask("http://a.test/a", number=2)
        _, end = await crawler.heard(2)
        assert (end.state, end.reason, end.paid) == ("fetched", "", True)
        assert crawler.tools.redis.get(keys.trouble("a.test")) is None

    crawl(web, redis_url, play)
    asked = ["/first", "/robots.txt", "/a"]
    asked.insert(asked.index(path), path)
    assert web.paths() == asked
    times = [each.at_s for each in web.log]
    assert min(later - earlier for earlier, later in pairwise(times)) >= PAUSE_S


# --- parsing ----------------------------------------------------------------------------------------------------------


def _lives(pid: int | None) -> bool:
    """Ask the system: a process that two threads wait for has no exit code for one of them."""
    assert pid is not None
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return True


def test_a_parser_that_hangs_or_dies_is_replaced() -> None:
    async def run() -> list[FetchOutcome]:
        pool = ParsePool(1, 40.0, moody)
        outcomes = [await pool.parse(a_request("https://site.test/fine"), a_reply())]
        [hanging] = (pool._pool._processes or {}).values()
        pool._timeout_s = 0.2
        outcomes.append(await pool.parse(a_request("https://site.test/hang"), a_reply()))
        await until(lambda: not _lives(hanging.pid), "the parser that hung is gone")
        pool._timeout_s = 40.0
        outcomes.append(await pool.parse(a_request("https://site.test/die"), a_reply()))
        outcomes.append(await pool.parse(a_request("https://site.test/fine"), a_reply()))
        last = list((pool._pool._processes or {}).values())
        pool.close()
        for each in last:
            each.join(5)
        return outcomes

    fine, hung, died, again = asyncio.run(run())
    assert (fine.state, again.state) == (FetchState.FETCHED, FetchState.FETCHED)
    for each in (hung, died):
        assert (each.state, each.reason) == (FetchState.MISSED, "source_bad_reply")
        assert each.detail == "the reply could not be parsed in time"


def test_a_parser_that_wants_too_much_memory_has_failed() -> None:
    async def run() -> list[FetchOutcome]:
        pool = ParsePool(1, 60.0, moody, memory_mib=1024)
        urls = ("https://site.test/fine", "https://site.test/huge", "https://site.test/fine")
        outcomes = [await pool.parse(a_request(each), a_reply()) for each in urls]
        pool.close()
        return outcomes

    fine, huge, again = asyncio.run(run())
    assert (fine.state, again.state) == (FetchState.FETCHED, FetchState.FETCHED)
    assert (huge.state, huge.reason) == (FetchState.MISSED, "source_bad_reply")


@pytest.mark.parametrize("processes", [1, 2])
def test_a_parser_that_hangs_takes_no_other_reply_with_it(processes: int) -> None:
    """Others wait for its process, and their time must not run; or work beside it, and are killed along with it."""

    async def run() -> list[FetchOutcome]:
        pool = ParsePool(processes, 1.0, moody)
        asked = [asyncio.create_task(pool.parse(a_request("https://site.test/hang"), a_reply()))]
        await asyncio.sleep(0)
        pool._timeout_s = 40.0
        asked += [
            asyncio.create_task(pool.parse(a_request(f"https://site.test/{each}"), a_reply()))
            for each in ("slow", "fine")
        ]
        outcomes = await asyncio.gather(*asked)
        last = list((pool._pool._processes or {}).values())
        pool.close()
        for each in last:
            each.join(5)
        return outcomes

    states = [each.state for each in asyncio.run(run())]
    assert states == [FetchState.MISSED, FetchState.FETCHED, FetchState.FETCHED]


def test_a_source_that_left_the_configuration_is_no_reason_to_ask_again() -> None:
    outcome = parse_reply(a_request("https://site.test/a", "api"), a_reply(b"{}"))
    assert (outcome.state, outcome.reason) == (FetchState.SKIPPED, "not_configured")


# --- stopping ---------------------------------------------------------------------------------------------------------


def test_stopping_finishes_what_is_in_flight_and_takes_nothing_new(
    redis: Redis, redis_url: str, web: Web
) -> None:
    at_work, go_on = threading.Event(), threading.Event()

    def slow(seen: Seen) -> Answer:
        at_work.set()
        go_on.wait(40)
        return Answer(b"nothing here", 404)

    web.route("/1", slow)
    crawler = Crawler(web, settings_for(web, redis_url, queue={"stop_s": 40}))
    loop = FetchLoop(crawler.settings, lambda _task, _step_id: None)
    loop.start()
    crawler.ask(web.url("/1"), number=1, kind="api")
    crawler.ask("http://a.test/2", number=2, kind="api", life_ms=LONG_MS)
    assert at_work.wait(60)  # a parser loads its libraries first
    stopping = threading.Thread(target=loop.stop)
    stopping.start()
    # Only what is asked for after the loop has heard of its end is certain to be left.
    wait_until(lambda: loop._fetchers is not None and loop._fetchers._ending, "it is ending")
    crawler.ask("http://b.test/3", number=3, kind="api")
    go_on.set()
    stopping.join(40)
    assert not stopping.is_alive()
    assert not loop._thread.is_alive()
    ends = {each.fetch_id: each.reason for each in crawler.ends()}
    assert ends["q1.one#1"] == "source_not_found"
    assert "/3" not in web.paths()


def test_a_loop_that_never_started_to_listen_stops_too(
    redis: Redis, redis_url: str, web: Web
) -> None:
    loop = FetchLoop(settings_for(web, redis_url), lambda _task, _step_id: None)
    loop.start()
    loop.stop()
    assert not loop._thread.is_alive()
