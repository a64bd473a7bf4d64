"""Plain web sites: documentation with robots.txt and sitemap, a newspaper with a feed, walls, a slow host, GBK."""

import html
import re
from datetime import datetime
from email.utils import format_datetime
from urllib.parse import quote

import msgspec

from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Page, Story
from infra.loopback_web.exchange import Answer, Ask

_SLOW_S = 2.0
_MAX_SLOW_S = 60.0
_DAY = "%Y-%m-%d"


def harbour(ask: Ask) -> Answer:
    """Answer for harbour.test; robots.txt forbids /private/, the sitemap lists everything else."""
    if ask.path == "/robots.txt":
        return exchange.text(
            f"User-agent: *\nDisallow: /private/\n\nSitemap: http://{ask.host}/sitemap.xml\n"
        )
    if ask.path == "/sitemap.xml":
        return exchange.text(_sitemap(ask.host), kind="application/xml; charset=utf-8")
    found = next((page for page in corpus.pages("harbour") if page.path == ask.path), None)
    return exchange.page(_page(found, "en")) if found else _not_found()


def news(ask: Ask) -> Answer:
    """Answer for news.test: a front page, `/feed.xml` (RSS 2.0), and dated articles."""
    if ask.path == "/robots.txt":
        return exchange.text("User-agent: *\nAllow: /\n")
    if ask.path == "/feed.xml":
        return exchange.text(_rss(ask.host), kind="application/rss+xml; charset=utf-8")
    if ask.path == "/":
        return exchange.page(_front_page())
    found = next((story for story in corpus.stories() if story.path == ask.path), None)
    return exchange.page(_story_page(found)) if found else _not_found()


def forum(ask: Ask) -> Answer:
    """Answer for forum.test: one open thread; the members' area redirects to a login."""
    if ask.path.startswith("/members/"):
        target = f"/login?next={quote(ask.path, safe='')}"
        return Answer(status=302, headers={"location": target, "content-type": "text/html"})
    known = {
        "/": _html(
            "Islanders' forum",
            '<a href="/thread/1">Ferry times</a> <a href="/members/2">Members</a>',
        ),
        "/login": _html("Log in", _LOGIN_FORM),
        "/thread/1": _html("Ferry times", _THREAD),
    }
    return exchange.page(known[ask.path]) if ask.path in known else _not_found()


def wall(ask: Ask) -> Answer:
    """Answer for wall.test: an article that says in JSON-LD that it is not free, and 402 at /hard."""
    if ask.path == "/hard":
        return exchange.page(_html("Subscribers only", "<p>Please subscribe.</p>"), status=402)
    if ask.path not in {"/", "/article"}:
        return _not_found()
    data = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": "What the tidal array really costs",
        "datePublished": "2026-03-03",
        "isAccessibleForFree": False,
        "hasPart": {
            "@type": "WebPageElement",
            "isAccessibleForFree": False,
            "cssSelector": ".paywall",
        },
    }
    return exchange.page(_html("What the tidal array really costs", _WALL, data))


def slow(ask: Ask) -> Answer:
    """Answer for slow.test: after two seconds, or after N at `/N` (at most sixty)."""
    if ask.path == "/robots.txt":
        return exchange.text("User-agent: *\nAllow: /\n")
    wanted = re.fullmatch(r"/(\d{1,3}(?:\.\d{1,3})?)", ask.path)
    delay_s = min(float(wanted[1]), _MAX_SLOW_S) if wanted else _SLOW_S
    answer = exchange.page(_html("A slow page", "<p>The ferry is late, and so is this page.</p>"))
    return msgspec.structs.replace(answer, delay_s=delay_s)


def gbk(ask: Ask) -> Answer:
    """Answer for gbk.test: Chinese pages in GBK; the charset stands in a meta element only, and names its subset."""
    found = next((page for page in corpus.pages("gbk") if page.path == ask.path), None)
    if found is None:
        return _not_found()
    body = _page(found, "zh").replace('charset="utf-8"', 'charset="gb2312"').encode("gb18030")
    return Answer(body=body, headers={"content-type": "text/html"})


_LOGIN_FORM = (
    '<form method="post" action="/login"><label>Name <input name="user"></label>'
    '<label>Password <input type="password" name="password"></label><button>Log in</button></form>'
)
_THREAD = (
    "<article><p>Does the ferry to Skarrow still wait for the last train?</p>"
    "<p>Yes, the ferry at 18:40 waits up to ten minutes for the train from Beacon Fell, I took it last week.</p>"
    "</article>"
)
_WALL = (
    "<p>The tidal array is praised as cheap. Our figures say otherwise.</p>"
    '<div class="paywall"><p>Subscribe to read on.</p></div>'
)


def _not_found() -> Answer:
    return exchange.page(_html("Not found", "<p>There is no such page.</p>"), status=404)


def _html(
    title: str, body: str, data: dict[str, object] | None = None, language: str = "en"
) -> str:
    script = msgspec.json.encode(data).decode() if data else ""
    json_ld = f'<script type="application/ld+json">{script}</script>' if data else ""
    name = html.escape(title)
    return (
        f'<!DOCTYPE html>\n<html lang="{language}"><head><meta charset="utf-8"><title>{name}</title>{json_ld}</head>\n'
        f"<body><main><h1>{name}</h1>\n{body}\n</main></body></html>\n"
    )


def _paragraphs(text: str) -> str:
    return "\n".join(f"<p>{html.escape(part)}</p>" for part in text.strip().split("\n\n"))


def _page(page: Page, language: str) -> str:
    site = "gbk" if language == "zh" else "harbour"
    titles = {each.path: each.title for each in corpus.pages(site)}
    links = "".join(
        f'<li><a href="{path}">{html.escape(titles[path])}</a></li>' for path in page.links
    )
    return _html(
        page.title, f"{_paragraphs(page.text)}\n<nav><ul>{links}</ul></nav>", language=language
    )


def _sitemap(host: str) -> str:
    entries = "".join(
        f"<url><loc>http://{host}{page.path}</loc><lastmod>{page.modified}</lastmod></url>\n"
        for page in corpus.pages("harbour")
        if not page.private
    )
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        f'<urlset xmlns="http://www.sitemaps.org/schemas/sitemap/0.9">\n{entries}</urlset>\n'
    )


def _front_page() -> str:
    items = "".join(
        f'<li><a href="{s.path}">{html.escape(s.title)}</a></li>' for s in corpus.stories()
    )
    return _html("The Merrin Mercury", f"<ul>{items}</ul>")


def _rss(host: str) -> str:
    items = "\n".join(_rss_item(story, host) for story in corpus.stories())
    return (
        '<?xml version="1.0" encoding="UTF-8"?>\n'
        '<rss version="2.0" xmlns:dc="http://purl.org/dc/elements/1.1/"><channel>'
        f"<title>The Merrin Mercury</title><link>http://{host}/</link><description>News of the islands</description>\n"
        f"{items}\n</channel></rss>\n"
    )


def _rss_item(story: Story, host: str) -> str:
    address = f"http://{host}{story.path}"
    published = format_datetime(datetime.fromisoformat(story.published))
    return (
        f"<item><title>{html.escape(story.title)}</title><link>{address}</link><guid>{address}</guid>"
        f"<pubDate>{published}</pubDate><dc:creator>{html.escape(story.author)}</dc:creator>"
        f"<description>{html.escape(story.summary)}</description></item>"
    )


def _story_page(story: Story) -> str:
    data: dict[str, object] = {
        "@context": "https://schema.org",
        "@type": "NewsArticle",
        "headline": story.title,
        "datePublished": story.published,
        "author": {"@type": "Person", "name": story.author},
        "publisher": {"@type": "Organization", "name": "The Merrin Mercury"},
    }
    day = datetime.fromisoformat(story.published).strftime(_DAY)
    byline = (
        f'<p>By {html.escape(story.author)}, <time datetime="{story.published}">{day}</time></p>'
    )
    return _html(story.title, f"<article>{byline}\n{_paragraphs(story.text)}</article>", data)
