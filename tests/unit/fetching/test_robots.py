"""The parts of robots.txt the public case files do not cover: merging, delays, records, reports of bugs elsewhere."""

import asyncio

import msgspec
import pytest
from redis import Redis

from infra import keys
from infra.redis import connect_async
from workers.fetching.robots import Decision, RobotsRecord, classify, parse
from workers.fetching.robots_store import RobotsStore


def allowed(body: str, url: str, agent: str = "SignalSearchBot") -> bool:
    return parse(body.encode()).check(agent, url).allowed


@pytest.mark.parametrize(
    ("body", "agent", "path", "expected"),
    [
        ("User-agent: bot\nDisallow: /", "mybot", "/", True),  # protego#65
        ("User-agent: googlebot-mobile\nDisallow: /", "google", "/", True),  # protego#65
        (
            "User-agent: *\nAllow: /*/filter/page=*/$\nDisallow: /",
            "a",
            "/1/filter/page=5/",
            True,
        ),  # protego#51
        (
            "User-agent: *\nDisallow: /en-uk/*q=*relevance*",
            "a",
            "/en-uk/s?q=x%3Arelevance",
            False,
        ),  # protego#28
        ("User-agent: *\nDisallow: /*s=", "a", "/?s=asd", False),  # protego#29
        ("User-agent: *\nDisallow: *", "a", "/anything", False),  # cpython#114310
        ("User-agent: *\nDisallow: /*.pdf", "a", "/x/y.pdf", False),  # scrapy#754
        ("User-agent: *\nDisallow: /*%2F*", "a", "/path/index.html", True),  # crawler-commons#195
        ("User-agent: *\nDisallow: /*%2F*", "a", "/topic/9%2F11/", False),  # crawler-commons#195
        ("User-agent: foo/1.2\nDisallow: /", "foo", "/", False),  # google/robotstxt#56
    ],
)
def test_bugs_reported_elsewhere(body: str, agent: str, path: str, expected: bool) -> None:
    assert allowed(body, f"https://h.test{path}", agent) == expected


def test_the_deciding_line_and_the_longest_delay_of_merged_groups() -> None:
    body = (
        b"User-agent: x\nCrawl-delay: 5\nDisallow: /a\n\nUser-agent: *\nDisallow: /\n"
        b"User-agent: X\nCrawl-delay: 2.5\nCrawl-delay: inf\nAllow: /a/b # but this\n"
    )
    robots = parse(body)
    assert robots.check("x", "/a/b/c") == Decision(
        allowed=True, line="Allow: /a/b # but this", crawl_delay_s=5.0
    )
    assert robots.check("x", "/a/c") == Decision(
        allowed=False, line="Disallow: /a", crawl_delay_s=5.0
    )
    assert robots.check("x", "/z") == Decision(allowed=True, line="", crawl_delay_s=5.0)
    assert robots.check("other", "/z") == Decision(allowed=False, line="Disallow: /")


def test_delay_and_sitemap_do_not_close_a_group() -> None:
    body = "User-agent: a\nCrawl-delay: 3\nSitemap: http://h/s.xml\nUser-agent: b\nDisallow: /x"
    assert not allowed(body, "/x", "a")
    assert not allowed(body, "/x", "b")
    assert parse(body.encode()).sitemaps == ("http://h/s.xml",)


@pytest.mark.parametrize("mark", [b"\xef\xbb\xbf", b"\xef\xbb", b"\xef"])
def test_byte_order_marks(mark: bytes) -> None:
    assert not parse(mark + b"User-agent: *\nDisallow: /").check("x", "/").allowed


@pytest.mark.parametrize("charset", ["utf-16-le", "utf-16-be"])
def test_utf16(charset: str) -> None:
    mark = "\ufeff".encode(charset)
    assert (
        not parse(mark + "User-agent: *\nDisallow: /ü".encode(charset))
        .check("x", "/%C3%BC")
        .allowed
    )


def test_separators_that_are_no_line_ends() -> None:
    assert allowed("User-agent: *\u2028Disallow: /\x0bDisallow: /\x0c", "/x")


def test_only_one_product_is_kept_and_answers_the_same() -> None:
    robots = parse(b"User-agent: a\nDisallow: /a\nUser-agent: *\nDisallow: /b\nSitemap: http://h/s")
    small = robots.only("A")
    for path in ("/a", "/b", "/c"):
        assert small.check("a", path) == robots.check("a", path)
    assert len(small.groups) == 1
    assert small.sitemaps == ("http://h/s",)


@pytest.mark.parametrize(
    ("status", "state"),
    [
        (200, "rules"),
        (206, "rules"),
        (301, "allow_all"),
        (404, "allow_all"),
        (451, "allow_all"),
        (401, "unreachable"),
        (403, "unreachable"),
        (429, "unreachable"),
        (500, "unreachable"),
        (103, "unreachable"),
    ],
)
def test_classes_of_status(status: int, state: str) -> None:
    assert classify(status) == state


def a_record(**fields: object) -> RobotsRecord:
    robots = parse(b"User-agent: *\nDisallow: /x\nCrawl-delay: 20")
    record = RobotsRecord(
        origin="https://h.test", state="rules", fetched_at_ms=10, expires_at_ms=20, robots=robots
    )
    return msgspec.structs.replace(record, **fields)


def test_a_record_ends() -> None:
    assert a_record().is_valid(19)
    assert not a_record().is_valid(20)


def test_an_unreachable_record_forbids_everything_and_says_why() -> None:
    record = a_record(state="unreachable", detail="robots.txt could not be read (status 500)")
    assert record.check("x", "/robots") == Decision(
        allowed=False, line="robots.txt could not be read (status 500)"
    )


def test_records_come_back_from_the_store(redis: Redis, redis_url: str) -> None:
    async def play() -> list[RobotsRecord | None]:
        client = connect_async(redis_url)
        store = RobotsStore(client)
        before = await store.load("https://h.test")
        await store.save(a_record())
        after = await store.load("https://h.test")
        await client.set(keys.robots("https://old.test"), b"\x93 an older form")
        old = await store.load("https://old.test")
        await client.aclose()
        return [before, after, old]

    assert asyncio.run(play()) == [None, a_record(), None]
    assert 0 < redis.ttl(keys.robots("https://h.test")) <= 86_400


def test_a_record_is_read_again_when_another_worker_has_changed_it(
    redis: Redis, redis_url: str
) -> None:
    async def play() -> list[RobotsRecord | None]:
        client = connect_async(redis_url)
        ours, another = RobotsStore(client), RobotsStore(client)
        await another.save(a_record(detail="first"))
        seen = [await ours.load("https://h.test"), await ours.load("https://h.test")]
        await another.save(a_record(detail="second"))
        seen.append(await ours.load("https://h.test"))
        await client.delete(keys.robots("https://h.test"))
        seen.append(await ours.load("https://h.test"))
        await client.aclose()
        return seen

    first, again, changed, gone = asyncio.run(play())
    assert first is again is not None
    assert (first.detail, changed and changed.detail, gone) == ("first", "second", None)
