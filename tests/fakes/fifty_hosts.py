"""Fifty hosts as the web has them: what each does, and what a polite crawler must say of it. All texts were made for this.

Expectations come from RFC 9309, RFC 9110 and the crawl policy, not from the code: `reason` is what the trace must say
of the start page ("" for a page that was read), `forbidden` are targets that must never be asked for.
"""

import zlib
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from email.utils import formatdate
from time import time

from tests.fakes.pages import pdf
from tests.fakes.rough_web import Play, Routes, Script, head, reply

QUESTION = "How tall is the lighthouse of Port Ansel?"
FACT = "The lighthouse of Port Ansel is 61 metres tall and was built of grey stone in 1874."
_NOTHING = "Port Ansel has had a lighthouse for a long time, and its story is told on other pages."
_MORE = (
    "Its lamp can be seen from the ferry that leaves the northern quay in the evening. The keeper lived in the low house"
    " beside the tower until the light was made automatic, and the rooms have been a small museum since then. Visitors"
    " climb two hundred steps and stand on the gallery, from where the islands and the mouth of the river can be seen on"
    " clear days. In winter the path is closed because waves wash over the causeway at high tide, and the harbour office"
    " tells visitors by a red flag on the pier when they should turn back."
)
CHINESE = "安塞尔港的灯塔高六十一米，建于一八七四年，用灰色石头砌成。" * 6
_LATE_S = 30  # by which a busy machine may look later than the server answered
UNPACKED_BYTES = 200_000_000  # zeros: 200 KB on the wire


@dataclass(frozen=True)
class Host:
    """A virtual host. `least_s`: its own Crawl-delay, if longer than the interval. until_s: bounds of when it opens again.

    ends: why the source came to nothing, where it is not the reason of the start page.
    """

    name: str
    routes: Routes
    reason: str = ""
    detail: str = ""
    forbidden: tuple[str, ...] = ()
    asked: tuple[str, ...] = ()
    least_s: float = 0.0
    until_s: tuple[float, float] | None = None
    says: str = field(default=FACT)
    ends: str = ""


# What many sites really serve: the defaults of the programs they run on, with all that is noise to us.
_WORDPRESS = (
    "# START YOAST BLOCK\n# ---------------------------\nUser-agent: *\nDisallow: /wp-admin/\nAllow: /wp-admin/admin-ajax.php\n\n"
    "Sitemap: https://h.example/wp-sitemap.xml\n# ---------------------------\n# END YOAST BLOCK\n"
)
_WIKI = (
    "# Please note: There are a lot of pages on this site, and there are some misbehaved spiders out there\n# that go _way_ too"
    " fast. If you're irresponsible, your access to the site may be blocked.\n#\nUser-agent: MJ12bot\nDisallow: /\n\n"
    "User-agent: UbiCrawler\nDisallow: /\n\nUser-agent: wget\nDisallow: /\n\nUser-agent: *\nAllow: /w/load.php?\n"
    "Allow: /api/rest_v1/?doc\nDisallow: /w/\nDisallow: /api/\nDisallow: /wiki/Special:\nDisallow: /wiki/Spezial%3A\n"
    "Noindex: /wiki/Talk:\n"
)
_SHOP = (
    "# we use a shop as our ecommerce platform\r\n\r\nUser-agent: *\r\nDisallow: /a/downloads/-/*\r\nDisallow: /cart$\r\n"
    "Disallow: /*?*oseid=*\r\nDisallow: /collections/*sort_by*\r\nDisallow: /*/collections/*%2B*\r\nDisallow: /search\r\n"
    "Host: shop.example\r\nClean-param: ref /a/\r\n\r\n# Google adsbot ignores robots.txt unless specifically named!\r\n"
    "User-agent: adsbot-google\r\nDisallow: /checkouts/\r\n\r\nUser-agent: AhrefsBot\r\nCrawl-delay: 10\r\n"
)


def page(*links: str, better: tuple[str, ...] = (), says: str = FACT, extra: str = "") -> bytes:
    """Return an article whose links promise more about the question, those in `better` most."""
    texts = dict.fromkeys(better, QUESTION) | dict.fromkeys(links, "The lighthouse of Port Ansel")
    anchors = "".join(f'<p><a href="{to}">{text}</a></p>' for to, text in texts.items())
    # Back to the start in other words: the same page, and not to be asked for again.
    for back in ("/", "/#top", "/?utm_source=feed"):
        anchors += f'<p><a href="{back}">The lighthouse of Port Ansel</a></p>'
    title = "The lighthouse of Port Ansel"
    return (
        f"<!DOCTYPE html><html><head><title>{title}</title>{extra}</head><body><article><h1>{title}</h1>"
        f"<p>{says}</p><p>{_MORE}</p></article><nav>{anchors}</nav></body></html>"
    ).encode()


def _robots(body: str | bytes) -> Play:
    return reply(body if isinstance(body, bytes) else body.encode(), "text/plain")


def _go(to: str, status: int = 302) -> Play:
    return reply(b"", "text/html", status, Location=to)


def _ruled(
    robots: Script, *, may: tuple[str, ...] = (), never: tuple[str, ...] = ()
) -> tuple[dict[str, Script], tuple[str, ...]]:
    """Return the routes of a host that answers on its last allowed page only; what it forbids promises more."""
    start = reply(page(*may, better=never, says=_NOTHING))
    routes: dict[str, Script] = {"/robots.txt": robots, "/": start}
    routes |= {path: reply(page(says=_NOTHING)) for path in may[:-1]}
    routes |= {path: reply(page()) for path in (*never, *may[-1:])}
    return routes, never


_OPEN = reply(page())
_NAMED = "User-agent: SignalSearchBot\n"
_STAR = "User-agent: *\n"
_STALL = Play(end="stall")
_RESET = Play(end="reset")
_LONG_ROBOTS = (
    _STAR + "".join(f"Disallow: /no/{n:06}/\n" for n in range(30_000)) + "Disallow: /late/\n"
)


def _obeyed() -> Iterator[tuple[str, Routes, tuple[str, ...], tuple[str, ...]]]:
    """Yield name, routes, what is forbidden and what must be asked for of hosts whose robots.txt can be read."""
    cases: list[tuple[str, Script, tuple[str, ...], tuple[str, ...]]] = [
        ("absent", reply(b"no", status=404), ("/a",), ()),
        (
            "wordpress",
            _robots(_WORDPRESS),
            ("/wp-admin/admin-ajax.php", "/wp-adminx"),
            ("/wp-admin/a", "/wp-admin/admin"),
        ),
        (
            "own-group",
            _robots(_STAR + "Disallow: /\n\n" + _NAMED + "Disallow: /secret\n"),
            ("/a",),
            ("/secret", "/secrets"),
        ),
        (
            "merged-groups",
            _robots(
                "User-agent: signalsearchbot/2.0\nDisallow: /one\n\n"
                + _STAR
                + "Allow: /\n\n"
                + _NAMED
                + "Disallow: /two\n"
            ),
            ("/a",),
            ("/one", "/two"),
        ),
        (
            "other-bot",
            _robots("User-agent: SignalSearchBotX\nDisallow: /\n\n" + _STAR + "Disallow: /b\n"),
            ("/a",),
            ("/b",),
        ),
        (
            "shop",
            _robots(_SHOP),
            ("/cart/1", "/checkouts/1"),
            ("/cart", "/x?a=1&oseid=2", "/collections/all?sort_by=price"),
        ),
        (
            "wiki",
            _robots(_WIKI),
            ("/w/load.php?x",),
            ("/w/index.php?x", "/wiki/Special:Random", "/wiki/Spezial%3ASuche"),
        ),
        ("percent", _robots(_STAR + "Disallow: /%7Ejoe/\n"), ("/%2Fjoe/",), ("/~joe/x",)),
        (
            "mark",
            _robots(b"\xef\xbb\xbf" + (_STAR + "Disallow: /private\n").encode()),
            ("/a",),
            ("/private",),
        ),
        (
            "carriage-returns",
            _robots("User-agent: *\rDisallow: /private\r"),
            ("/a",),
            ("/private",),
        ),
        (
            "typo",
            _robots("user-agent : *\ndissallow: /private\nsitemap: x\n"),
            ("/a",),
            ("/private",),
        ),
        ("page-for-robots", reply(page()), ("/a",), ()),
        ("long", _robots(_LONG_ROBOTS), ("/a",), ("/late/a",)),
    ]
    for name, robots, may, never in cases:
        routes, forbidden = _ruled(robots, may=may, never=never)
        yield name, routes, forbidden, may


def robots_obeyed() -> Iterator[Host]:
    """Yield hosts that are read within their rules."""
    for name, routes, forbidden, asked in _obeyed():
        yield Host(name, routes, forbidden=forbidden, asked=asked)
    routes, forbidden = _ruled(
        _robots(_STAR + "Crawl-delay: 0.9\nDisallow: /x\n"), may=("/a", "/b"), never=("/x",)
    )
    yield Host("short-delay", routes, forbidden=forbidden, asked=("/a", "/b"), least_s=0.9)
    routes, forbidden = _ruled(_go("http://h02.test/rules"), may=("/a",), never=("/there/1",))
    yield Host("rules-elsewhere", routes, forbidden=forbidden, asked=("/a",))
    routes, forbidden = _ruled(_go("/robots.txt?2"), may=("/a",), never=())
    yield Host(
        "robots-in-a-circle", {**routes, "/robots.txt?2": _go("/robots.txt?2")}, asked=("/a",)
    )


def robots_closed() -> Iterator[Host]:
    """Yield hosts whose robots.txt forbids, cannot be read or asks for too long a pause: no page may be asked for."""
    for name, robots in (
        ("robots-500", reply(page(), status=500)),
        ("robots-503", reply(b"", status=503, Retry_After="900")),
        ("robots-429", reply(b"", status=429)),
        ("robots-403", reply(b"", status=403)),
        ("robots-stall", _STALL),
        ("robots-reset", _RESET),
        ("robots-private", _go("http://169.254.169.254/robots.txt")),
    ):
        least_s = 899.0 if name == "robots-503" else 299.0
        until_s = (least_s, least_s + _LATE_S)
        yield Host(
            name,
            {"/robots.txt": robots, "/": _OPEN},
            reason="robots_unreachable",
            detail="robots.txt could not be read",
            forbidden=("/",),
            until_s=until_s,
        )
    yield Host(
        "long-delay",
        {"/robots.txt": _robots(_STAR + "Crawl-delay: 3600\n"), "/": _OPEN},
        reason="crawl_delay_too_long",
        detail="3600",
        forbidden=("/",),
    )
    yield Host(
        "all-forbidden",
        {"/robots.txt": _robots(_STAR + "Disallow: /\n"), "/": _OPEN},
        reason="robots",
        detail="Disallow: /",
        forbidden=("/",),
    )


def _dated(seconds: float) -> Callable[[], Play]:
    return lambda: reply(b"", status=429, Retry_After=formatdate(time() + seconds, usegmt=True))


def pacing(own: tuple[float, float]) -> Iterator[Host]:
    """Yield hosts that ask to be left alone; who names no time opens again within `own`."""
    limited, fault = "source_rate_limited", "source_server_fault"
    yield Host(
        "429-seconds",
        {"/": reply(b"", status=429, Retry_After="70")},
        limited,
        "429",
        until_s=(69, 69 + _LATE_S),
    )
    yield Host("429-date", {"/": _dated(90)}, limited, "429", until_s=(88, 88 + _LATE_S))
    yield Host("429-bare", {"/": reply(b"", status=429)}, limited, "429", until_s=own)
    yield Host(
        "503-seconds",
        {"/": reply(b"", status=503, Retry_After="70")},
        fault,
        "503",
        until_s=(69, 69 + _LATE_S),
    )
    yield Host("503-bare", {"/": reply(b"busy", status=503)}, fault, "503", until_s=own)


def redirects() -> Iterator[Host]:
    """Yield hosts that lead to places where nobody may go; `forbidden` names what would show that we went."""
    for name, to, reason in (
        ("to-metadata", "http://169.254.169.254/latest/meta-data/", "address"),
        ("to-private", "http://10.0.0.1/", "address"),
        ("to-file", "file:///etc/passwd", "address"),
        ("to-itself-by-number", "http://127.0.0.1:22/", "address"),
        ("to-login", "/login?next=%2F", "login_wall"),
    ):
        yield Host(
            name, {"/": _go(to), "/login": _OPEN}, reason, forbidden=("/login?next=%2F", "/login")
        )
    rules = _robots(_STAR + "Disallow: /private/\n")
    inside: Routes = {"/robots.txt": rules, "/": _go("/private/a"), "/private/a": _OPEN}
    yield Host("to-forbidden", inside, "redirected", forbidden=("/private/a",), ends="robots")
    circle: Routes = {"/": _go("/1"), "/1": _go("/2"), "/2": _go("/1")}
    yield Host("in-a-circle", circle, "redirected", ends="source_bad_reply")
    yield Host("moved", {"/": _go("/home", 301), "/home": _OPEN}, "redirected", asked=("/home",))


def _bomb() -> bytes:
    packer = zlib.compressobj(9, wbits=31)
    zeros = bytes(1_000_000)
    parts = [packer.compress(zeros) for _ in range(UNPACKED_BYTES // len(zeros))]
    return b"".join((*parts, packer.flush()))


def bodies() -> Iterator[Host]:
    """Yield hosts with bodies that try a reader's patience, memory and charset tables."""
    bomb = _bomb()
    text = page()
    gbk = page(says=CHINESE, extra='<meta charset="gb2312">').decode().encode("gb18030")
    cut = head(200, (("Content-Type", "text/html"),), len(text) * 2) + text
    drip = tuple(bytes([each]) for each in text)
    bad = "source_bad_reply"
    yield Host(
        "drip", {"/": Play((head(200, (), len(text)), *drip), pause_s=0.05)}, "source_timed_out"
    )
    yield Host("bomb", {"/": reply(bomb, Content_Encoding="gzip")}, "source_body_too_large")
    yield Host("gbk", {"/": reply(gbk, "text/html")}, says=CHINESE[:28])
    yield Host(
        "wrong-charset",
        {"/": reply(page(says=FACT + " Straße, naïve, 灯塔."), "text/html; charset=iso-8859-1")},
        says="Straße, naïve, 灯塔.",
    )
    yield Host(
        "huge-headers",
        {"/": reply(text, **{f"X_{n}": "y" * 4000 for n in range(20)})},
        bad,
        "headers",
    )
    yield Host("truncated", {"/": Play((cut,))}, bad)
    yield Host("reset", {"/": _RESET}, "source_unreachable")
    document = pdf(FACT)
    yield Host("pdf-as-html", {"/": reply(document, "text/html")}, says="61 metres tall")
    yield Host("html-as-pdf", {"/": reply(text, "application/pdf")})
    yield Host("broken-pdf", {"/": reply(document[:60], "application/pdf")}, bad, "PDF")


def walls(own: tuple[float, float]) -> Iterator[Host]:
    """Yield hosts that stand before their content: skipped with the reason, never tricked."""
    paid = '<script type="application/ld+json">{"@type":"NewsArticle","isAccessibleForFree":false}</script>'
    captcha = (
        b"<html><head><title>Just a moment...</title></head><body>"
        b'<div class="g-recaptcha"></div><p>Verify you are human.</p></body></html>'
    )
    yield Host("pay-wall", {"/": reply(page(extra=paid))}, "pay_wall", "isAccessibleForFree")
    yield Host("captcha-200", {"/": reply(captcha)}, "challenge", "challenge", until_s=own)


def fifty_hosts(backoff_s: float) -> list[Host]:
    """Return them all; h01.test, h02.test and so on, in this order. backoff_s: the first step of our back-off."""
    own = (backoff_s - 1, backoff_s + _LATE_S)
    closed = [*robots_closed(), *pacing(own), *redirects()]
    return [*robots_obeyed(), *closed, *bodies(), *walls(own)]


def address(number: int) -> str:
    """Return the name of a host by its place from 1."""
    return f"h{number:02}.test"


def routed(hosts: list[Host]) -> dict[str, Routes]:
    """Return what the server needs; h02 also keeps the rules that another host's robots.txt points to."""
    made = {address(at): dict(each.routes) for at, each in enumerate(hosts, 1)}
    made["h02.test"]["/rules"] = _robots(_STAR + "Disallow: /there/\n")
    return made
