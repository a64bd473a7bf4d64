"""The Guardian Open Platform: articles of the newspaper with their text, by the operator's key.

The text of an article is in the reply (`show-fields=bodyText`), so no page is asked for. Live blogs repeat themselves
and change; they are marked by the signal `live_blog`.
"""

import re

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    days_of,
    iso,
    left_out,
    line,
    lines,
    person,
    read_json,
    readable,
    refuse,
    size_of,
    words_of,
)

_MAX_PAGE = 50
_MOST_WORDS = 5
_PAGE = re.compile(r"https://www\.theguardian\.com/[A-Za-z0-9/_.%-]{1,400}")


class _Fields(Struct, frozen=True, rename="camel"):
    headline: str | None = None
    trail_text: str | None = None
    body_text: str | None = None
    byline: str | None = None


class _Item(Struct, frozen=True, rename="camel"):
    web_url: str
    web_title: str
    type: str | None = None
    section_name: str | None = None
    web_publication_date: str | None = None
    fields: _Fields = _Fields()


class _Response(Struct, frozen=True):
    status: str
    total: int | None = None
    results: list[object] | None = None


class _Body(Struct, frozen=True):
    response: _Response


class Guardian:
    """Articles of the Guardian and the Observer since 1999."""

    name: str = "guardian"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search, best matches first. A freshness `A..B` becomes a range of days of publication."""
        words = words_of(ask, most=_MOST_WORDS, hyphens=False)
        fields = {
            "q": " AND ".join(words) or "news",
            "page-size": str(size_of(ask, _MAX_PAGE)),
            "order-by": "relevance",
            "show-fields": "headline,trailText,bodyText,byline",
        }
        days = days_of(ask.freshness)
        if days:
            fields |= {"from-date": days[0], "to-date": days[1], "use-date": "published"}
        url = address(self._config, self._config.endpoint, fields, safe=",")
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn articles into documents of their text.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error with status 200.
        """
        del request
        response = read_json(reply, _Body).response
        if response.status != "ok":
            refuse("an error")
        found = response.results or []
        items = [each for each in readable(found, _Item) if _PAGE.fullmatch(each.web_url)]
        return Parsed(
            documents=tuple(self._document(item, reply) for item in items),
            total=response.total,
            note=left_out(len(found), len(items)),
        )

    def _document(self, item: _Item, reply: Reply) -> Document:
        published, title = iso(item.web_publication_date), line(item.web_title)
        text = lines(item.fields.body_text) or lines(item.fields.trail_text)
        byline = person(item.fields.byline) if item.fields.byline else None
        return make_document(
            url=item.web_url,
            title=title,
            text=f"{title}\n\n{text}".strip(),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=published,
                date_kind="record" if published else "none",
                authors=(byline,) if byline else (),
                container="The Guardian",
                publisher="Guardian News & Media",
                work_type="newspaper",
                source_type=self._config.source_type,
                record=False,
                signals=("live_blog",) if item.type == "liveblog" else (),
            ),
        )
