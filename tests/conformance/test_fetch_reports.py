"""Public bug reports about fetching, each with the right value; the id of a test is the report.

Those that belong to one module are tested beside it (`grep` the report there); here are the ones about the whole way.
"""

import json
from collections.abc import Iterator
from itertools import pairwise

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.budget import Dimension
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.source import FetchOutcome, FetchState, SkipReason
from signal_search.errors import BadReply

from budget.policy import job_level
from infra.settings import load
from tests.fakes.crawler import Crawler, crawl
from tests.fakes.fetching import a_reply, a_request, an_open_record, settings_for, with_fetcher
from tests.fakes.web import Answer, Seen, Web, gzip_bomb, html, refusal, running_web, text
from workers.celery_app import make_app
from workers.fetching.fetcher import Exchange, Fetched, Fetcher
from workers.fetching.outcomes import unreadable
from workers.fetching.parsing import extract
from workers.fetching.robots import parse

WORDS = "The gauge below the weir was read at noon on every day of the week. " * 6
PAGE = html(f"<html><body><article><p>{WORDS}</p></article></body></html>")


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as server:
        server.route("/robots.txt", text(""))
        yield server


# --- robots.txt -------------------------------------------------------------------------------------------------------

NSF = """User-agent: Googlebot
Disallow: /cgi-bin/

User-agent: *
Crawl-delay: 5
Disallow: /awardsearch/
Allow: /awardsearch/about

User-agent: OtherBot
Disallow:
"""


@pytest.mark.parametrize(
    ("robots", "path", "allowed"),
    [
        pytest.param(NSF, "/awardsearch/showAward?AWD_ID=1", False, id="unclecode/crawl4ai#699"),
        pytest.param(NSF, "/awardsearch/about", True, id="unclecode/crawl4ai#1456"),
        pytest.param(
            "User-agent: *\nRequest-rate: 10\nDisallow: /x\n",
            "/x",
            False,
            id="freelawproject/juriscraper#2006",
        ),
        pytest.param(
            "User-agent: *\nRequest-rate: 10\n", "/y", True, id="freelawproject/juriscraper#2006-2"
        ),
    ],
)
def test_robots(robots: str, path: str, allowed: bool) -> None:
    assert parse(robots.encode()).check("SignalSearchBot", path).allowed == allowed


@pytest.mark.parametrize("status", [200, 403], ids=["xorbitsai/xagent#2043", "xagent#2043-403"])
def test_one_name_at_every_door(redis: Redis, redis_url: str, web: Web, status: int) -> None:
    """robots.txt and pages are asked for by the same name; a 403 for robots.txt is no permission."""
    web.route("/robots.txt", text("", status))
    web.route("/a", PAGE)

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        [end] = await crawler.heard()
        assert end.state == ("fetched" if status == 200 else "skipped")

    crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/a"][: 2 if status == 200 else 1]
    [name] = {each.headers["user-agent"] for each in web.log}
    assert name.startswith("SignalSearchBot/")
    assert "(+https://" in name


# --- pace -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "workers", [1, 2], ids=["unclecode/crawl4ai#1095", "firecrawl/firecrawl#3114"]
)
def test_a_burst_of_requests_for_one_host_is_spread_out_and_all_succeed(
    redis: Redis, redis_url: str, web: Web, workers: int
) -> None:
    """The server answers 429 to whoever comes too early; twenty are asked for at once."""
    interval_s, count = 0.1, 20

    def strict(seen: Seen) -> Answer:
        times = [each.at_s for each in web.log]
        early = len(times) > 1 and times[-1] - times[-2] < interval_s
        return refusal(429) if early else PAGE

    async def play(crawler: Crawler) -> None:
        for number in range(count):
            web.route(f"/{number}", strict)
            crawler.ask(web.url(f"/{number}"), number=number)
        assert {each.status for each in await crawler.heard(count)} == {200}

    crawl(
        web,
        redis_url,
        play,
        workers=workers,
        politeness={"loopback_interval_s": interval_s},
    )
    gaps = [b - a for a, b in pairwise(each.at_s for each in web.log)]
    assert len(gaps) == count
    assert interval_s <= min(gaps)


@pytest.mark.parametrize(
    "workers", [1, 3], ids=["unclecode/crawl4ai#927", "firecrawl/firecrawl#141"]
)
def test_no_more_is_fetched_than_was_paid_for(
    redis: Redis, redis_url: str, web: Web, workers: int
) -> None:
    """firecrawl/firecrawl#435, crawl4ai#938: twelve pages are wanted at once, five may be fetched, by however many."""

    async def play(crawler: Crawler) -> None:
        crawler.tools.ledger.open(job_level("job_1"), {Dimension.FETCHES: 5}, ttl_ms=60_000)
        for number in range(12):
            web.route(f"/{number}", PAGE)
            crawler.ask(web.url(f"/{number}"), number=number)
        ends = await crawler.heard(12)
        assert sorted(each.reason for each in ends) == [""] * 5 + ["budget"] * 7

    crawl(web, redis_url, play, workers=workers, politeness={"loopback_interval_s": 0.05})
    assert len(web.paths()) == 1 + 5


def test_retry_after_of_one_host_is_nothing_to_another(
    redis: Redis, redis_url: str, web: Web
) -> None:
    """scrapy/scrapy#3849: 429 with Retry-After rests that host for as long, other hosts go on."""
    web.route("/busy", refusal(429, Retry_After="700"))
    web.route("/a", PAGE)

    async def play(crawler: Crawler) -> None:
        crawler.ask("http://a.test/busy", kind="api")
        await crawler.heard()
        crawler.ask("http://b.test/a", "job_2")
        [end] = await crawler.heard(1, "job_2")
        assert end.state == "fetched"
        hosts = crawler.tools.frontier
        assert 640_000 < hosts.host_state("a.test").next_in_ms <= 700_000
        assert hosts.host_state("b.test").next_in_ms <= 252

    crawl(web, redis_url, play)


@pytest.mark.parametrize(
    ("status", "reason"), [(402, "pay_wall"), (403, "source_denied"), (451, "source_denied")]
)
def test_a_refusal_at_the_edge_is_recorded_and_not_tried_again(
    redis: Redis, redis_url: str, web: Web, status: int, reason: str
) -> None:
    """punkpeye/awesome-mcp-servers#12703: allowed by robots.txt, refused by the edge."""
    web.route("/a", Answer(b"no", status))

    async def play(crawler: Crawler) -> None:
        crawler.ask(web.url("/a"))
        [end] = await crawler.heard()
        assert (end.reason, end.status) == (reason, status)
        assert f"status {status}" in end.detail

    crawl(web, redis_url, play)
    assert web.paths() == ["/robots.txt", "/a"]


# --- ways round -------------------------------------------------------------------------------------------------------


def test_no_proxy_of_anybody_s_is_used(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    """CVE-2026-53755: a proxy decides where a request goes. The environment's is not asked, a caller cannot name one."""
    web.route("/a", PAGE)
    with running_web() as proxy:
        for name in ("HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"):
            monkeypatch.setenv(name, f"http://{proxy.authority}")
            monkeypatch.setenv(name.lower(), f"http://{proxy.authority}")
        record = an_open_record(f"http://{web.authority}")
        request = a_request(web.url("/a"))
        made = with_fetcher(settings_for(web), lambda fetcher: fetcher.fetch(request, record))
        assert isinstance(made, Fetched)
        assert proxy.log == []
    body = {
        "query": "x",
        "proxy": "http://169.254.169.254/",
        "proxy_config": {"server": "http://10.0.0.1"},
    }
    with pytest.raises(msgspec.ValidationError):
        msgspec.json.decode(json.dumps(body), type=RetrieveRequest)


def test_a_message_is_json_or_nothing() -> None:
    """unclecode/crawl4ai, SECURITY.md 0.8: a queue that unpickles runs whatever is put into it."""
    app = make_app(load())
    assert (app.conf.accept_content, app.conf.task_serializer) == (["json"], "json")
    assert app.conf.result_accept_content in (None, ["json"])


# --- connections ------------------------------------------------------------------------------------------------------


def test_broken_off_replies_do_not_exhaust_the_pool(web: Web) -> None:
    """karpetrosyan/hishel#82, encode/httpx#2139: each of these is given up half-read; the next one finds a connection."""
    web.route("/big", gzip_bomb(6_000_000))
    web.route("/drop", Answer(b"x" * 1000, drop_after=10))
    web.route("/a", PAGE)
    record = an_open_record(f"http://{web.authority}")

    async def play(fetcher: Fetcher) -> Exchange:
        for _ in range(20):
            for path in ("/big", "/drop"):
                assert not isinstance(
                    await fetcher.fetch(a_request(web.url(path)), record), Fetched
                )
        return await fetcher.fetch(a_request(web.url("/a")), record)

    assert isinstance(with_fetcher(settings_for(web, clients=1, concurrency=4), play), Fetched)


# --- what a reply is --------------------------------------------------------------------------------------------------


def read(markup: str) -> FetchOutcome:
    page = f"<html><head><title>T</title></head><body>{markup}</body></html>"
    return extract(a_request("https://site.test/page"), a_reply(page.encode()))


def text_of(outcome: FetchOutcome) -> str:
    [document] = outcome.parsed.documents
    return document.text


CAPTCHA = b"<html><head><title>Robot check</title></head><body><div class='g-recaptcha'></div></body></html>"


def test_a_captcha_with_status_200_in_place_of_data_is_named() -> None:
    """searxng/searxng#531, #2750: the engine has banned us; it is not a wrong format and not an empty answer."""
    request = a_request("https://api.test/q", "api")
    outcome = unreadable(request, a_reply(CAPTCHA), BadReply())
    assert (outcome.state, outcome.reason) == (FetchState.SKIPPED, SkipReason.CHALLENGE)
    page = a_reply(b"<html><body><p>Internal maintenance.</p></body></html>")
    assert unreadable(request, page, BadReply()).reason == "source_bad_reply"
    data = a_reply(b'{"error": "captcha"}', "application/json")
    assert unreadable(request, data, BadReply()).reason == "source_bad_reply"


def test_a_page_that_only_a_browser_could_fill_is_no_evidence() -> None:
    """unclecode/crawl4ai#934."""
    outcome = read('<div id="app"></div><script>render()</script>')
    assert (outcome.state, outcome.reason) == (FetchState.SKIPPED, SkipReason.EMPTY)


@pytest.mark.parametrize("declared", ["header", "meta", "wrong"])
@pytest.mark.parametrize(
    ("charset", "truth"),
    [
        ("gbk", "检索系统从许多来源收集证据，并且检查每一个论断。"),
        ("gb18030", "检索系统从许多来源收集证据，并且检查每一个论断。"),
        ("big5", "檢索系統從許多來源收集證據，並且檢查每一個論斷。"),
        ("shift_jis", "検索システムは多くの情報源から証拠を集めて確かめます。"),
    ],
)
def test_east_asian_pages_are_read_right(charset: str, truth: str, declared: str) -> None:
    """firecrawl/firecrawl#1277, by header, by meta only, and with a wrong header."""
    meta = f'<meta charset="{charset}">' if declared == "meta" else ""
    page = f"<html><head>{meta}</head><body><article><p>{truth * 6}</p></article></body></html>"
    named = {"header": f"text/html; charset={charset}", "meta": "text/html", "wrong": "utf-8"}
    kind = "text/html; charset=utf-8" if declared == "wrong" else named[declared]
    outcome = extract(a_request("https://site.test/"), a_reply(page.encode(charset), kind))
    assert text_of(outcome).startswith(truth)
    assert outcome.decisions["charset"] != "utf-8"


def test_a_small_article_says_everything_once() -> None:
    """adbar/trafilatura#879."""
    paragraphs = "".join(f"<p>Paragraph number {n} is here.</p>" for n in range(1, 4))
    found = text_of(read(f"<div><article>{paragraphs}</article></div>"))
    assert [found.count(f"Paragraph number {n} is here.") for n in range(1, 4)] == [1, 1, 1]


def test_nested_emphasis_says_everything_once_and_keeps_the_link() -> None:
    """adbar/trafilatura#146: the library loses the link; ours are read apart from the text."""
    markup = f'<article><p>{WORDS}<u><strong><a href="/minutes">Council minutes</a></strong></u> follow.</p></article>'
    outcome = read(markup)
    assert text_of(outcome).count("Council minutes") == 1
    assert [each.url for each in outcome.parsed.links] == ["https://site.test/minutes"]


def test_an_encyclopedia_page_has_its_name_as_title_not_its_tagline() -> None:
    """adbar/trafilatura#23."""
    linked = '{"@context": "https://schema.org", "@type": "Article", "name": "Weir", "headline": "barrier across a river"}'
    page = (
        f'<html><head><title>Weir - Wikipedia</title><script type="application/ld+json">{linked}'
        f"</script></head><body><h1>Weir</h1><article><p>{WORDS}</p></article></body></html>"
    )
    outcome = extract(a_request("https://en.wikipedia.org/wiki/Weir"), a_reply(page.encode()))
    [document] = outcome.parsed.documents
    assert document.title.startswith("Weir")


@pytest.mark.parametrize(
    "publisher",
    ['{"name": ["The Valley Courier", "VC"]}', '[{"name": "The Valley Courier"}]', "null"],
)
def test_a_publisher_may_have_several_names(publisher: str) -> None:
    """adbar/trafilatura#374: a list once broke the reader; the page's own og:site_name is the right value."""
    linked = f'{{"@context": "https://schema.org", "@type": "NewsArticle", "headline": "H", "publisher": {publisher}}}'
    page = (
        f'<html><head><title>H</title><meta property="og:site_name" content="The Valley Courier">'
        f'<script type="application/ld+json">{linked}</script></head><body><article><p>{WORDS}</p></article></body></html>'
    )
    outcome = extract(a_request("https://site.test/h"), a_reply(page.encode()))
    [document] = outcome.parsed.documents
    assert document.publisher == "The Valley Courier"


def test_an_author_may_be_an_object() -> None:
    """adbar/trafilatura PR#296."""
    linked = '{"@context": "https://schema.org", "@type": "NewsArticle", "headline": "H", "author": {"@type": "Person", "name": "Ada Byron"}}'
    page = (
        f'<html><head><title>H</title><script type="application/ld+json">{linked}</script></head>'
        f"<body><article><h1>H</h1><p>{WORDS}</p></article></body></html>"
    )
    outcome = extract(a_request("https://site.test/h"), a_reply(page.encode()))
    [document] = outcome.parsed.documents
    assert [each.literal for each in document.authors] == ["Ada Byron"]
