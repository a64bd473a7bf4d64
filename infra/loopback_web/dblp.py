"""dblp.org: the publication search.

Strict: unknown parameters and numbers over a thousand are 400 with a page of HTML; every word must match. As in the
real one a list of one author is the author itself, numbers are text, titles are escaped. When rates are enforced, the
second request within a second is 429 with Retry-After and a page of HTML (dblp publishes no figure; this one is a
stand-in).
"""

from html import escape

from infra.loopback_web import exchange
from infra.loopback_web.corpus import Paper
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Library, Pace, disliked, number, register, unknown

_KNOWN = frozenset({"q", "format", "h", "f", "c"})
_MOST = 1_000


class Dblp:
    """The bibliography of computer science."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Serve the papers of computer science of the corpus."""
        self._library = Library(register("computing"))
        self._pace = Pace(1, 1_000, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if self._pace.refuses(ask.now_ms):
            return _page(429, "Too Many Requests", retry_after="30")
        if ask.path != "/search/publ/api":
            return _page(404, "Not Found")
        wrong = _wrong(ask.fields)
        if wrong:
            return disliked(_page(400, "Bad Request"), wrong)
        return self._search(ask.fields)

    def _search(self, fields: dict[str, str]) -> Answer:
        size, first = number(fields, "h", 30), number(fields, "f", 0)
        found = self._library.find(fields.get("q", ""), share=1.0)
        shown = found[first : first + size]
        hits = {
            "@total": str(len(found)),
            "@computed": str(len(found)),
            "@sent": str(len(shown)),
            "@first": str(first),
        }
        listed = {"hit": [_hit(paper) for paper in shown]} if shown else {}
        status = {"@code": "200", "text": "OK"}
        result = {"query": fields.get("q", ""), "status": status, "hits": hits | listed}
        return exchange.json({"result": result})


def _page(status: int, title: str, **headers: str) -> Answer:
    return exchange.page(
        f"<html><head><title>{status} {title}</title></head></html>", status=status, **headers
    )


def _wrong(fields: dict[str, str]) -> str:
    strange = unknown(fields, _KNOWN)
    if strange:
        return f"unknown parameter {strange}"
    numbers = {name: number(fields, name, 0) for name in ("h", "f", "c")}
    bad = [name for name, value in numbers.items() if not 0 <= value <= _MOST]
    if bad:
        return f"{bad[0]} out of range"
    return "" if fields.get("format") == "json" else "only format=json is spoken here"


def _hit(paper: Paper) -> dict[str, object]:
    people = [{"@pid": "99/9901", "text": name} for name in paper.authors]
    key = f"test/{paper.title.split()[0].lower()}{paper.issued[0]}"
    info = {
        "authors": {"author": people[0] if len(people) == 1 else people},
        "title": f"{escape(paper.title)}.",
        "venue": paper.journal,
        "volume": paper.volume,
        "number": paper.issue,
        "pages": paper.page,
        "year": str(paper.issued[0]),
        "type": paper.type,
        "access": "open",
        "key": key,
        "doi": paper.doi,
        "ee": f"https://doi.org/{paper.doi}" if paper.doi else "",
        "url": f"https://dblp.org/rec/{key}",
    }
    return {
        "@score": "1",
        "@id": key,
        "info": {name: value for name, value in info.items() if value},
    }
