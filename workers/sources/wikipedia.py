"""Wikipedia by the MediaWiki Action API: search, then the plain text of the pages found.

One search, then at most two follow-ups: the whole text of the best page (TextExtracts returns one whole article per
request) and the introductions of the others (up to 20 per request). The `timestamp` of a page is its last edit; it is
never taken for a date of publication, so documents have none and carry `last_edit=DAY` as a signal.
"""

import re
from typing import NoReturn
from urllib.parse import parse_qs, quote, urlsplit

import msgspec
from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import iso

_EDITIONS = ("en", "zh")
_MAX_PAGES = 20  # TextExtracts: no more than 20 introductions per request
_MAX_QUERY_CHARS = 300  # CirrusSearch refuses longer queries
# maxlag: API:Etiquette, "The maxlag parameter"
_COMMON = {"format": "json", "formatversion": "2", "maxlag": "5"}
# Characters that are operators to CirrusSearch: a question must not become a regular expression search.
_OPERATORS = re.compile(r'[:!~*?\\/()\[\]{}^|<>"“”#+\-]+')
_HEADING = re.compile(r"^(={2,6})[ \t]{0,2}([^\n]{1,200}?)[ \t]{0,2}\1[ \t]{0,9}$", re.MULTILINE)
_APPENDICES = frozenset(
    {"see also", "references", "external links", "further reading", "notes", "bibliography"}
    | {"参见", "參見", "参考文献", "參考文獻", "外部链接", "外部連結", "注释", "註釋"}
    | {"参考资料", "參考資料", "延伸阅读", "延伸閱讀", "相关条目", "相關條目"}
)
# The codes worth naming; the text of an error is the source's and is not repeated.
_KNOWN_ERRORS = frozenset({"ratelimited", "maxlag", "readonly", "badvalue", "nosrsearch"})


class _Error(Struct):
    code: str = ""


class _Hit(Struct):
    pageid: int


class _SearchInfo(Struct, frozen=True):
    totalhits: int | None = None


class _Revision(Struct):
    revid: int = 0
    timestamp: str = ""


class _Page(Struct):
    title: str
    pageid: int = 0
    extract: str = ""
    missing: bool = False
    revisions: list[_Revision] = []
    pageprops: dict[str, object] = {}


class _Query(Struct):
    searchinfo: _SearchInfo = _SearchInfo()
    search: list[_Hit] | None = None
    pages: list[_Page] | None = None


class _Body(Struct):
    error: _Error | None = None
    query: _Query | None = None


class Wikipedia:
    """The encyclopedia in the question's language (en or zh; English for any other)."""

    name: str = "wikipedia"
    pushes_down: frozenset[str] = frozenset({"language"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint has `{language}` where the edition goes."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search request of the edition that fits the question's language."""
        endpoint = self._config.endpoint.replace("{language}", _edition(ask.language))
        fields = {
            "action": "query",
            "list": "search",
            "srsearch": _search_words(ask),
            "srlimit": str(min(max(ask.limit, 1), _MAX_PAGES)),
            "srprop": "timestamp",
        }
        return (self._request(endpoint, fields, ask.language),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn search hits into follow-up requests, and pages into documents.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an API error sent with 200.
        """
        query = _read(reply)
        if query.search is not None:
            return self._follow_up(request, query.search, query.searchinfo.totalhits)
        if query.pages is None:
            _bad("JSON of another shape")
        return self._documents(request, reply, query.pages)

    def _follow_up(self, request: Request, hits: list[_Hit], total: int | None) -> Parsed:
        ids = [str(hit.pageid) for hit in hits][:_MAX_PAGES]
        wanted = [self._extract(request, ids[:1], intro=False)] if ids else []
        if len(ids) > 1:
            wanted.append(self._extract(request, ids[1:], intro=True))
        return Parsed(requests=tuple(wanted), total=total)

    def _extract(self, request: Request, ids: list[str], *, intro: bool) -> Request:
        fields = {
            "action": "query",
            "prop": "extracts|revisions|pageprops",
            "pageids": "|".join(ids),
            "explaintext": "1",
            "exlimit": str(len(ids)),
            **({"exintro": "1"} if intro else {}),
            "rvprop": "ids|timestamp",
            "ppprop": "disambiguation",
        }
        endpoint = request.url.partition("?")[0]
        return self._request(endpoint, fields, request.accept_language, depth=1)

    def _documents(self, request: Request, reply: Reply, pages: list[_Page]) -> Parsed:
        order = _requested_ids(request.url)
        pages = sorted(pages, key=lambda page: order.get(str(page.pageid), len(order)))
        usable = [page for page in pages if _is_article(page)]
        left_out = len(pages) - len(usable)
        return Parsed(
            documents=tuple(self._document(request, reply, page) for page in usable),
            note=f"{left_out} pages missing, empty or disambiguations" if left_out else "",
        )

    def _document(self, request: Request, reply: Reply, page: _Page) -> Document:
        revision = page.revisions[0] if page.revisions else _Revision()
        host = urlsplit(request.url)
        edited = iso(revision.timestamp)
        return make_document(
            url=_permalink(f"{host.scheme}://{host.netloc}", page.title, revision.revid),
            title=page.title,
            text=_plain_text(page.extract),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=(host.hostname or "").partition(".")[0],
                container="Wikipedia",
                publisher="Wikimedia Foundation",
                work_type="entry-encyclopedia",
                source_type=self._config.source_type,
                record=False,
                signals=(f"last_edit={edited}",) if edited else (),
            ),
        )

    def _request(
        self, endpoint: str, fields: dict[str, str], accept_language: str, *, depth: int = 0
    ) -> Request:
        url = address(self._config, endpoint, fields | _COMMON)
        return call(self._config, self.name, url, accept_language=accept_language, depth=depth)


def _edition(language: str) -> str:
    primary = language.partition("-")[0].lower()
    return primary if primary in _EDITIONS else _EDITIONS[0]


def _search_words(ask: SourceQuery) -> str:
    """CirrusSearch wants every word, so the search terms are better than the whole sentence."""
    words = " ".join(_OPERATORS.sub(" ", " ".join(ask.terms) or ask.text).split())
    return words[:_MAX_QUERY_CHARS].strip() or "?"


def _read(reply: Reply) -> _Query:
    if reply.body.lstrip()[:1] == b"<":
        _bad("a page of HTML")
    try:
        body = msgspec.json.decode(reply.body, type=_Body)
    except msgspec.ValidationError as error:
        raise BadReply("The source sent JSON of another shape instead of pages.") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply("The source sent truncated or broken JSON.") from error
    if body.error is not None:
        _refuse(body.error, reply)
    return body.query or _bad("JSON of another shape")


def _refuse(error: _Error, reply: Reply) -> NoReturn:
    kind = error.code if error.code in _KNOWN_ERRORS else "another code"
    wait = reply.headers.get("retry-after", "")
    raise BadReply(
        f"The source sent an error with status {reply.status} ({kind}).",
        retry_after_s=float(wait) if re.fullmatch(r"[0-9]{1,6}", wait) else None,
    )


def _bad(kind: str) -> NoReturn:
    raise BadReply(f"The source sent {kind} instead of pages.")


def _requested_ids(url: str) -> dict[str, int]:
    ids = parse_qs(urlsplit(url).query).get("pageids", [""])[0]
    return {page_id: rank for rank, page_id in enumerate(ids.split("|"))}


def _is_article(page: _Page) -> bool:
    return bool(
        not page.missing and "disambiguation" not in page.pageprops and _plain_text(page.extract)
    )


def _permalink(origin: str, title: str, revision: int) -> str:
    address = f"{origin}/wiki/{quote(title.replace(' ', '_'), safe='', errors='replace')}"
    return f"{address}?oldid={revision}" if revision else address


def _plain_text(extract: str) -> str:
    """Drop the sections that only point elsewhere; keep the other headings as lines of their own."""
    lead, *parts = _HEADING.split(extract)
    kept = [lead]
    for heading, body in zip(parts[1::3], parts[2::3], strict=True):
        if heading.lower() not in _APPENDICES:
            kept += [heading, body]
    return "\n\n".join(part.strip() for part in kept if part.strip())
