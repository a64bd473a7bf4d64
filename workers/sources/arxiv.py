"""arXiv by its Atom API: exact ids by `id_list`, words by AND over the fields of the record.

Errors come as feeds of one entry, with status 200 on the older back end. `published` is the date of version 1.
A DOI is taken only when the record has one; it is never made up from the id.
"""

import re
from typing import Any

from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import days_of, iso, person, read_xml, refuse, size_of

_ATOM = "{http://www.w3.org/2005/Atom}"
_ARXIV = "{http://arxiv.org/schemas/atom}"
_TOTAL = "{http://a9.com/-/spec/opensearch/1.1/}totalResults"
_MAX_TERMS = 6  # every further word is one more AND: soon nothing matches all of them
_MAX_RESULTS = 100
_MAX_IDS = 20
_MAX_NOTICE_CHARS = 2_000

# The archives of the scheme before April 2007, so that "and/1234567" is no paper.
_ARCHIVES = (
    "acc-phys|adap-org|alg-geom|ao-sci|astro-ph|atom-ph|bayes-an|chao-dyn|chem-ph|cmp-lg|comp-gas|cond-mat|cs|dg-ga"
    "|funct-an|gr-qc|hep-ex|hep-lat|hep-ph|hep-th|math-ph|math|mtrl-th|nlin|nucl-ex|nucl-th|patt-sol|physics"
    "|plasm-ph|q-alg|q-bio|quant-ph|solv-int|supr-con"
)
# Identifier schemes: https://info.arxiv.org/help/arxiv_identifier.html
_ID = re.compile(
    r"(?<![A-Za-z0-9_./])(?:(?:0[7-9]|1[0-4])(?:0[1-9]|1[0-2])\.[0-9]{4}|[12][0-9](?:0[1-9]|1[0-2])\.[0-9]{5}"
    rf"|(?:{_ARCHIVES})(?:\.[A-Z]{{2}})?/[0-9]{{7}})(?:v[1-9][0-9]?)?(?![A-Za-z0-9_/])(?!\.[0-9])"
)
_ABS = re.compile(r"arxiv\.org/abs/([\w.-]+(?:/[0-9]{7}(?:v[0-9]+)?)?)")
_VERSION = re.compile(r"v[0-9]+$")
_ARXIV_PREFIX = re.compile(
    r"(?i)\barxiv\s*:\s*|https?://(?:export\.|www\.)?arxiv\.org/(?:abs|pdf)/"
)
_PIECE = re.compile(r'(?:\b(ti|au|abs|co|jr|cat|rn|all):)?(?:"([^"]*)"|([^\s"]+))')
_NOISE = re.compile(r"[^\w.+'-]+")
_STOP = frozenset(
    re.findall(
        r"\S+",
        "a an and andnot or not the of in on at by for from to with about between is are was were be been do does did "
        "how what which who whom whose when where why can could should would may might it its this that these those "
        "there any some than as into over under paper papers arxiv",
    )
)
_WITHDRAWN_COMMENT = re.compile(
    r"(?i)(?:^|[.;:,])\W{0,5}(?:(?:this|the)\s+)?(?:(?:paper|article|submission|manuscript|preprint|work)\s+)?"
    r"(?:(?:has|have) been\s+|is\s+|was\s+)?(?:temporarily\s+)?withdrawn\b"
)
_WITHDRAWN_SUMMARY = re.compile(
    r"(?i)^\W*(?:this|the)\s+(?:paper|article|submission|manuscript|work)\s+(?:has been|is|was)\s+withdrawn\b"
)


class Arxiv:
    """Preprints in physics, mathematics, computer science and neighbours."""

    name: str = "arxiv"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request: by id when the question holds arXiv ids, else by words.

        A freshness of the form `A..B` becomes a range of submission dates; relative forms need a clock and are
        left to whoever filters afterwards.
        """
        ids = _ids(ask.text)
        fields = {"id_list": ",".join(ids)} if ids else {"search_query": _search_query(ask)}
        fields |= {
            "start": "0",
            "max_results": str(len(ids) or size_of(ask, _MAX_RESULTS)),
        }
        if not ids:
            fields |= {"sortBy": "relevance", "sortOrder": "descending"}
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn entries into documents of title and abstract.

        Raises:
            BadReply: HTML, plain text, truncated XML, XML that is no Atom feed, an error feed.
        """
        feed = _read(reply)
        entries = feed.findall(f"{_ATOM}entry")
        if any(_is_error(entry) for entry in entries):
            refuse("an error feed")
        made = [self._document(entry, reply) for entry in entries]
        documents = tuple(each for each in made if each is not None)
        dropped = len(made) - len(documents)
        return Parsed(
            documents=documents,
            total=_whole_number(feed.findtext(_TOTAL)),
            note=f"{dropped} entries without id or title" if dropped else "",
        )

    def _document(self, entry: Any, reply: Reply) -> Document | None:
        found = _ABS.search(_text(entry, f"{_ATOM}id"))
        title = _text(entry, f"{_ATOM}title")
        if not found or not title:
            return None
        summary = _text(entry, f"{_ATOM}summary")
        return make_document(
            url=f"https://arxiv.org/abs/{found[1]}",
            title=title,
            text=f"{title}\n\n{summary}".strip(),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=self._facts(entry, _VERSION.sub("", found[1]), summary),
        )

    def _facts(self, entry: Any, arxiv_id: str, summary: str) -> DocumentFacts:
        published = iso(_text(entry, f"{_ATOM}published"))
        names = [_text(author, f"{_ATOM}name") for author in entry.findall(f"{_ATOM}author")]
        return DocumentFacts(
            language="en",
            published=published,
            date_kind="record" if published else "none",
            authors=tuple(person(name) for name in names if name),
            container=_text(entry, f"{_ARXIV}journal_ref"),
            publisher="arXiv",
            doi=_text(entry, f"{_ARXIV}doi").lower(),
            arxiv_id=arxiv_id,
            work_type="preprint",
            source_type=self._config.source_type,
            retracted=_is_withdrawn(_text(entry, f"{_ARXIV}comment"), summary),
        )


def _ids(text: str) -> list[str]:
    found = _ID.findall(_ARXIV_PREFIX.sub(" ", text))
    return list(dict.fromkeys(found))[:_MAX_IDS]


def _search_query(ask: SourceQuery) -> str:
    clauses = list(dict.fromkeys([*_written_clauses(ask.text), *_term_clauses(ask)]))[:_MAX_TERMS]
    clauses = clauses or ["all:" + (_phrase(ask.text) or '""')]
    return " AND ".join([*clauses, *_submitted(ask.freshness)])


def _written_clauses(text: str) -> list[str]:
    """Return what the asker marked: field prefixes and quoted phrases."""
    pieces = _PIECE.findall(text)
    marked = [(field or "all", quoted or word) for field, quoted, word in pieces if field or quoted]
    return [f"{field}:{_phrase(value)}" for field, value in marked if _phrase(value)]


def _term_clauses(ask: SourceQuery) -> list[str]:
    written = " ".join(_written_clauses(ask.text)).lower()
    terms = ask.terms or _unmarked_words(ask.text)
    cleaned = [_phrase(term) for term in terms if term.lower() not in _STOP]
    return [f"all:{term}" for term in cleaned if term and term.strip('"').lower() not in written]


def _unmarked_words(text: str) -> list[str]:
    words = [word for field, quoted, word in _PIECE.findall(text) if word and not field]
    return [word for word in words if _NOISE.sub("", word).lower() not in _STOP]


def _phrase(text: str) -> str:
    """Return text without characters that mean something to the query parser, quoted when it is several words."""
    words = _NOISE.sub(" ", text).strip(" .-+'").split()
    joined = " ".join(word.lower() if word in {"AND", "OR", "ANDNOT"} else word for word in words)
    return f'"{joined}"' if len(words) > 1 else joined


def _submitted(freshness: str | None) -> list[str]:
    days = days_of(freshness)
    if days is None:
        return []
    first, last = (day.replace("-", "") for day in days)
    return [f"submittedDate:[{first}0000 TO {last}2359]"]


def _read(reply: Reply) -> Any:
    root = read_xml(reply)
    if root.tag != f"{_ATOM}feed":
        refuse("XML of another shape")
    return root


def _is_error(entry: Any) -> bool:
    return "/api/errors" in _text(entry, f"{_ATOM}id") or _text(entry, f"{_ATOM}title") == "Error"


def _text(node: Any, tag: str) -> str:
    return " ".join((node.findtext(tag) or "").split())


def _whole_number(text: str | None) -> int | None:
    return int(text) if text and re.fullmatch(r"[0-9]{1,9}", text.strip()) else None


def _is_withdrawn(comment: str, summary: str) -> bool:
    return bool(
        _WITHDRAWN_COMMENT.search(comment[:_MAX_NOTICE_CHARS]) or _WITHDRAWN_SUMMARY.match(summary)
    )
