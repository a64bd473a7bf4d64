"""GDELT DOC 2.0: news articles of the world by words in any of 65 languages' translations; the pages bring the text.

GDELT knows when it saw an article, not when it was published: the day is the signal `seen=DAY` and never a date. It
answers in plain text with status 200 when it refuses a query or is asked too fast, and its JSON may hold broken
escapes.
"""

import re
from typing import NoReturn
from urllib.parse import urlsplit

from msgspec import Struct, structs
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call, page
from workers.records import days_of, iso, left_out, line, read_json, readable, size_of, words_of

_MAX_RECORDS = 250
_MOST_WORDS = 5
_MOST_QUERY_CHARS = 200  # it refuses longer ones somewhere above 213
_SHORTEST_WORD = 3
_MOST_PAGES = 5
_OLDEST = "2017-01-01"  # an earlier start is refused, whatever the end
_PAUSE_S = 5.0  # its own words: "limit requests to one every 5 seconds"
_LANGUAGES = {"en": "eng", "zh": "zho", "de": "deu", "fr": "fra", "es": "spa", "ja": "jpn"}
_CODES = {
    "English": "en",
    "Chinese": "zh",
    "German": "de",
    "French": "fr",
    "Spanish": "es",
    "Japanese": "ja",
    "Russian": "ru",
    "Arabic": "ar",
    "Portuguese": "pt",
    "Italian": "it",
}
_SEEN = re.compile(r"([0-9]{4})([0-9]{2})([0-9]{2})T[0-9]{6}Z")
_BROKEN_ESCAPE = re.compile(rb'\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4})')
_CONTROL = re.compile(rb"[\x00-\x1f]")
_TOO_FAST = re.compile(r"(?i)limit requests|too many requests")


class _Article(Struct, frozen=True):
    url: str
    title: str
    seendate: str | None = None
    domain: str | None = None
    language: str | None = None
    sourcecountry: str | None = None


class _Body(Struct, frozen=True):
    articles: list[object] | None = None


class Gdelt:
    """Articles of the world's news media."""

    name: str = "gdelt"
    pushes_down: frozenset[str] = frozenset({"freshness", "language"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search for articles with all of the first words, in the question's language if GDELT has it."""
        fields = {
            "query": _query(ask),
            "mode": "artlist",
            "format": "json",
            "maxrecords": str(size_of(ask, _MAX_RECORDS)),
            "sort": "hybridrel",
        }
        days = days_of(ask.freshness)
        if days:
            first, last = (day.replace("-", "") for day in (max(days[0], _OLDEST), days[1]))
            fields |= {"startdatetime": f"{first}000000", "enddatetime": f"{last}235959"}
        url = address(self._config, self._config.endpoint, fields, safe=":")
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn articles into documents of their headlines, and ask for the pages of the first ones.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, a refusal in plain text (with the pause it asks for).
        """
        del request
        if reply.body.lstrip()[:1] not in {b"{", b"[", b"<", b""}:
            _refused(reply)
        found = read_json(_mended(reply), _Body).articles or []
        articles = [each for each in readable(found, _Article) if _is_page(each)]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in articles),
            requests=tuple(
                page(self._config, self.name, each.url) for each in articles[:_MOST_PAGES]
            ),
            total=len(found),
            note=left_out(len(found), len(articles)),
        )

    def _document(self, article: _Article, reply: Reply) -> Document:
        title, seen = line(article.title), _seen(article)
        outlet = article.domain or urlsplit(article.url).hostname or ""
        return make_document(
            url=article.url,
            title=title,
            text=f"{title}\n\n{_origin(article, outlet)}",
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language=_CODES.get(article.language or "", ""),
                container=outlet,
                work_type="newspaper",
                source_type=self._config.source_type,
                signals=("headline", *((f"seen={seen}",) if seen else ())),
            ),
        )


def _query(ask: SourceQuery) -> str:
    """Return words and the filter of language. Blanks mean "and"; words under three letters are refused."""
    words = words_of(ask, most=12, hyphens=False)
    telling = [word for word in words if len(word) >= _SHORTEST_WORD or not word.isascii()]
    text = " ".join((telling or ["news"])[:_MOST_WORDS])[:_MOST_QUERY_CHARS].strip()
    language = _LANGUAGES.get(ask.language[:2].lower(), "")
    return f"{text} sourcelang:{language}" if language else text


def _refused(reply: Reply) -> NoReturn:
    is_fast = _TOO_FAST.search(reply.text[:500])
    raise BadReply(
        "The source asked for fewer requests, with status 200."
        if is_fast
        else "The source refused the query in plain text.",
        retry_after_s=_PAUSE_S if is_fast else None,
    )


def _mended(reply: Reply) -> Reply:
    body = _BROKEN_ESCAPE.sub(rb"\\\\", _CONTROL.sub(b" ", reply.body))
    return structs.replace(reply, body=body)


def _is_page(article: _Article) -> bool:
    try:
        parts = urlsplit(article.url)
        _ = parts.port
    except ValueError:
        return False
    printable = article.url.isascii() and article.url.isprintable() and " " not in article.url
    return (
        printable
        and parts.scheme in {"http", "https"}
        and bool(parts.hostname)
        and "@" not in parts.netloc
        and bool(line(article.title))
    )


def _seen(article: _Article) -> str:
    found = _SEEN.fullmatch(article.seendate or "")
    return iso("-".join(found.groups())) if found else ""


def _origin(article: _Article, outlet: str) -> str:
    country = f" ({article.sourcecountry})" if article.sourcecountry else ""
    return f"A headline of {outlet}{country}."
