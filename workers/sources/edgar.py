"""SEC EDGAR full-text search: what companies filed since 2001, as one sentence per filing, and the best filings' pages.

The search says who filed what and when, not what it says; the text is on the pages, which robots.txt governs. The SEC
answers only who names a mail address (sec.gov, Accessing EDGAR Data, "declare your user agent").
"""

import re
from urllib.parse import quote

from msgspec import Struct, structs
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call, page
from workers.records import days_of, iso, left_out, read_json, readable, words_of

_MOST_WORDS = 5  # all of them must be in a filing
_MOST_HITS = 10
_MOST_PAGES = 2
_DAY_CHARS = len("2000-01-01")
_ARCHIVE = "https://www.sec.gov/Archives/edgar/data"
_FORMS = {
    "10-K": "annual report",
    "10-Q": "quarterly report",
    "8-K": "current report",
    "20-F": "annual report of a foreign issuer",
    "6-K": "report of a foreign issuer",
    "S-1": "registration statement",
    "DEF 14A": "proxy statement",
}
_FORM = re.compile(
    r"(?<![A-Za-z0-9-])(10-K|10-Q|8-K|20-F|6-K|S-1|DEF 14A)(?![A-Za-z0-9-])", re.IGNORECASE
)
_ID = re.compile(r"([0-9]{10}-[0-9]{2}-[0-9]{6}):([A-Za-z0-9][A-Za-z0-9._-]{0,150})")
_FILER = re.compile(r"^(.{1,200}?)\s*(?:\(([^()]{1,60})\))?\s*\(CIK ([0-9]{1,10})\)\s*$")


class _Source(Struct, frozen=True):
    ciks: list[str] = []
    display_names: list[str] = []
    form: str = ""
    file_date: str = ""
    period_ending: str | None = None
    file_type: str | None = None
    file_description: str | None = None


class _Hit(Struct, frozen=True, rename={"id": "_id", "source": "_source"}):
    id: str
    source: _Source


class _Total(Struct, frozen=True):
    value: int | None = None


class _Hits(Struct, frozen=True):
    hits: list[object]
    total: _Total = _Total()


class _Body(Struct, frozen=True):
    hits: _Hits


class _Filer(Struct, frozen=True):
    name: str
    tickers: str = ""
    cik: str = ""


class Edgar:
    """Filings of companies with the United States Securities and Exchange Commission."""

    name: str = "edgar"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search of filings that hold all of the first words; a form that is named is a filter."""
        forms = list(dict.fromkeys(form.upper() for form in _FORM.findall(ask.text)))
        words = [word for word in words_of(ask, most=12) if word.upper() not in forms]
        fields = {"q": " ".join(words[:_MOST_WORDS]) or "annual report"}
        days = days_of(ask.freshness)
        if days:
            fields |= {"dateRange": "custom", "startdt": days[0], "enddt": days[1]}
        if forms:
            fields["forms"] = ",".join(forms)
        url = address(self._config, self._config.endpoint, fields, safe=",")
        return (call(self._config, self.name, url, headers=self._from()),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn hits into one sentence each, and ask for the pages of the first ones.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error without hits.
        """
        del request
        found = read_json(reply, _Body).hits
        hits = [hit for hit in readable(found.hits, _Hit) if _address(hit)]
        best = hits[:_MOST_HITS]
        pages = [_address(hit) for hit in best if _address(hit).endswith((".htm", ".html"))]
        return Parsed(
            documents=tuple(self._document(hit, reply) for hit in best),
            requests=tuple(self._page(each) for each in pages[:_MOST_PAGES]),
            total=found.total.value,
            note=left_out(len(found.hits), len(hits), "without a filing's address"),
        )

    def _page(self, url: str) -> Request:
        return structs.replace(page(self._config, self.name, url), headers=self._from())

    def _from(self) -> dict[str, str]:
        # RFC 9110, 10.1.2: the address of who is responsible for a robot.
        return {"from": self._config.mailto} if self._config.mailto else {}

    def _document(self, hit: _Hit, reply: Reply) -> Document:
        filer, filed = _filer(hit.source), iso(hit.source.file_date)
        return make_document(
            url=_address(hit),
            title=f"{filer.name}: form {_form(hit.source)}" + (f", {filed}" if filed else ""),
            text=_text(hit.source, filer, filed),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=filed,
                date_kind="record" if filed else "none",
                authors=(Author(literal=filer.name),),
                publisher="U.S. Securities and Exchange Commission",
                work_type="report",
                source_type=self._config.source_type,
                signals=("filed_by_the_company",),
            ),
        )


def _address(hit: _Hit) -> str:
    """Return the address of a filing's document: archive, number of the filer, number of the filing, file."""
    found = _ID.fullmatch(hit.id)
    cik = next((each.lstrip("0") for each in hit.source.ciks if each.isdecimal()), "")
    if not found or not cik:
        return ""
    return f"{_ARCHIVE}/{cik}/{found[1].replace('-', '')}/{quote(found[2])}"


def _filer(source: _Source) -> _Filer:
    whole = " ".join(next(iter(source.display_names), "").split())
    found = _FILER.match(whole)
    if not found:
        return _Filer(whole or "An unnamed filer")
    return _Filer(found[1], found[2] or "", found[3])


def _form(source: _Source) -> str:
    return source.form or source.file_type or "unknown"


def _text(source: _Source, filer: _Filer, filed: str) -> str:
    form = _form(source)
    kind = f" ({_FORMS[form]})" if form in _FORMS else ""
    on = f" on {filed}" if len(filed) == _DAY_CHARS else f" in {filed}" if filed else ""
    end = iso(source.period_ending)
    lines = [f"{filer.name} filed form {form}{kind} with the SEC{on}."]
    if len(end) == _DAY_CHARS:
        lines.append(f"The filing is for the period that ended on {end}.")
    if filer.tickers:
        lines.append(f"{filer.name} trades as {filer.tickers}.")
    if filer.cik:
        lines.append(f"The Central Index Key of {filer.name} is {filer.cik.lstrip('0')}.")
    if source.file_description:
        lines.append(f"The document is described as: {source.file_description}.")
    return "\n".join(lines)
