"""PubMed by the E-utilities: ESearch finds ids, one EFetch brings their records with abstracts.

ESearch answers in JSON, where numbers are text and errors come with status 200; EFetch answers in XML with a document
type. A question that names a PubMed id skips the search. `tool` and `email` tell NCBI who asks, as its guidelines wish.
"""

import re
from typing import Any

from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_record
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    days_of,
    dois_in,
    is_notice_title,
    is_retracted_title,
    iso,
    language,
    left_out,
    line,
    read_json,
    read_xml,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_TOOL = "signal-search"
_MAX_RESULTS = 100
_MAX_WORDS = 6  # every word is one more AND: soon nothing matches all of them
_PMID = re.compile(r"(?i)\b(?:pmid|pubmed(?:\s+id)?)\s?[:#]?\s?([1-9][0-9]{0,8})\b")
_MONTHS = dict(
    zip(
        re.findall(r"\w+", "jan feb mar apr may jun jul aug sep oct nov dec"),
        map(str, range(1, 13)),
        strict=True,
    )
)
_KINDS = {
    "preprint": "preprint",
    "letter": "letter",
    "editorial": "editorial",
    "dataset": "dataset",
    "review": "review",
}
_RETRACTING = frozenset({"retracted publication", "retraction of publication"})


class _Found(Struct):
    idlist: list[str] | None = None
    count: str | None = None
    error: str | None = field(name="ERROR", default=None)
    errorlist: dict[str, object] | None = None


class _Search(Struct):
    found: _Found | None = field(name="esearchresult", default=None)
    error: object = None


class PubMed:
    """Citations of biomedical literature, from MEDLINE and life science journals."""

    name: str = "pubmed"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row; its endpoint is the folder of the utilities."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the fetch of the PubMed ids in the question, or the search by its DOIs or words."""
        ids = list(dict.fromkeys(_PMID.findall(ask.text)))[: size_of(ask, _MAX_RESULTS)]
        if ids:
            return (self._fetch(ids, depth=0),)
        named = " OR ".join(f"{doi}[doi]" for doi in dois_in(ask.text))
        dated = {} if named else _dates(ask.freshness)
        term = named or " ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS
        fields = {"term": term, "retmax": str(size_of(ask, _MAX_RESULTS)), "retmode": "json"}
        return (self._request("esearch.fcgi", fields | dated | {"sort": "relevance"}),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn a search into the fetch of its records, and records into documents.

        Raises:
            BadReply: HTML, plain text, truncated or wrong-shaped data, an error sent as an answer.
        """
        if "/efetch.fcgi?" in request.url:
            return self._documents(reply)
        return self._follow_up(reply)

    def _follow_up(self, reply: Reply) -> Parsed:
        body = read_json(reply, _Search)
        if body.error is not None:
            refuse_error(reply, body.error)
        found = body.found or refuse("JSON of another shape")
        if found.error is not None:
            refuse_error(reply, found.error)
        ids = [each for each in found.idlist or () if re.fullmatch(r"[0-9]{1,9}", each)]
        total = found.count or ""
        return Parsed(
            requests=(self._fetch(ids[:_MAX_RESULTS], depth=1),) if ids else (),
            total=int(total) if re.fullmatch(r"[0-9]{1,12}", total) else None,
            note=_ignored(found),
        )

    def _documents(self, reply: Reply) -> Parsed:
        if (
            reply.body.lstrip()[:1] == b"{"
        ):  # the gateway's own errors are JSON whatever was asked for
            refuse_error(reply, read_json(reply, _Search).error)
        root = read_xml(reply)
        if root.tag in {"eFetchResult", "ERROR"}:
            refuse_error(reply, "".join(root.itertext()))
        if root.tag != "PubmedArticleSet":
            refuse("XML of another shape")
        articles = root.findall("PubmedArticle")
        made = [self._document(each, reply) for each in articles]
        documents = tuple(each for each in made if each is not None)
        # Books have another record, PubmedBookArticle, which is left out and counted.
        return Parsed(documents=documents, note=left_out(len(root), len(documents)))

    def _document(self, record: Any, reply: Reply) -> Document | None:
        pmid, title = _text(record, "MedlineCitation/PMID"), _title(record)
        if not re.fullmatch(r"[0-9]{1,9}", pmid) or not title:
            return None
        return make_record(
            self._config,
            reply,
            url=f"https://pubmed.ncbi.nlm.nih.gov/{pmid}/",
            title=title,
            abstract=_abstract(record),
            facts=_facts(record, title),
        )

    def _fetch(self, ids: list[str], *, depth: int) -> Request:
        fields = {"id": ",".join(ids), "retmode": "xml", "rettype": "abstract"}
        return self._request("efetch.fcgi", fields, depth=depth)

    def _request(self, utility: str, fields: dict[str, str], *, depth: int = 0) -> Request:
        who = {"tool": _TOOL} | ({"email": self._config.mailto} if self._config.mailto else {})
        root = f"{self._config.endpoint.rstrip('/')}/{utility}"
        url = address(self._config, root, {"db": "pubmed", **fields, **who})
        return call(self._config, self.name, url, depth=depth)


def _dates(freshness: str | None) -> dict[str, str]:
    days = days_of(freshness)
    if days is None:
        return {}
    first, last = (day.replace("-", "/") for day in days)
    return {"datetype": "pdat", "mindate": first, "maxdate": last}


def _ignored(found: _Found) -> str:
    """Tell of words that PubMed did not know: it answers as if they had not been asked."""
    missing = (found.errorlist or {}).get("phrasesnotfound")
    count = len(missing) if isinstance(missing, list) else 0
    return f"{count} words not known to the source" if count else ""


def _text(node: Any, path: str) -> str:
    found = node.find(path)
    return "" if found is None else " ".join("".join(found.itertext()).split())


def _texts(node: Any, path: str) -> list[str]:
    return [" ".join("".join(each.itertext()).split()) for each in node.iterfind(path)]


def _title(record: Any) -> str:
    """Return the title; a translated one stands in square brackets, and all end in a full stop."""
    title = _text(record, "MedlineCitation/Article/ArticleTitle")
    inner = re.fullmatch(r"\[(.{1,2000})\]\.?", title)
    return (inner[1] if inner else title).removesuffix(".")


def _abstract(record: Any) -> str:
    parts = record.iterfind("MedlineCitation/Article/Abstract/AbstractText")
    labelled = (
        (line(each.get("Label")), " ".join("".join(each.itertext()).split())) for each in parts
    )
    return "\n".join(f"{label}: {text}" if label else text for label, text in labelled if text)


def _facts(record: Any, title: str) -> DocumentFacts:
    article = "MedlineCitation/Article"
    issue = f"{article}/Journal/JournalIssue"
    kinds = {
        each.lower() for each in _texts(record, f"{article}/PublicationTypeList/PublicationType")
    }
    is_notice = "retraction of publication" in kinds or is_notice_title(title)
    is_preprint = "preprint" in kinds
    journal = _text(record, f"{article}/Journal/Title")
    return DocumentFacts(
        language=language(_text(record, f"{article}/Language")),
        published=_published(record),
        authors=tuple(_authors(record)),
        container="" if is_preprint else journal,
        publisher=journal if is_preprint else "",
        volume=_text(record, f"{issue}/Volume"),
        issue=_text(record, f"{issue}/Issue"),
        pages=_text(record, f"{article}/Pagination/MedlinePgn"),
        doi=_doi(record),
        work_type=next((_KINDS[each] for each in _KINDS if each in kinds), "journal-article"),
        retracted=is_notice or bool(_RETRACTING & kinds) or _is_retracted(record, title),
        signals=("retraction_notice",) if is_notice else (),
    )


def _is_retracted(record: Any, title: str) -> bool:
    notes = record.iterfind("MedlineCitation/CommentsCorrectionsList/CommentsCorrections")
    return is_retracted_title(title) or any(each.get("RefType") == "RetractionIn" for each in notes)


def _doi(record: Any) -> str:
    ids = record.iterfind("PubmedData/ArticleIdList/ArticleId")
    return next((line(each.text).lower() for each in ids if each.get("IdType") == "doi"), "")


def _authors(record: Any) -> list[Author]:
    made = map(_author, record.iterfind("MedlineCitation/Article/AuthorList/Author"))
    return [each for each in made if each.family or each.literal]


def _author(node: Any) -> Author:
    body = _text(node, "CollectiveName")
    if body:
        return Author(literal=body)
    return Author(
        family=_text(node, "LastName"), given=_text(node, "ForeName") or _text(node, "Initials")
    )


def _published(record: Any) -> str:
    """Return the date of the issue: its parts, or the year of a `MedlineDate` such as `1998 Dec-1999 Jan`."""
    place = "MedlineCitation/Article/Journal/JournalIssue/PubDate"
    year, month, day = (_text(record, f"{place}/{part}") for part in ("Year", "Month", "Day"))
    if not year:
        return iso(_text(record, f"{place}/MedlineDate"))
    number = _MONTHS.get(month.lower()[:3], month)
    return iso("-".join(filter(None, (year, number, day if number else ""))))
