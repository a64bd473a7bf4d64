"""CourtListener search: opinions of courts of the United States, with citation, court and day; asked anonymously.

The search returns a passage of each opinion, marked by the signal `snippet`; whole opinions need an account.
"""

import re
from urllib.parse import quote

from msgspec import Struct, field
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import days_of, iso, left_out, line, lines, read_json, readable, words_of

_MOST_WORDS = 8
_SITE = "https://www.courtlistener.com"
_PATH = re.compile(r"/[A-Za-z0-9/_.%-]{1,300}")
_MARK = re.compile(r"</?mark>")  # around the words that matched
# Volume, reporter, page: 410 U.S. 113, 93 S. Ct. 705, 12 F.4th 3.
_CITATION = re.compile(
    r"\b[0-9]{1,4} (?:[A-Z][A-Za-z.]{0,9} ?){1,3}(?:[0-9][a-z]{2} )?[0-9]{1,5}\b"
)


_MEANINGS = {
    401: "it wants an account's token (a row of your own with key_place = 'header:Authorization')"
}


class _Opinion(Struct, frozen=True):
    snippet: str | None = None


class _Case(Struct, frozen=True):
    name: str = field(name="caseName")
    path: str = field(name="absolute_url")
    filed: str | None = field(name="dateFiled", default=None)
    docket: str | None = field(name="docketNumber", default=None)
    cited: int | None = field(name="citeCount", default=None)
    court: str | None = None
    judge: str | None = None
    status: str | None = None
    citation: list[str] | None = None
    opinions: list[object] | None = None


class _Body(Struct, frozen=True):
    results: list[object]
    count: int | None = None


class CourtListener:
    """Opinions of federal and state courts."""

    name: str = "courtlistener"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search of opinions: for the citation in the question, else for its words, best matches first.

        A freshness `A..B` becomes a range of the day an opinion was filed.
        """
        cited = _CITATION.search(ask.text)
        words = " ".join(words_of(ask, most=_MOST_WORDS, hyphens=False))
        fields = {
            "q": f'"{cited[0]}"' if cited else words or "court",
            "type": "o",
            "order_by": "score desc",
        }
        days = days_of(ask.freshness)
        if days:
            fields |= {"filed_after": days[0], "filed_before": days[1]}
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url, meanings=_MEANINGS),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn cases into documents: the record as sentences, then the passages that matched.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, a message instead of results.
        """
        del request
        body = read_json(reply, _Body)
        cases = [each for each in readable(body.results, _Case) if _PATH.fullmatch(each.path)]
        return Parsed(
            documents=tuple(self._document(case, reply) for case in cases),
            total=body.count,
            note=left_out(len(body.results), len(cases)),
        )

    def _document(self, case: _Case, reply: Reply) -> Document:
        filed, name = iso(case.filed), line(case.name) or "Unnamed case"
        passages = [
            lines(_MARK.sub("", each.snippet or ""))
            for each in readable(case.opinions or (), _Opinion)
        ]
        text = "\n\n".join(filter(None, ["\n".join(_facts(case, name, filed)), *passages]))
        return make_document(
            url=_SITE + quote(case.path, safe="/%"),
            title=", ".join(filter(None, (name, next(iter(case.citation or ()), "")))),
            text=text,
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=filed,
                date_kind="record" if filed else "none",
                authors=(Author(literal=line(case.court)),) if case.court else (),
                container=line(case.court),
                publisher="Free Law Project",
                work_type="case",
                source_type=self._config.source_type,
                signals=("snippet",),
            ),
        )


def _facts(case: _Case, name: str, filed: str) -> list[str]:
    court = f" by the {line(case.court).removeprefix('The ')}" if case.court else ""
    on = f" on {filed}" if len(filed) == 10 else f" in {filed}" if filed else ""
    times = "" if case.cited is None else f"{case.cited:,} time" + ("" if case.cited == 1 else "s")
    told = [
        f"{name} was decided{court}{on}." if court or on else f"{name} is a court case.",
        f"Its citation is {'; '.join(case.citation)}." if case.citation else "",
        f"Its docket number is {line(case.docket)}." if case.docket else "",
        f"The opinion is by {line(case.judge)}." if case.judge else "",
        f"Its status is {line(case.status).lower()}." if case.status else "",
        f"Later opinions cite it {times}." if times else "",
    ]
    return [each for each in told if each]
