"""eutils.ncbi.nlm.nih.gov: ESearch in JSON and EFetch in XML, for the database `pubmed`.

Strict: unknown parameters are 400; a search without words and one for too many results are errors sent with status
200. A word that no record holds is named in `errorlist` and nothing is found by it. When rates are enforced: three
requests a second, ten with `api_key`, then 429 with a JSON message.
"""

import re
from xml.sax.saxutils import escape

from infra.loopback_web import corpus, exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Library, Pace, day_of, disliked, is_within, number, unknown

_ROOT = "/entrez/eutils/"
_COMMON = ("db", "retmode", "rettype", "retmax", "retstart", "tool", "email", "api_key")
_KNOWN = {
    "esearch.fcgi": frozenset(
        (*_COMMON, "term", "sort", "datetype", "mindate", "maxdate", "reldate", "field")
    ),
    "efetch.fcgi": frozenset((*_COMMON, "id")),
}
_SORTS = {"relevance", "pub_date", "Author", "JournalName"}
_DATE_TYPES = {"pdat", "mdat", "edat"}
_KINDS = {"abstract", "medline", "uilist", ""}
_MAX_RESULTS = 10_000
_XML = "text/xml; charset=UTF-8"
_FIRST_ID = 99_000_001
_TAGS = re.compile(r"<[^<>]+>")
_MONTHS = re.findall(r"\w+", "Jan Feb Mar Apr May Jun Jul Aug Sep Oct Nov Dec")
_DATE = re.compile(r"\d{4}(?:/\d{2}(?:/\d{2})?)?")
_HEAD = (
    '<?xml version="1.0" ?>\n<!DOCTYPE PubmedArticleSet PUBLIC "-//NLM//DTD PubMedArticle, 1st January 2025//EN" '
    '"https://dtd.nlm.nih.gov/ncbi/pubmed/out/pubmed_250101.dtd">\n'
)


class PubMed:
    """The citations of biomedical literature."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the works that stand in journals."""
        self._library = Library([paper for paper in corpus.papers() if paper.journal])
        self._open = Pace(3, 1_000, enforced=enforce_pace)
        self._keyed = Pace(10, 1_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD", "POST"}:
            return exchange.method_not_allowed("GET", "HEAD", "POST")
        fields, utility = ask.fields, ask.path.removeprefix(_ROOT)
        limit = 10 if fields.get("api_key") else 3
        if (self._keyed if limit == 10 else self._open).refuses(ask.now_ms):
            told = {"error": "API rate limit exceeded", "api-key": "127.0.0.1", "limit": str(limit)}
            return exchange.json(told, status=429, x_ratelimit_limit=str(limit))
        if utility not in _KNOWN or not ask.path.startswith(_ROOT):
            return exchange.page("<html><body>404 Not Found</body></html>", status=404)
        strange = unknown(fields, _KNOWN[utility])
        if strange or fields.get("db") != "pubmed":
            complaint = f"parameter {strange or 'db'}"
            return exchange.json({"error": "Invalid parameter"}, status=400, complaint=complaint)
        return self._search(fields) if utility == "esearch.fcgi" else self._fetch(fields)

    def _search(self, fields: dict[str, str]) -> Answer:
        size, start = number(fields, "retmax", 20), number(fields, "retstart", 0)
        wrong = _wrong(fields, size, start)
        if wrong:
            return _found({"ERROR": wrong}, complaint=wrong)
        found, missing = self._matching(fields["term"])
        found = [paper for paper in found if _is_dated(paper, fields)]
        told: dict[str, object] = {
            "count": str(len(found)),
            "retmax": str(min(size, len(found))),
            "retstart": str(start),
            "idlist": [self._id(paper) for paper in found[start : start + size]],
            "translationset": [],
            "querytranslation": fields["term"],
        }
        strange = _passed_over(fields)
        if strange:
            told["warninglist"] = {"outputmessages": [strange], "quotedphrasesnotfound": []}
        if missing:
            told["errorlist"] = {"phrasesnotfound": missing, "fieldsnotfound": []}
        return _found(told, complaint=strange)

    def _matching(self, term: str) -> tuple[list[Paper], list[str]]:
        dois = re.findall(r"(\S+)\[doi\]", term)
        if dois:
            named = [self._library.by_doi(doi) for doi in dois]
            return [paper for paper in named if paper], []
        missing = [word for word in term.split() if not self._library.find(word, share=1.0)]
        return self._library.find(term, share=1.0), missing

    def _id(self, paper: Paper) -> str:
        return str(_FIRST_ID + self._library.papers.index(paper))

    def _fetch(self, fields: dict[str, str]) -> Answer:
        ids = fields.get("id", "").split(",")
        if not all(re.fullmatch(r"[0-9]{1,9}", each) for each in ids):
            body = "<eFetchResult><ERROR>ID list is empty! Possibly it has no correct IDs.</ERROR></eFetchResult>"
            return disliked(exchange.text(body, status=400, kind=_XML), "id")
        if fields.get("retmode") != "xml":
            return disliked(exchange.text("1. Only XML is spoken here.\n"), "retmode")
        by_id = {self._id(paper): paper for paper in self._library.papers}
        records = "".join(_record(each, by_id[each]) for each in ids if each in by_id)
        body = f"{_HEAD}<PubmedArticleSet>{records}</PubmedArticleSet>"
        kind = fields.get("rettype", "abstract")
        return disliked(exchange.text(body, kind=_XML), "" if kind in _KINDS else "rettype")


def _found(told: dict[str, object], *, complaint: str = "") -> Answer:
    body = {"header": {"type": "esearch", "version": "0.3"}, "esearchresult": told}
    return exchange.json(body, complaint=complaint)


def _wrong(fields: dict[str, str], size: int, start: int) -> str:
    if not fields.get("term", "").strip():
        return "Empty term and query_key - nothing todo"
    if not 0 <= size <= _MAX_RESULTS or not 0 <= start < _MAX_RESULTS:
        return "Search Backend failed: retmax and retstart must be 0..10000"
    dated = [fields[name] for name in ("mindate", "maxdate") if name in fields]
    if len(dated) == 1 or not all(_DATE.fullmatch(each) for each in dated):
        return "Search Backend failed: mindate and maxdate stand together, as YYYY/MM/DD"
    return "" if fields.get("retmode") == "json" else "Only JSON is spoken here"


def _passed_over(fields: dict[str, str]) -> str:
    """Return what the real one only warns of, or leaves out without a word."""
    if fields.get("sort", "relevance") not in _SORTS:
        return f"Unknown sort schema '{fields['sort']}' ignored"
    return "" if fields.get("datetype", "pdat") in _DATE_TYPES else "datetype"


def _is_dated(paper: Paper, fields: dict[str, str]) -> bool:
    if "mindate" not in fields:
        return True
    first, last = (fields[name].replace("/", "-") for name in ("mindate", "maxdate"))
    return is_within(day_of(paper), first, last)


def _record(pmid: str, paper: Paper) -> str:
    kind = {True: "Retracted Publication", False: "Journal Article"}[bool(paper.retracted_by)]
    kind = "Retraction of Publication" if paper.retracts else kind
    language = {"en": "eng", "zh": "chi"}[paper.language]
    notes = '<CommentsCorrections RefType="RetractionIn"/>' if paper.retracted_by else ""
    return (
        f'<PubmedArticle><MedlineCitation><PMID Version="1">{pmid}</PMID><Article><Journal>{_issue(paper)}'
        f"<Title>{escape(paper.journal)}</Title></Journal><ArticleTitle>{escape(paper.title)}.</ArticleTitle>"
        f"<Pagination><MedlinePgn>{paper.page}</MedlinePgn></Pagination>{_abstract(paper)}"
        f"<AuthorList>{''.join(map(_author, paper.authors))}</AuthorList><Language>{language}</Language>"
        f"<PublicationTypeList><PublicationType>{kind}</PublicationType></PublicationTypeList></Article>"
        f"<CommentsCorrectionsList>{notes}</CommentsCorrectionsList></MedlineCitation><PubmedData><ArticleIdList>"
        f'<ArticleId IdType="pubmed">{pmid}</ArticleId><ArticleId IdType="doi">{escape(paper.doi)}</ArticleId>'
        "</ArticleIdList></PubmedData></PubmedArticle>"
    )


def _issue(paper: Paper) -> str:
    names = zip(("Year", "Month", "Day"), paper.issued, strict=False)
    shown = {name: _MONTHS[part - 1] if name == "Month" else str(part) for name, part in names}
    date = "".join(f"<{name}>{part}</{name}>" for name, part in shown.items())
    return (
        f"<JournalIssue><Volume>{paper.volume}</Volume><Issue>{paper.issue}</Issue>"
        f"<PubDate>{date}</PubDate></JournalIssue>"
    )


def _abstract(paper: Paper) -> str:
    text = escape(
        " ".join(_TAGS.sub(" ", paper.abstract).split()).replace("&#160;", " ").replace("&lt;", "<")
    )
    return f"<Abstract><AbstractText>{text}</AbstractText></Abstract>" if text else ""


def _author(name: str) -> str:
    if name.endswith("Consortium"):
        return f"<Author><CollectiveName>{escape(name)}</CollectiveName></Author>"
    given, _space, family = name.partition(" ")
    return f"<Author><LastName>{escape(family)}</LastName><ForeName>{escape(given)}</ForeName></Author>"
