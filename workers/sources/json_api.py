"""Any search API that answers with JSON, by its row alone: where to ask, where results are, which field is what.

The row's `endpoint` is a template (workers/template.py). `json_items` is the dotted path to the list of results, digits
index lists; empty when the reply itself is the list. `item_map` says for each of our fields where it is in a result: a
dotted path, a text with paths in braces, or several of these with `|` between them, of which the first that gives
something counts. A path through a list collects from each of its members.

params: `words`: how many search words are sent (default all); `follow`: how many of the pages found are fetched, too;
`static`: the reply is the same for every question, so one call serves all; `total`: path of the number of matches;
`post`: the question is sent as a JSON object instead, `query={q} max_results={limit}`.
"""

import html
import re
from datetime import date
from email.utils import parsedate_to_datetime
from typing import Final, NoReturn
from urllib.parse import urljoin, urlsplit

import msgspec
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery
from signal_search.errors import BadReply

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import call, page, post
from workers.paths import first_at, texts_at, texts_in, walk
from workers.template import fill, fill_body, pushed_down

_MAX_ITEMS = 20
_MAX_STATIC_ITEMS = 50
_MAX_FOLLOWED = 5
_MAX_VALUES = 100
_TITLE_CHARS = 300
_TEXT_CHARS = 20_000
_BREAK = re.compile(r"(?i)<(?:/p|br\s?/?|/li|/h[1-6]|/div)>")
_TAG = re.compile(r"</?[A-Za-z][^<>]{0,2000}>")
_COMPACT_DAY = re.compile(r"([12][0-9]{3})([01][0-9])([0-3][0-9])(?![0-9])")
_ISO_DAY = re.compile(r"[0-9]{4}(?:-[0-9]{2}(?:-[0-9]{2})?)?(?![0-9])")
_DOI = re.compile(r"10\.[0-9]{4,9}/\S+")
_ERRORS: Final = ("error", "errors", "Error", "fault")


class JsonApi:
    """A JSON API that a row describes."""

    name: str = "json_api"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; what it carries of the constraints is read off its template."""
        self._config = config
        self._post = config.params.get("post", "")
        self.pushes_down = pushed_down(f"{config.endpoint} {self._post}")
        self.shared = config.params.get("static") == "true"
        self._words = _number(config.params.get("words"), 0)
        self._follow = min(_number(config.params.get("follow"), 0), _MAX_FOLLOWED)

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the one request that asks the question."""
        body = fill_body(self._post, ask, words=self._words)
        if body:
            return (post(self._config, self.name, body),)
        url = fill(self._config.endpoint, ask, words=self._words)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn results into documents of title and snippet, and the first of their pages into requests.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, plain text, an error sent with 200.
        """
        body = _decoded(reply)
        items = _items(body, self._config.json_items)
        most = _MAX_STATIC_ITEMS if self.shared else _MAX_ITEMS
        made = [self._document(item, request, reply) for item in items[:most]]
        documents = tuple(each for each in made if each is not None)
        pages = list(dict.fromkeys(each.url for each in documents))[: self._follow]
        return Parsed(
            documents=documents,
            requests=tuple(
                page(self._config, self.name, url, depth=request.depth + 1) for url in pages
            ),
            total=self._total(body, items),
            note=_note(len(made) - len(documents), len(items) - len(made)),
        )

    def _total(self, body: object, items: list[object]) -> int | None:
        path = self._config.params.get("total", "")
        stated = first_at(body, path) if path else ""
        if stated.isdecimal():
            return int(stated[:15])
        return None if items else 0

    def _document(self, item: object, request: Request, reply: Reply) -> Document | None:
        title = self._text(item, "title", " ")[:_TITLE_CHARS]
        snippet = self._text(item, "snippet", "\n")[:_TEXT_CHARS]
        url = self._address(item, reply.url or request.url)
        if not url or not (title or snippet):
            return None
        return make_document(
            url=url,
            title=title or url,
            text="\n\n".join(part for part in (title, snippet) if part),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=self._facts(item),
        )

    def _facts(self, item: object) -> DocumentFacts:
        published = next(
            (day for each in self._values(item, "published") if (day := _day(each))), ""
        )
        doi = _DOI.search(self._text(item, "doi", " "))
        return DocumentFacts(
            language=self._text(item, "language", " ")[:2].lower() or self._config.language,
            published=published,
            date_kind="record" if published else "none",
            authors=_authors(self._values(item, "authors")),
            container=self._text(item, "container", ", ")[:_TITLE_CHARS],
            publisher=self._text(item, "publisher", ", ")[:_TITLE_CHARS],
            doi=doi[0].lower() if doi else "",
            source_type=self._config.source_type,
            signals=("summary",),
        )

    def _values(self, item: object, field: str) -> list[str]:
        for choice in self._config.item_map.get(field, "").split("|"):
            found = [_plain(each) for each in texts_at(item, choice.strip())]
            if any(found):
                return [each for each in found if each]
        return []

    def _text(self, item: object, field: str, joint: str) -> str:
        values = self._values(item, field)
        return values[0] if field == "title" and values else joint.join(dict.fromkeys(values))

    def _address(self, item: object, base: str) -> str:
        """Return the result's address; without a usable one, that of any field that holds one."""
        mapped = (_absolute(base, each) for each in self._values(item, "url"))
        others = (_absolute("", each) for each in texts_in(item))
        return next((url for url in mapped if url), "") or next((url for url in others if url), "")


def _number(text: str | None, otherwise: int) -> int:
    return int(text) if text and text.isdecimal() and len(text) < 6 else otherwise


# --- the reply --------------------------------------------------------------------------------------------------------


def _decoded(reply: Reply) -> object:
    if reply.body.lstrip()[:1] == b"<":
        _bad("a page of HTML or XML")
    try:
        return msgspec.json.decode(reply.body)
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply("The source sent truncated or broken JSON, or plain text.") from error


def _items(body: object, path: str) -> list[object]:
    """Return the results. Nothing at all and an explicit null mean that there are none."""
    found = walk(body, path.split(".")) if path else [body]
    if body == {} or found == [None]:
        return []
    if found and isinstance(found[0], list):
        return [each for part in found if isinstance(part, list) for each in part]
    if isinstance(body, dict) and any(body.get(name) for name in _ERRORS):
        _bad("an error with status 200")
    return _bad("JSON of another shape")


def _bad(kind: str) -> NoReturn:
    raise BadReply(f"The source sent {kind} instead of results.")


def _note(unusable: int, beyond: int) -> str:
    said = [
        f"{unusable} results without address or words" if unusable else "",
        f"{beyond} further results left out" if beyond else "",
    ]
    return ", ".join(filter(None, said))


# --- fields -----------------------------------------------------------------------------------------------------------


def _plain(markup: str) -> str:
    """Return the text without tags, entities resolved, line by line."""
    if "<" in markup or "&" in markup:
        markup = html.unescape(_TAG.sub("", _BREAK.sub("\n", markup)))
    lines = (" ".join(line.split()) for line in markup.splitlines())
    return "\n".join(line for line in lines if line)


def _absolute(base: str, reference: str) -> str:
    try:
        url = urljoin(base, reference) if base else reference
        parts = urlsplit(url)
    except ValueError:
        return ""
    is_web = parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc
    return url if is_web and not any(sign.isspace() for sign in url) else ""


def _day(stated: str) -> str:
    """Return year, month or day of an ISO, compact (20240131T...) or mail date; nothing when it is none of these."""
    compact = _COMPACT_DAY.match(stated)
    found = _ISO_DAY.match("-".join(compact.groups()) if compact else stated)
    for length in (10, 7, 4):
        part = found[0][:length] if found else ""
        if len(part) == length and _is_date(part + "-01-01"[: 10 - length]):
            return part
    try:
        return parsedate_to_datetime(stated[:100]).date().isoformat()
    except (ValueError, TypeError, OverflowError, IndexError):
        return ""


def _is_date(text: str) -> bool:
    try:
        date.fromisoformat(text)
    except ValueError:
        return False
    return True


def _authors(names: list[str]) -> tuple[Author, ...]:
    kept = (name for name in dict.fromkeys(names) if "@" not in name and len(name) < 200)
    return tuple(Author(literal=name) for name in list(kept)[:_MAX_VALUES])
