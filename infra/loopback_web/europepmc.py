"""www.ebi.ac.uk: the search of Europe PMC.

Strict: unknown parameters, formats and sizes, and queries that cannot be read, are 400 with `errCode`; abstracts are
only in results of type `core`; without `format=json` the answer is XML.
"""

import re

from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import (
    Fields,
    Library,
    day_of,
    disliked,
    matching,
    number,
    read_query,
    unknown,
)

_PATH = "/europepmc/webservices/rest/search"
_KNOWN = frozenset(
    re.findall(r"\S+", "query resultType format pageSize cursorMark sort synonym email callback")
)
_FIELDS: Fields = {
    "DOI": lambda paper: paper.doi,
    "FIRST_PDATE": day_of,
    "SRC": lambda paper: _source(paper).lower(),
}
_MAX_PAGE = 1_000
_FIRST_ID = 99_100_001
_CORE_ONLY = ("abstractText", "authorList", "journalInfo", "pubTypeList", "language")


class EuropePmc:
    """Life science literature and preprints."""

    def __init__(self) -> None:
        """Serve works in journals and preprints."""
        papers = corpus.papers()
        self._library = Library([each for each in papers if each.journal or not each.doi])

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != _PATH:
            return exchange.page("<!doctype html><html><title>Error 404</title></html>", status=404)
        fields = ask.fields
        if fields.get("format", "xml") == "xml":
            body = '<?xml version="1.0"?><responseWrapper><hitCount>0</hitCount></responseWrapper>'
            return disliked(exchange.text(body, kind="application/xml"), "format")
        wrong = _wrong(fields)
        return _refusal(wrong) if wrong else self._search(fields)

    def _search(self, fields: dict[str, str]) -> Answer:
        query = read_query(fields["query"])
        found = matching(self._library, query, _FIELDS) if query else None
        if found is None:
            return _refusal("The query could not be read")
        shown = found[: number(fields, "pageSize", 25)]
        kind = fields.get("resultType", "lite")
        body = {
            "version": "6.9",
            "hitCount": len(found),
            "request": {"queryString": fields["query"], "resultType": kind, "cursorMark": "*"},
            "resultList": {"result": [self._result(paper, kind) for paper in shown]},
        }
        return exchange.json(body)

    def _result(self, paper: Paper, kind: str) -> dict[str, object]:
        full = _record(paper, _FIRST_ID + self._library.papers.index(paper))
        held = {name: value for name, value in full.items() if value not in (None, "", [])}
        return {
            name: value for name, value in held.items() if kind == "core" or name not in _CORE_ONLY
        }


def _refusal(sentence: str) -> Answer:
    return exchange.json({"errCode": 400, "errMsg": sentence}, status=400, complaint=sentence)


def _wrong(fields: dict[str, str]) -> str:
    strange = unknown(fields, _KNOWN)
    checks = (
        (bool(strange), f"Unknown parameter: {strange}"),
        (not fields.get("query", "").strip(), "Query is missing"),
        (fields.get("format") != "json", "Format must be json or xml"),
        (fields.get("resultType", "lite") not in {"idlist", "lite", "core"}, "Invalid resultType"),
        (
            not 1 <= number(fields, "pageSize", 25) <= _MAX_PAGE,
            "pageSize must be between 1 and 1000",
        ),
    )
    return next((sentence for is_wrong, sentence in checks if is_wrong), "")


def _source(paper: Paper) -> str:
    return "MED" if paper.journal else "PPR"


def _record(paper: Paper, number_: int) -> dict[str, object]:
    day = day_of(paper)
    return {
        "id": str(number_) if paper.journal else f"PPR{number_}",
        "source": _source(paper),
        "doi": paper.doi,
        "title": f"{paper.title}.",
        "authorString": ", ".join(paper.authors),
        "authorList": {"author": [_author(name) for name in paper.authors]},
        "pubYear": day[:4],
        "pageInfo": paper.page,
        "firstPublicationDate": day if len(day) == 10 else None,
        "abstractText": paper.abstract,
        "language": {"en": "eng", "zh": "chi"}[paper.language],
        "pubTypeList": {"pubType": _kinds(paper)},
        "journalInfo": _issue(paper, day) if paper.journal else None,
        "bookOrReportDetails": None if paper.journal else {"publisher": "bioRxiv (Test Copy)"},
        "isOpenAccess": "N",
    }


def _issue(paper: Paper, day: str) -> dict[str, object]:
    return {
        "issue": paper.issue,
        "volume": paper.volume,
        "journal": {"title": paper.journal},
        "printPublicationDate": (day + "-01-01")[:10],
        "yearOfPublication": int(day[:4]),
    }


def _kinds(paper: Paper) -> list[str]:
    if not paper.journal:
        return ["Preprint"]
    if paper.retracts:
        return ["Retraction of Publication"]
    return (
        ["Retracted Publication", "Journal Article"] if paper.retracted_by else ["Journal Article"]
    )


def _author(name: str) -> dict[str, str]:
    if name.endswith("Consortium"):
        return {"collectiveName": name}
    given, _space, family = name.partition(" ")
    return {
        "fullName": f"{family} {given[:1]}",
        "firstName": given,
        "lastName": family,
        "initials": given[:1],
    }
