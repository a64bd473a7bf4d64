"""services.nvd.nist.gov: the CVE API 2.0; api.osv.dev: vulnerabilities by number.

Strict as the real ones are. NVD: a parameter or number it does not accept is 404 without a body and with the reason in
a `message` header; when rates are enforced, the sixth request within thirty seconds is 403 without any other sign. OSV:
an unknown number is 404 with a gRPC code, searching is POST and not served here.
"""

import tomllib
from functools import lru_cache
from urllib.parse import unquote

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.search import Index

_KNOWN = {"cveId", "keywordSearch", "keywordExactMatch", "resultsPerPage", "startIndex", "cweId"}
_KNOWN |= {"pubStartDate", "pubEndDate", "lastModStartDate", "lastModEndDate", "noRejected"}
_MAX_RESULTS = 2000
_PER_WINDOW, _WINDOW_MS = 5, 30_000


class Vulnerability(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A vulnerability as both registers know it; without `ghsa` it is not in the register of packages."""

    cve: str
    published: str
    status: str
    description: str
    references: list[str]
    ghsa: str = ""
    summary: str = ""
    score: float | None = None
    severity: str = ""
    vector: str = ""
    weakness: str = ""
    package: str = ""
    ecosystem: str = ""
    introduced: str = ""
    fixed: str = ""


@lru_cache(maxsize=1)
def vulnerabilities() -> tuple[Vulnerability, ...]:
    """Return all vulnerabilities."""
    rows = tomllib.loads((FOLDER / "vulnerabilities.toml").read_text("utf-8"))["vulnerability"]
    return msgspec.convert(rows, tuple[Vulnerability, ...])


class Nvd:
    """The national register."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Index descriptions."""
        self._index = Index([(each.cve, each.description) for each in vulnerabilities()])
        self._pace = Pace(_PER_WINDOW, _WINDOW_MS, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if self._pace.refuses(ask.now_ms):
            return Answer(status=403)
        if ask.path.rstrip("/") != "/rest/json/cves/2.0":
            return _refused("Invalid request")
        fields = ask.fields
        wrong = _wrong(fields)
        return _refused(wrong) if wrong else self._found(fields)

    def _found(self, fields: dict[str, str]) -> Answer:
        found = list(vulnerabilities())
        if "cveId" in fields:
            found = [each for each in found if each.cve == fields["cveId"]]
        if "keywordSearch" in fields:
            ranked = self._index.rank(fields["keywordSearch"], share=1.0)
            found = [each for n in ranked if (each := vulnerabilities()[n]) in found]
        size, start = int(fields.get("resultsPerPage", "2000")), int(fields.get("startIndex", "0"))
        return exchange.json(
            {
                "resultsPerPage": len(found[start : start + size]),
                "startIndex": start,
                "totalResults": len(found),
                "format": "NVD_CVE",
                "version": "2.0",
                "timestamp": "2026-06-01T00:00:00.000",
                "vulnerabilities": [{"cve": _cve(each)} for each in found[start : start + size]],
            }
        )


def _wrong(fields: dict[str, str]) -> str:
    for name in sorted(fields.keys() - _KNOWN):
        return f"Invalid {name} parameter."
    if "cveId" in fields and not fields["cveId"].startswith("CVE-"):
        return "Invalid cveId."
    for name, most in (("resultsPerPage", _MAX_RESULTS), ("startIndex", 1_000_000)):
        value = fields.get(name, "1")
        if not value.isdecimal() or int(value) > most:
            return f"Invalid {name} parameter."
    dates = {name for name in ("pubStartDate", "pubEndDate") if name in fields}
    return "" if len(dates) in {0, 2} else "Both pubStartDate and pubEndDate are required."


def _refused(reason: str) -> Answer:
    return Answer(status=404, headers={"message": reason}, complaint=reason)


def _cve(vulnerability: Vulnerability) -> dict[str, object]:
    metrics: dict[str, object] = {}
    if vulnerability.score is not None:
        cvss = {"version": "3.1", "vectorString": vulnerability.vector}
        cvss_data = {
            **cvss,
            "baseScore": vulnerability.score,
            "baseSeverity": vulnerability.severity,
        }
        metric = {"source": "nvd@nist.gov", "type": "Primary", "cvssData": cvss_data}
        metrics["cvssMetricV31"] = [metric]
    kind = [{"lang": "en", "value": vulnerability.weakness}]
    return {
        "id": vulnerability.cve,
        "sourceIdentifier": "security@merrin.example",
        "published": vulnerability.published,
        "lastModified": vulnerability.published,
        "vulnStatus": vulnerability.status,
        "descriptions": [{"lang": "en", "value": vulnerability.description}],
        "metrics": metrics,
        **({"weaknesses": [{"type": "Primary", "description": kind}]} if kind[0]["value"] else {}),
        "references": [{"url": url, "source": "x"} for url in vulnerability.references],
    }


def osv(ask: Ask) -> Answer:
    """Answer for api.osv.dev."""
    if ask.method not in {"GET", "HEAD"}:
        return exchange.json({"code": 12, "message": "Method Not Allowed"}, status=405)
    number = unquote(ask.path.removeprefix("/v1/vulns/"))
    found = next(
        (each for each in vulnerabilities() if number in {each.cve, each.ghsa} and each.ghsa), None
    )
    if found is None or not ask.path.startswith("/v1/vulns/"):
        return exchange.json(
            {"code": 5, "message": "Bug not found."}, status=404, complaint="unknown"
        )
    events = [{"introduced": found.introduced}, {"fixed": found.fixed}]
    other = found.ghsa if number == found.cve else found.cve
    return exchange.json(
        {
            "id": number,
            "summary": found.summary,
            "details": found.description,
            "aliases": [other],
            "modified": f"{found.published[:19]}Z",
            "published": f"{found.published[:19]}Z",
            "references": [{"type": "WEB", "url": url} for url in found.references],
            "affected": [
                {
                    "package": {"name": found.package, "ecosystem": found.ecosystem},
                    "ranges": [{"type": "SEMVER", "events": events}],
                }
            ],
            "schema_version": "1.6.0",
        }
    )
