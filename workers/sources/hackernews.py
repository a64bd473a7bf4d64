"""Hacker News by its search at Algolia: stories and comments as posts of a forum, and the pages the stories link to.

A comment or a text of the forum is evidence of what was said there; a linked page is fetched as what it is. Only the
first thousand hits can be reached, whatever the page number, which the note says.
"""

import re
from urllib.parse import urlsplit

from lxml import etree
from lxml import html as lxml_html
from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call, page
from workers.records import (
    NO_WORDS,
    days_of,
    iso,
    line,
    read_json,
    readable,
    refuse,
    refuse_error,
    seconds_of,
    size_of,
    words_of,
)

_MAX_HITS = 1000
_MAX_PAGES = 3
_MAX_WORDS = 4  # every word must be found
_MAX_QUERY_BYTES = 500  # Algolia cuts queries at 512 bytes
_MAX_TEXT_CHARS = 100_000
_DAY_S = 86_400
_OBJECT_ID = re.compile(r"[0-9]{1,12}")


class _Hit(Struct):
    object_id: str = field(name="objectID")
    title: str | None = None
    url: str | None = None
    author: str | None = None
    points: int | None = None
    num_comments: int | None = None
    story_text: str | None = None
    comment_text: str | None = None
    story_title: str | None = None
    created_at: str | None = None


class _Body(Struct):
    hits: list[object] | None = None
    total: int | None = field(name="nbHits", default=None)
    exhaustive: bool = field(name="exhaustiveNbHits", default=True)
    message: str | None = None


class HackerNews:
    """Posts of a forum of programmers, and what they point to."""

    name: str = "hackernews"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search for stories and comments. A freshness of the form `A..B` becomes a range of times."""
        fields = {
            "query": _words(ask),
            "tags": "(story,comment)",
            "hitsPerPage": str(size_of(ask, _MAX_HITS)),
            **_period(ask.freshness),
        }
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn hits into documents, and the links of the best stories into requests for pages.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        body = read_json(reply, _Body)
        if body.message:
            refuse_error(reply, body.message)
        found = body.hits if body.hits is not None else refuse("JSON of another shape")
        hits = [each for each in readable(found, _Hit) if _is_whole(each)]
        links = list(dict.fromkeys(url for each in hits if (url := _link(each))))[:_MAX_PAGES]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in hits),
            requests=tuple(page(self._config, self.name, url) for url in links),
            total=body.total,
            note=_note(body, len(found) - len(hits)),
        )

    def _document(self, hit: _Hit, reply: Reply) -> Document:
        published = iso(hit.created_at)
        return make_document(
            url=f"https://news.ycombinator.com/item?id={hit.object_id}",
            title=_title(hit),
            text=_text(hit),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=self._config.language,
                published=published,
                date_kind="record" if published else "none",
                authors=(Author(literal=hit.author),) if hit.author else (),
                container="Hacker News",
                work_type="post",
                source_type=self._config.source_type,
                record=False,
                signals=_signals(hit),
            ),
        )


def _words(ask: SourceQuery) -> str:
    words = " ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS
    return words.encode("utf-8", "replace")[:_MAX_QUERY_BYTES].decode("utf-8", "ignore").strip()


def _period(freshness: str | None) -> dict[str, str]:
    """Return the filter from the start of the first day to the end of the last, UTC."""
    days = days_of(freshness)
    if days is None:
        return {}
    start, end = map(seconds_of, days)
    return {"numericFilters": f"created_at_i>={start},created_at_i<{end + _DAY_S}"}


def _is_whole(hit: _Hit) -> bool:
    return bool(_OBJECT_ID.fullmatch(hit.object_id) and _text(hit))


def _note(body: _Body, lost: int) -> str:
    notes = [f"{lost} hits unreadable or empty"] if lost else []
    if (body.total or 0) > _MAX_HITS:
        notes.append(f"truncated: only the first {_MAX_HITS} can be reached")
    if not body.exhaustive:
        notes.append("the number of hits is an estimate")
    return "; ".join(notes)


def _title(hit: _Hit) -> str:
    return line(hit.title or hit.story_title)


def _text(hit: _Hit) -> str:
    written = _plain(hit.comment_text or hit.story_text or "")
    return "\n\n".join(part for part in (_title(hit), written) if part)


def _signals(hit: _Hit) -> tuple[str, ...]:
    kind = "comment" if hit.comment_text else "story"
    figures = {"points": hit.points, "comments": hit.num_comments}
    return (kind, *(f"{name}={value}" for name, value in figures.items() if value is not None))


def _link(hit: _Hit) -> str:
    """Return the page a story is about; a text of the forum itself has none."""
    try:
        parts = urlsplit(hit.url or "")
        usable = parts.scheme in {"http", "https"} and bool(parts.hostname)
    except ValueError:
        return ""
    return hit.url or "" if usable and not hit.comment_text else ""


def _plain(markup: str) -> str:
    """Return the text of an HTML fragment, paragraph by paragraph."""
    if not markup.strip():
        return ""
    try:
        tree = lxml_html.document_fromstring(f"<div>{markup[:_MAX_TEXT_CHARS]}</div>")
    except (etree.LxmlError, ValueError):
        return ""
    for block in tree.xpath("//p | //pre | //br"):
        block.text = f"\n{block.text or ''}"
    lines = (" ".join(line.split()) for line in str(tree.text_content()).splitlines())
    return "\n".join(line for line in lines if line)
