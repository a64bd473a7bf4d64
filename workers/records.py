"""What adapters of record APIs share: form is judged strictly and named, fields leniently. Pure.

A register's answer is JSON or XML in which every field of a record may be absent or null; one record that cannot be
read is left out and counted, it does not spoil the others. What is no answer at all is a BadReply that says which kind.
"""

import html
import re
from collections.abc import Iterable, Sequence
from datetime import UTC, date, datetime
from typing import Any, Final, NoReturn, TypeVar
from urllib.parse import quote

import msgspec
from lxml import etree
from signal_search.contracts.document import Author
from signal_search.contracts.source import Reply, SourceQuery
from signal_search.errors import BadReply

from scoring.date_range import date_range

Shape = TypeVar("Shape")

# What is asked when a question has no word at all: nothing is found by it.
NO_WORDS: Final = "nowordsgiven"

_MAX_QUERY_CHARS: Final = 300
_MAX_DOIS: Final = 3
# crossref.org/blog/dois-and-matching
_DOI = re.compile(r"(?i)(?<![A-Za-z0-9.])10\.[0-9]{4,9}/[^\s\"<>?#，。；、）】]+")
_NOISE = re.compile(r"[^\w.+'-]+")
_EDGES = " .-+'_"
_OPERATORS = frozenset({"AND", "OR", "NOT", "ANDNOT", "TO"})
_STOP = frozenset(
    re.findall(
        r"\S+",
        "a an and are as at be been by can could did do does for from had has have how in into is it its may might not "
        "of on or over should than that the their there these this those to was were what when where which who whom "
        "whose why will with would",
    )
)
_NAMES = (
    "p|br|i|b|em|strong|sub|sup|u|h[1-6]|ul|ol|li|div|span|a|small|tt|sc|sec|title|italic|bold"
    "|jats:[a-z-]+|mml:[a-z]+"
)
_TAG = re.compile(rf'(?i)</?(?:{_NAMES})(?:\s+[\w:-]{{1,40}}\s{{0,9}}=\s{{0,9}}"[^"<>]*")*\s*/?>')
_BREAK = re.compile(r"(?i)</?(?:jats:)?(?:p|title|sec|list-item|h[1-6]|li|div)\s*>|<br\s*/?>")
_HEADING = re.compile(r"(?i)^(?:abstract|summary|摘要)\s{0,9}[:.]?[ \t]{0,9}\n")
_RETRACTED = re.compile(
    r"(?i)^\W*(?:retracted|withdrawn)(?: article| paper| chapter)?\s{0,9}[:\])]"
)
_NOTICE = re.compile(r"(?i)^\W*(?:notice of )?(?:retraction|withdrawal)(?: notice| note)?\b[^:]*:")
_LIMIT = re.compile(r"(?i)rate.?limit|too many requests|throttl|quota|exceeded")
_PARTICLES = frozenset(
    re.findall(r"\S+", "van von der den de del della di da dos du la le ten ter al el bin ibn")
)
_BODY = re.compile(
    r"(?i)\b(?:collaboration|consortium|team|group|project|network|committee|society|university|institute|agency)\b"
)
# ISO 639-2, as PubMed and Europe PMC write languages, to ISO 639-1.
_LANGUAGES = {"eng": "en", "chi": "zh", "zho": "zh", "ger": "de", "deu": "de", "fre": "fr"}
_LANGUAGES |= {"fra": "fr", "spa": "es", "jpn": "ja", "rus": "ru", "por": "pt", "ita": "it"}
_LANGUAGES |= {"kor": "ko", "dut": "nl", "nld": "nl", "pol": "pl", "swe": "sv", "tur": "tr"}


# --- form -------------------------------------------------------------------------------------------------------------


def read_json(reply: Reply, shape: type[Shape]) -> Shape:
    """Return a reply's JSON as `shape`.

    Raises:
        BadReply: a page of HTML, plain text, nothing, truncated or broken JSON, JSON of another shape.
    """
    start = reply.body.lstrip(b"\xef\xbb\xbf \t\r\n")[:1]
    if start not in {b"{", b"["}:
        refuse(_kind_without_json(start))
    try:
        return msgspec.json.decode(reply.body.removeprefix(b"\xef\xbb\xbf"), type=shape)
    except msgspec.ValidationError as error:
        raise BadReply("The source sent JSON of another shape instead of records.") from error
    except (msgspec.DecodeError, UnicodeError, RecursionError) as error:
        raise BadReply("The source sent truncated or broken JSON instead of records.") from error


def _kind_without_json(start: bytes) -> str:
    return {b"": "nothing", b"<": "a page of HTML or XML"}.get(start, "plain text")


def read_xml(reply: Reply) -> Any:
    """Return the root element of a reply's XML. Entities are not resolved and a document that declares some is refused.

    Raises:
        BadReply: a page of HTML, plain text, nothing, truncated or broken XML, XML with entities of its own.
    """
    text = re.sub(r"^<\?xml[^>]{0,200}\?>", "", reply.text.lstrip("\ufeff").strip(), count=1)
    if not text.startswith("<") and not text.lstrip().startswith("<"):
        refuse("plain text" if text else "nothing")
    if re.match(r"(?i)\s*<(?:!doctype )?html", text):
        refuse("a page of HTML")
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, no_network=True, load_dtd=False, huge_tree=False
    )
    try:
        root = etree.fromstring(text.encode("utf-8", "replace"), parser)
    except etree.XMLSyntaxError as error:
        raise BadReply("The source sent truncated or broken XML instead of records.") from error
    declared = root.getroottree().docinfo.internalDTD
    if declared is not None and any(declared.iterentities()):
        refuse("XML with entities of its own")
    return root


def refuse(kind: str) -> NoReturn:
    """Say what came instead of records.

    Raises:
        BadReply: always.
    """
    raise BadReply(f"The source sent {kind} instead of records.")


def refuse_error(reply: Reply, told: object) -> NoReturn:
    """Refuse an error that the API sent as an answer; its words are judged, never repeated.

    Raises:
        BadReply: always, with the wait that the reply's headers ask for.
    """
    kind = "rate limit" if _LIMIT.search(str(told)[:500]) else "error"
    wait = reply.headers.get("retry-after", "")
    raise BadReply(
        f"The source sent a message ({kind}) with status {reply.status} instead of records.",
        retry_after_s=float(wait) if re.fullmatch(r"[0-9]{1,6}", wait) else None,
    )


def readable(items: Iterable[object], shape: type[Shape]) -> list[Shape]:
    """Return the items that have the shape; numbers written as text are taken for numbers, and the other way round."""
    found = (_one(item, shape) for item in items)
    return [each for each in found if each is not None]


def _one(item: object, shape: type[Shape]) -> Shape | None:
    try:
        return msgspec.convert(item, shape, strict=False)
    except (msgspec.ValidationError, RecursionError):
        pass
    try:
        return msgspec.convert(_written_out(item), shape, strict=False)
    except (msgspec.ValidationError, RecursionError):
        return None


def _written_out(item: object) -> object:
    """Return an item with its numbers as text: a volume that is 12 in one record is "12" in the next."""
    if isinstance(item, dict):
        return {name: _written_out(value) for name, value in item.items()}
    if isinstance(item, list):
        return [_written_out(each) for each in item]
    is_number = isinstance(item, int | float) and not isinstance(item, bool)
    return str(item) if is_number else item


def left_out(found: int, kept: int, why: str = "unreadable or untitled") -> str:
    """Return the note on records that were left out, or nothing."""
    return f"{found - kept} records {why}" if found > kept else ""


# --- questions --------------------------------------------------------------------------------------------------------


def dois_in(text: str) -> list[str]:
    """Return the DOIs that a text names, in lower case, three at most."""
    found = (match.rstrip(".,;:!'*") for match in _DOI.findall(text))
    bare = (
        doi.rstrip(")]") if doi.count("(") < doi.count(")") or "]" in doi else doi for doi in found
    )
    return list(dict.fromkeys(doi.lower() for doi in bare))[:_MAX_DOIS]


def words_of(ask: SourceQuery, *, most: int, hyphens: bool = True) -> list[str]:
    """Return at most `most` words to search with, without stop words and without what is an operator somewhere."""
    text = " ".join(" ".join(ask.terms or (ask.text,)).split())[:_MAX_QUERY_CHARS]
    cleaned = _NOISE.sub(" ", text if hyphens else text.replace("-", " ")).split()
    words = [word.strip(_EDGES) for word in cleaned]
    plain = [word.lower() if word in _OPERATORS else word for word in words if word]
    telling = [word for word in plain if word.lower() not in _STOP]
    return list(dict.fromkeys(telling or plain))[:most]


def days_of(freshness: str | None, today: str = "") -> tuple[str, str] | None:
    """Return first and last day of a freshness `A..B`, and of a relative form where `today` is given; else None."""
    days = date_range(freshness or "", date.fromisoformat(today) if today else None)
    if days is None or "" in (first := iso(days[0]), last := iso(days[1])):
        return None
    return (first, last) if len(first) == len(last) == 10 and first <= last else None


def seconds_of(day: str) -> int:
    """Return the Unix time of the start of a day, UTC; nothing that is asked for by it is older than the epoch."""
    return max(0, int(datetime.fromisoformat(day).replace(tzinfo=UTC).timestamp()))


def size_of(ask: SourceQuery, most: int) -> int:
    """Return how many records to ask for: at least one, at most what the API allows."""
    return min(max(ask.limit, 1), most)


# --- fields -----------------------------------------------------------------------------------------------------------


def lines(markup: str | None) -> str:
    """Return the text of an abstract: paragraphs as lines, no tags, entities resolved, no line "Abstract"."""
    plain = html.unescape(_TAG.sub("", _BREAK.sub("\n", markup or "")))
    kept = (" ".join(line.split()) for line in plain.splitlines())
    return _HEADING.sub("", "\n".join(line for line in kept if line))


def line(markup: str | None) -> str:
    """Return a title or name on one line, without tags and entities."""
    return " ".join(lines(markup).split())


def iso(text: str | None) -> str:
    """Return year, year-month or day of a date with one to three parts; what is no calendar date is cut back."""
    found = re.match(r"\s{0,9}([0-9]{4})(?:[-/]([0-9]{1,2})(?:[-/]([0-9]{1,2}))?)?", text or "")
    return iso_of([int(part) for part in found.groups() if part]) if found else ""


def iso_of(parts: Sequence[int | None]) -> str:
    """Return year, year-month or day of numbers, cut back to what is a calendar date."""
    known = [part for part in parts[:3] if part is not None]
    for length in range(len(known), 0, -1):
        try:
            day = date(*(*known[:length], 1, 1)[:3])
        except (ValueError, OverflowError):
            continue
        return day.isoformat()[: (4, 7, 10)[length - 1]]
    return ""


def language(code: str | None) -> str:
    """Return the two letters of a language code of two or three, or nothing."""
    short = (code or "").strip().lower().partition("-")[0]
    return short if re.fullmatch(r"[a-z]{2}", short) else _LANGUAGES.get(short, "")


def person(name: str | None) -> Author:
    """Return the author of a name: `Family, Given` or `Given Family`; bodies and single names stay whole."""
    whole = line(name)
    family, comma, given = whole.partition(", ")
    words = whole.split()
    if _BODY.search(whole) or len(words) <= 1:
        return Author(literal=whole)
    if comma:
        return Author(family=family, given=given)
    at = next((i for i, word in enumerate(words[:-1]) if i and word in _PARTICLES), len(words) - 1)
    return Author(family=" ".join(words[at:]), given=" ".join(words[:at]))


def doi_address(doi: str) -> str:
    """Return the address under which a DOI is resolved."""
    return f"https://doi.org/{quote(doi, safe='/()', errors='replace')}"


def is_retracted_title(title: str) -> bool:
    """Tell whether a title says that its work was retracted, as publishers write it."""
    return bool(_RETRACTED.match(title[:200]))


def is_notice_title(title: str) -> bool:
    """Tell whether a title is that of a retraction notice."""
    return bool(_NOTICE.match(title[:200]))
