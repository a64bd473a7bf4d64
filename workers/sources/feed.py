"""Any RSS 2.0, RSS 1.0 or Atom feed by its address: items become documents, their pages become follow-ups.

The question is not part of the request, so one call serves all sub-questions. A summary is evidence of its own; the
page behind it is fetched for the whole text.
"""

from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import call, page
from workers.entries import Entry, read_entries

_MAX_ITEMS = 50
_MAX_PAGES = 10


class Feed:
    """A list of dated items that a site publishes."""

    name: str = "feed"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = True

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint is the feed's address."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the request for the feed itself."""
        return (call(self._config, self.name, self._config.endpoint, kind="feed"),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn items into documents, and the first of their links into page requests.

        Raises:
            BadReply: HTML, JSON or text, truncated XML, XML that is no feed.
        """
        items = read_entries(reply, reply.url or request.url).entries
        documents = tuple(
            document
            for item in items[:_MAX_ITEMS]
            if (document := self._document(item, reply)) is not None
        )
        links = dict.fromkeys(item.link for item in items if item.link)
        depth = request.depth + 1
        pages = [page(self._config, self.name, link, depth=depth) for link in links]
        cut = max(0, len(items) - _MAX_ITEMS)
        return Parsed(
            documents=documents,
            requests=tuple(pages[:_MAX_PAGES]),
            total=len(items),
            note=f"{cut} further items left out" if cut else "",
        )

    def _document(self, item: Entry, reply: Reply) -> Document | None:
        if not item.link or not (item.title or item.summary):
            return None
        return make_document(
            url=item.link,
            title=item.title,
            text="\n\n".join(part for part in (item.title, item.summary) if part),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=self._facts(item),
        )

    def _facts(self, item: Entry) -> DocumentFacts:
        return DocumentFacts(
            language=self._config.language,
            published=item.published,
            date_kind="record" if item.published else "none",
            authors=item.authors,
            source_type=self._config.source_type,
            signals=("summary",),
        )
