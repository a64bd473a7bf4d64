"""The HTTP client against a real server: limits of time, size and headers, and what goes over the wire."""

import asyncio
import gzip
import socket
import threading
import zlib
from collections.abc import Iterator

import pytest
from signal_search.errors import BadReply, BodyTooLarge, Dropped, TimedOut, Unreachable

from infra.bounded_body import BoundedBody
from infra.clock import FixedClock
from infra.http import Endpoint, HttpClient, RawReply
from infra.outgoing import Outgoing
from infra.settings import Settings, load
from tests.fakes.fetching import NOW_MS, a_request, settings_for, with_fetcher
from tests.fakes.web import Answer, Web, deflated, gzip_bomb, html, running_web, text
from workers.fetching.fetcher import Fetched, Fetcher
from workers.fetching.url_guard import UrlGuard


@pytest.fixture
def web() -> Iterator[Web]:
    with running_web() as server:
        yield server


def get(web: Web, path: str, settings: Settings | None = None, **options: object) -> RawReply:
    settings = settings or settings_for(web)

    async def run() -> RawReply:
        guard = UrlGuard(settings.fetch.ports, settings.loopback)
        clock = FixedClock(NOW_MS)
        async with HttpClient(settings.fetch, settings.loopback, guard.endpoints, clock) as client:
            return await client.get(web.url(path), headers={"user-agent": "T"}, **options)  # type: ignore[arg-type]

    return asyncio.run(run())


def test_reply_is_decoded_and_dated(web: Web) -> None:
    web.route("/a", html("<p>hello"))
    reply = get(web, "/a")
    assert (reply.status, reply.body, reply.fetched_at_ms) == (200, b"<p>hello", NOW_MS)
    assert reply.headers["content-type"] == "text/html; charset=utf-8"


@pytest.mark.parametrize("raw", [True, False])
def test_deflate_in_both_readings(web: Web, raw: bool) -> None:
    web.route("/d", deflated(b"same text" * 100, raw=raw))
    assert get(web, "/d").body == b"same text" * 100


def test_gzip_of_two_members_and_padding(web: Web) -> None:
    one, two = gzip_bomb(3), gzip_bomb(2)
    web.route("/g", Answer(one.body + two.body + b"\0\0pad", headers=one.headers))
    assert get(web, "/g").body == bytes(5)


def test_bomb_stops_at_the_limit(web: Web) -> None:
    bomb = gzip_bomb(67_000_000)
    assert len(bomb.body) < 200_000
    web.route("/bomb", bomb)
    with pytest.raises(BodyTooLarge):
        get(web, "/bomb")
    cut = get(web, "/bomb", max_body_bytes=1000, cut=True)
    assert (len(cut.body), cut.cut) == (1000, True)


def test_a_body_that_unpacks_to_nothing_ends_too() -> None:
    """gzip members of no bytes, one after the other: what comes out never reaches any limit."""
    empty = gzip.compress(b"")
    body = BoundedBody("gzip", 10_000)
    fed = 0
    while not body.full:
        body.feed(empty * 50)
        fed += len(empty) * 50
        assert fed < 20_000
    assert body.finish() == b""


@pytest.mark.parametrize("kind", [-15, 15, 31], ids=["raw", "zlib", "gzip"])
def test_an_encoding_is_known_also_byte_by_byte(kind: int) -> None:
    packer = zlib.compressobj(wbits=kind)
    packed = packer.compress(b"same text" * 100) + packer.flush()
    body = BoundedBody("deflate", 1000)
    for at in range(len(packed)):
        body.feed(packed[at : at + 1])
    assert body.finish() == b"same text" * 100


def test_body_of_exactly_the_limit_passes(web: Web) -> None:
    web.route("/x", Answer(b"x" * 1000))
    assert len(get(web, "/x", max_body_bytes=1000).body) == 1000
    with pytest.raises(BodyTooLarge):
        get(web, "/x", max_body_bytes=999)


@pytest.mark.parametrize(
    "answer",
    [
        Answer(b"x", headers=(("Content-Encoding", "br"),)),
        Answer(b"\x1f\x8bnot gzip at all", headers=(("Content-Encoding", "gzip"),)),
        Answer(gzip_bomb(1000).body[:-6], headers=(("Content-Encoding", "gzip"),)),
        Answer(b"x", headers=(("X-Long", "y" * 70_000),)),
        Answer(b"only half of it", drop_after=5),
        Answer(silent=True),
    ],
    ids=["brotli", "not gzip", "gzip cut", "headers", "dropped", "silent"],
)
def test_broken_replies(web: Web, answer: Answer) -> None:
    web.route("/broken", answer)
    with pytest.raises(BadReply) as caught:
        get(web, "/broken")
    assert web.authority not in caught.value.message


def test_total_deadline_ends_a_slow_drip(web: Web) -> None:
    """Each byte comes well within any read time-out; only the total deadline can end it."""
    web.route("/drip", Answer(b"x" * 400, drip_s=0.05))
    with pytest.raises(TimedOut):
        get(web, "/drip", total_timeout_s=0.3)


def test_client_is_usable_after_a_cancelled_read(web: Web) -> None:
    """encode/httpx#2139."""
    web.route("/drip", Answer(b"x" * 400, drip_s=0.05))
    web.route("/ok", text("fine"))
    settings = settings_for(web, clients=1, concurrency=1)

    async def play() -> bytes:
        guard = UrlGuard(settings.fetch.ports, settings.loopback)
        clock = FixedClock(NOW_MS)
        async with HttpClient(settings.fetch, settings.loopback, guard.endpoints, clock) as client:
            for _ in range(6):
                with pytest.raises(TimedOut):
                    await client.get(web.url("/drip"), headers={}, total_timeout_s=0.1)
            return (await client.get(web.url("/ok"), headers={})).body

    assert asyncio.run(play()) == b"fine"


def twice(web: Web, first: str, second: str, method: str = "GET") -> RawReply:
    """Ask for one page and then, on the same connection if it still stands, for another."""
    settings = settings_for(web, clients=1)

    async def run() -> RawReply:
        guard = UrlGuard(settings.fetch.ports, settings.loopback)
        clock = FixedClock(NOW_MS)
        async with HttpClient(settings.fetch, settings.loopback, guard.endpoints, clock) as client:
            await client.get(web.url(first), headers={})
            return await client.send(Outgoing(url=web.url(second), headers={}, method=method))

    return asyncio.run(run())


def test_an_idle_connection_that_is_closed_at_reuse_is_told_apart(web: Web) -> None:
    """RFC 9112, 9.3.1: only a safe request may be sent again, and only if no answer had begun."""
    web.route("/a", text("fine"))
    web.route("/gone", Answer(silent=True))
    web.route("/half", Answer(b"x" * 100, drop_after=10))
    with pytest.raises(Dropped):
        twice(web, "/a", "/gone")
    with pytest.raises(BadReply):
        twice(web, "/a", "/half")
    with pytest.raises(BadReply):
        get(web, "/gone")
    with pytest.raises((BadReply, Unreachable)) as caught:
        twice(web, "/a", "/gone", "POST")
    assert not isinstance(caught.value, Dropped)


@pytest.mark.parametrize("host", ["xn--i-7iq.ws", "xn--a.test", "xn--.test"])
def test_a_name_that_only_browsers_take_is_asked_like_any_other(web: Web, host: str) -> None:
    """Emoji and broken Punycode are no names of IDNA 2008; the web has them, and they must not break a fetcher."""
    web.route("/x", text("here"), host=host)
    settings = settings_for(web, hosts=(host,))
    request = a_request(f"http://{host}/x", "api")
    exchange = with_fetcher(settings, lambda fetcher: fetcher.fetch(request, None))
    assert isinstance(exchange, Fetched)
    assert [each.host for each in web.log] == [host]


def test_nobody_listens(web: Web) -> None:
    settings = settings_for(web)
    web.stop()
    with pytest.raises(Unreachable):
        get(web, "/", settings)


@pytest.mark.parametrize("target", ["/index.php?/a/=/o/", "/?variable", "/Dia%25?q=a|b", "/a//b"])
def test_targets_are_sent_as_written(web: Web, target: str) -> None:
    """scrapy#1941, scrapy#13, w3lib#131."""
    get(web, target)
    assert web.log[0].target == target


def test_mapped_host_is_plain_http_with_its_own_name(web: Web) -> None:
    web.route("/api", text("mapped"), host="export.arxiv.org")
    settings = settings_for(web, hosts=("export.arxiv.org",))
    request = a_request("https://export.arxiv.org/api?q=1", "api")
    exchange = with_fetcher(settings, lambda fetcher: fetcher.fetch(request, None))
    assert isinstance(exchange, Fetched)
    assert exchange.raw.body == b"mapped"
    assert (web.log[0].host, web.log[0].target) == ("export.arxiv.org", "/api?q=1")


def test_cookies_are_not_kept_and_we_say_who_we_are(web: Web) -> None:
    web.route("/c", Answer(b"c", headers=(("Set-Cookie", "id=1; Path=/"),)))
    settings = settings_for(web)
    request = a_request(web.url("/c"), "api", accept_language="de")

    async def twice(fetcher: Fetcher) -> None:
        for _ in range(2):
            await fetcher.fetch(request, None)

    with_fetcher(settings, twice)
    first, second = web.log
    assert "cookie" not in second.headers
    assert first.headers["user-agent"] == settings.fetch.user_agent
    assert first.headers["accept-language"] == "de"
    assert first.headers["accept-encoding"] == "gzip, deflate"


def test_tls_name_stays_the_hosts() -> None:
    """The connection goes to the checked address; the handshake still asks for the name (RFC 6066, 3)."""
    hello: list[bytes] = []
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]

        def listen() -> None:
            connection, _ = server.accept()
            with connection:
                hello.append(connection.recv(4096))

        thread = threading.Thread(target=listen, daemon=True)
        thread.start()
        settings = load()

        async def guard(host: str, asked: int) -> tuple[Endpoint, ...]:
            assert (host, asked) == ("pinned.example", 443)
            return (Endpoint("127.0.0.1", port),)

        async def play() -> None:
            clock = FixedClock(NOW_MS)
            async with HttpClient(settings.fetch, settings.loopback, guard, clock) as client:
                await client.get("https://pinned.example/", headers={})

        with pytest.raises(Unreachable):
            asyncio.run(play())
        thread.join(30)
    assert b"pinned.example" in hello[0]
