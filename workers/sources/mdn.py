"""MDN Web Docs by its search: summaries of reference pages, then the best pages themselves.

A Chinese question is searched in the Chinese and the English pages, since not every page is translated.
"""

import re
from urllib.parse import quote, urlsplit

from msgspec import Struct, field, structs
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call, page
from workers.records import (
    NO_WORDS,
    language,
    left_out,
    line,
    read_json,
    readable,
    refuse,
    refuse_error,
    words_of,
)

_MAX_QUERY_CHARS = 200  # the search form's own limit
_MAX_WORDS = 8
_MAX_PAGES = 2
_PATH = re.compile(r"/[A-Za-z]{2,3}(?:-[A-Za-z]{2,4})?/docs/[^\s?#\\]{1,400}")


class _Page(Struct):
    mdn_url: str
    title: str
    summary: str = ""
    locale: str = ""


class _Total(Struct):
    value: int | None = None


class _Metadata(Struct):
    total: _Total = field(default_factory=_Total)


class _Body(Struct):
    documents: list[object] | None = None
    metadata: _Metadata = field(default_factory=_Metadata)
    errors: object = None


class Mdn:
    """The reference of the web's languages and interfaces."""

    name: str = "mdn"
    pushes_down: frozenset[str] = frozenset({"language"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search in the pages of the question's language and in the English ones."""
        words = " ".join(words_of(ask, most=_MAX_WORDS))[:_MAX_QUERY_CHARS]
        chinese = [("locale", "zh-CN")] if _wanted(ask.language) == "zh" else []
        fields = [("q", words.strip() or NO_WORDS), *chinese, ("locale", "en-US")]
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url, accept_language=ask.language),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn hits into documents of title and summary, and the best ones into requests for their pages.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, errors sent with 200.
        """
        body = read_json(reply, _Body)
        if body.errors:
            refuse_error(reply, body.errors)
        found = body.documents if body.documents is not None else refuse("JSON of another shape")
        pages = [each for each in readable(found, _Page) if _is_whole(each)]
        pages.sort(key=lambda page: language(page.locale) != _wanted(request.accept_language))
        best = pages[:_MAX_PAGES]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in pages if each.summary.strip()),
            requests=tuple(self._page(each, request.accept_language) for each in best),
            total=body.metadata.total.value,
            note=left_out(len(found), len(pages)),
        )

    def _address(self, page: _Page) -> str:
        site = urlsplit(self._config.endpoint)
        return f"{site.scheme}://{site.netloc}{quote(page.mdn_url, safe='/%:@!$&()*+,;=~', errors='replace')}"

    def _page(self, found: _Page, accept_language: str) -> Request:
        wanted = page(self._config, self.name, self._address(found))
        return structs.replace(wanted, accept_language=accept_language)

    def _document(self, page: _Page, reply: Reply) -> Document:
        title = line(page.title)
        return make_document(
            url=self._address(page),
            title=title,
            text=f"{title}\n\n{line(page.summary)}",
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=language(page.locale),
                container="MDN Web Docs",
                publisher="Mozilla",
                work_type="webpage",
                source_type=self._config.source_type,
                signals=("summary",),
            ),
        )


def _is_whole(page: _Page) -> bool:
    return bool(_PATH.fullmatch(page.mdn_url) and line(page.title))


def _wanted(accept_language: str) -> str:
    return "zh" if language(accept_language) == "zh" else "en"
