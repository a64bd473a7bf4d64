"""The US National Vulnerability Database by its API 2.0: one vulnerability by its CVE number, or several by words.

A rejected number is kept and marked retracted: that it is none is the answer. Refusals (403 when too fast, 404 with the
reason in a header) have no body and are told by their status.
"""

import re

from msgspec import Struct, field
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import NO_WORDS, iso, left_out, line, read_json, readable, size_of, words_of

_MAX_RESULTS = 100
_MAX_IDS = 3
_MAX_WORDS = 3  # every word must be found
_MAX_REFERENCES = 5
_CVE = re.compile(r"(?<![A-Za-z0-9-])CVE-[0-9]{4}-[0-9]{4,7}(?![0-9A-Za-z])", re.IGNORECASE)
_CWE = re.compile(r"CWE-[0-9]{1,5}")
# developers/start-here: a refusal has no body.
_MEANINGS = {403: "asked too fast, or refused", 404: "a parameter or number it does not accept"}
_METRICS = ("cvssMetricV40", "cvssMetricV31", "cvssMetricV30", "cvssMetricV2")


class _Text(Struct):
    lang: str = ""
    value: str = ""


class _Weakness(Struct):
    description: list[_Text] = []


class _Reference(Struct):
    url: str = ""


class _Cvss(Struct):
    version: str = ""
    score: float | None = field(name="baseScore", default=None)
    severity: str = field(name="baseSeverity", default="")
    vector: str = field(name="vectorString", default="")


class _Metric(Struct):
    """A score. The second version of CVSS has its word of severity beside its data, the later ones in them."""

    type: str = ""
    severity: str = field(name="baseSeverity", default="")
    cvss: _Cvss = field(name="cvssData", default_factory=_Cvss)


class _Cve(Struct):
    id: str
    published: str = ""
    status: str = field(name="vulnStatus", default="")
    descriptions: list[_Text] = []
    metrics: dict[str, object] = {}
    weaknesses: list[_Weakness] = []
    references: list[_Reference] = []


class _Entry(Struct):
    cve: _Cve


class _Body(Struct):
    vulnerabilities: list[object]
    total: int | None = field(name="totalResults", default=None)


class Nvd:
    """The register of known vulnerabilities, with their severity."""

    name: str = "nvd"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per CVE number in the question, else a search by words."""
        ids = list(dict.fromkeys(each.upper() for each in _CVE.findall(ask.text)))[:_MAX_IDS]
        if ids:
            return tuple(self._request({"cveId": each}) for each in ids)
        words = " ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS
        size = str(size_of(ask, _MAX_RESULTS))
        return (self._request({"keywordSearch": words, "resultsPerPage": size}),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn entries into documents of description, severity, weaknesses and references.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON.
        """
        body = read_json(reply, _Body)
        entries = readable(body.vulnerabilities, _Entry)
        found = [each.cve for each in entries if _CVE.fullmatch(each.cve.id)]
        return Parsed(
            documents=tuple(self._document(each, reply) for each in found),
            total=body.total,
            note=left_out(len(body.vulnerabilities), len(found), "unreadable"),
        )

    def _request(self, fields: dict[str, str]) -> Request:
        url = address(self._config, self._config.endpoint, fields)
        return call(self._config, self.name, url, meanings=_MEANINGS)

    def _document(self, cve: _Cve, reply: Reply) -> Document:
        published = iso(cve.published)
        return make_document(
            url=f"https://nvd.nist.gov/vuln/detail/{cve.id}",
            title=cve.id,
            text=_text(cve),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=published,
                date_kind="record" if published else "none",
                container="National Vulnerability Database",
                publisher="National Institute of Standards and Technology",
                work_type="dataset",
                source_type=self._config.source_type,
                retracted=cve.status == "Rejected",
            ),
        )


def _text(cve: _Cve) -> str:
    english = (each.value for each in cve.descriptions if each.lang == "en")
    about = line(next(english, ""))
    lines = [f"{cve.id}: {about or 'no description yet'}"]
    lines += _severity(cve)
    kinds = [each.value for weakness in cve.weaknesses for each in weakness.description]
    named = list(dict.fromkeys(kind for kind in kinds if _CWE.fullmatch(kind)))
    if named:
        lines.append(f"The weakness behind {cve.id} is {', '.join(named)}.")
    if iso(cve.published):
        lines.append(f"{cve.id} was published on {iso(cve.published)}.")
    if cve.status == "Rejected":
        lines.append(f"{cve.id} has been rejected and is not a vulnerability.")
    urls = [each.url for each in cve.references if each.url][:_MAX_REFERENCES]
    return "\n".join(lines + [f"Reference: {url}" for url in urls])


def _severity(cve: _Cve) -> list[str]:
    """Return the sentence on the newest kind of CVSS score, the database's own before others'."""
    for kind in _METRICS:
        best = sorted(_metrics(cve.metrics.get(kind)), key=lambda metric: metric.type != "Primary")
        if best and best[0].cvss.score is not None:
            cvss = best[0].cvss
            severity = cvss.severity or best[0].severity
            word = f" ({severity})" if severity else ""
            return [f"The CVSS {cvss.version} base score of {cve.id} is {cvss.score:.1f}{word}."]
    return []


def _metrics(found: object) -> list[_Metric]:
    return readable(found, _Metric) if isinstance(found, list) else []
