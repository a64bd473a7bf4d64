"""shelf.test: one small archive behind every generic door, so that a source can be tried by its row alone.

`/api/search` is a JSON API (strict: unknown parameters are 400, a limit out of range is 422), `/private/search` is the
same for whoever sends the bearer token or `?token=`. `/opensearch.xml` describes `/atom`. `/search` is a page for
people, whose results stand among other links and which asks not to be indexed; `/lending/` is forbidden by robots.txt.
The archive holds the stories of news.test.
"""

import html
import re
from urllib.parse import quote

from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Story
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.search import Index

TOKEN = "shelf-key-for-trying"  # noqa: S105 - of an archive that does not exist
_FIELDS = frozenset({"q", "limit", "from", "to"})
_MAX_RESULTS = 10
_MIN_SHARE = 0.5
_ATOM = "application/atom+xml; charset=utf-8"
_DAY = re.compile(r"\d{4}-\d{2}-\d{2}")


class Shelf:
    """The archive."""

    def __init__(self) -> None:
        """Serve the newspaper's stories."""
        self._stories = corpus.stories()
        self._index = Index([(each.title, each.text) for each in self._stories])
        self._routes = {
            "/robots.txt": lambda _: exchange.text("User-agent: *\nDisallow: /lending/\n"),
            "/api/search": self._json,
            "/private/search": self._private,
            "/opensearch.xml": lambda _: _description(),
            "/atom": self._atom,
            "/search": self._page,
        }

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        route = self._routes.get(ask.path)
        if route is not None:
            return route(ask)
        found = next((each for each in self._stories if each.path == ask.path), None)
        return exchange.page(_story(found)) if found else exchange.text("No such page.", status=404)

    def _private(self, ask: Ask) -> Answer:
        sent = ask.headers.get("authorization", "") or f"Bearer {ask.fields.get('token', '')}"
        if sent != f"Bearer {TOKEN}":
            return exchange.json({"error": "a key is needed"}, status=401)
        return self._json(ask)

    def _json(self, ask: Ask) -> Answer:
        fields = {name: value for name, value in ask.fields.items() if name != "token"}
        fault = _fault(fields)
        if fault:
            return exchange.json({"error": fault[1]}, status=fault[0], complaint=fault[1])
        found = [each for each in self._ranked(fields["q"]) if _is_between(each, fields)]
        shown = found[: int(fields.get("limit", _MAX_RESULTS))]
        results = [_record(each) for each in shown]
        return exchange.json({"found": len(found), "answer": {"results": results}})

    def _atom(self, ask: Ask) -> Answer:
        found = self._ranked(ask.fields.get("q", ""))[:_MAX_RESULTS]
        entries = "".join(_entry(each, ask.host) for each in found)
        return exchange.text(
            '<feed xmlns="http://www.w3.org/2005/Atom"'
            ' xmlns:opensearch="http://a9.com/-/spec/opensearch/1.1/"><title>Results</title>'
            f"<opensearch:totalResults>{len(found)}</opensearch:totalResults>{entries}</feed>",
            kind=_ATOM,
        )

    def _page(self, ask: Ask) -> Answer:
        words = ask.fields.get("q", "")
        results = "".join(
            f'<li><a href="{each.path}">{html.escape(each.title)}</a></li>'
            for each in self._ranked(words)[:_MAX_RESULTS]
        )
        return exchange.page(
            '<html><head><title>Search</title><meta name="robots" content="noindex"></head><body>'
            '<nav><a href="/search">Search</a> <a href="/lending/rules">Lending</a>'
            ' <a href="http://elsewhere.test/story">A friend</a></nav>'
            f"<h1>Results for {html.escape(words)}</h1><ol>{results}</ol>"
            f'<a href="/search?q={quote(words)}&amp;page=2">Further results</a></body></html>'
        )

    def _ranked(self, words: str) -> list[Story]:
        return [self._stories[number] for number in self._index.rank(words, share=_MIN_SHARE)]


def _fault(fields: dict[str, str]) -> tuple[int, str] | None:
    limit = fields.get("limit", "1")
    if set(fields) - _FIELDS:
        return 400, "unknown parameter"
    if not fields.get("q"):
        return 400, "q is missing"
    if not limit.isdecimal() or not 1 <= int(limit) <= _MAX_RESULTS:
        return 422, "limit is out of range"
    if not all(_DAY.fullmatch(fields.get(name, "2000-01-01")) for name in ("from", "to")):
        return 422, "not a day"
    return None


def _is_between(story: Story, fields: dict[str, str]) -> bool:
    day = story.published[:10]
    return fields.get("from", day) <= day <= fields.get("to", day)


def _record(story: Story) -> dict[str, object]:
    return {
        "link": story.path,
        "heading": story.title,
        "teaser": f"<p>{html.escape(story.summary)}</p>",
        "date": story.published,
        "people": [{"name": story.author}],
    }


def _entry(story: Story, host: str) -> str:
    return (
        f"<entry><title>{html.escape(story.title)}</title>"
        f'<link href="http://{host}{story.path}"/><published>{story.published}</published>'
        f"<summary>{html.escape(story.summary)}</summary></entry>"
    )


def _description() -> Answer:
    return exchange.text(
        '<OpenSearchDescription xmlns="http://a9.com/-/spec/opensearch/1.1/">'
        "<ShortName>Shelf</ShortName>"
        '<Url type="text/html" template="/search?q={searchTerms}"/>'
        '<Url type="application/atom+xml" template="/atom?q={searchTerms}&amp;n={count?}"/>'
        "</OpenSearchDescription>",
        kind="application/opensearchdescription+xml; charset=utf-8",
    )


def _story(story: Story) -> str:
    body = "".join(f"<p>{html.escape(part)}</p>" for part in story.text.strip().split("\n\n"))
    return (
        f"<html><head><title>{html.escape(story.title)}</title></head>"
        f"<body><article><h1>{html.escape(story.title)}</h1>{body}</article></body></html>"
    )
