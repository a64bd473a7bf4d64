"""crates.io: the search for crates.

Strict as the real one is: no User-Agent is 403, a page larger than a hundred 400 with `errors`; unknown parameters are
passed over, which is a complaint in the log. When rates are enforced, a second request within a second is 429 with
Retry-After (the crawler policy: one request a second).
"""

import tomllib
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.search import Index

_KNOWN = {"q", "per_page", "page", "sort", "category", "keyword", "letter", "user_id"}
_SORTS = {"relevance", "downloads", "recent-downloads", "recent-updates", "new", "alpha"}
_MAX_PER_PAGE = 100
_PAUSE_MS = 1000


class Crate(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A package; times are ISO."""

    name: str
    description: str
    newest: str
    stable: str
    created: str
    updated: str
    downloads: int
    recent: int
    repository: str | None = None
    documentation: str | None = None
    keywords: list[str] = []


@lru_cache(maxsize=1)
def crates() -> tuple[Crate, ...]:
    """Return all crates."""
    rows = tomllib.loads((FOLDER / "cratesio.toml").read_text("utf-8"))["crate"]
    return msgspec.convert(rows, tuple[Crate, ...])


class CratesIo:
    """A registry of packages."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Index names, descriptions and keywords."""
        self._index = Index(
            [(_spaced(each.name), f"{each.description} {each.keywords}") for each in crates()]
        )
        self._pace = Pace(1, _PAUSE_MS, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if not ask.headers.get("user-agent"):
            rule = "We require that all requests include a `User-Agent` header."
            return exchange.text(f"{rule}\n", status=403)
        if ask.path != "/api/v1/crates":
            return _refused(404, "Not Found")
        if self._pace.refuses(ask.now_ms):
            return exchange.json(
                {"errors": [{"detail": "You have sent too many requests"}]},
                status=429,
                retry_after="1",
            )
        return self._search(ask.fields)

    def _search(self, fields: dict[str, str]) -> Answer:
        size, page = fields.get("per_page", "10"), fields.get("page", "1")
        if not (size.isdecimal() and page.isdecimal()) or int(size) < 1:
            return _refused(400, "invalid digit found in string")
        if int(size) > _MAX_PER_PAGE:
            return _refused(400, "cannot request more than 100 items")
        if fields.get("sort", "relevance") not in _SORTS:
            return _refused(400, "unknown sort")
        query = fields.get("q", "")
        ranked = self._index.rank(_spaced(query), share=1.0) if query else range(len(crates()))
        found = sorted((crates()[n] for n in ranked), key=lambda crate: crate.name != query)
        start = (int(page) - 1) * int(size)
        body = {
            "crates": [_shown(each, query) for each in found[start : start + int(size)]],
            "meta": {"total": len(found), "next_page": None, "prev_page": None},
        }
        unknown = ", ".join(sorted(fields.keys() - _KNOWN))
        return exchange.json(body, complaint=f"passed over: {unknown}" if unknown else "")


def _spaced(name: str) -> str:
    return name.replace("-", " ").replace("_", " ")


def _shown(crate: Crate, query: str) -> dict[str, object]:
    return {
        "id": crate.name,
        "name": crate.name,
        "description": crate.description,
        "newest_version": crate.newest,
        "max_version": crate.newest,
        "max_stable_version": crate.stable,
        "created_at": crate.created,
        "updated_at": crate.updated,
        "downloads": crate.downloads,
        "recent_downloads": crate.recent,
        "repository": crate.repository,
        "documentation": crate.documentation,
        "homepage": None,
        "exact_match": crate.name == query,
    }


def _refused(status: int, detail: str) -> Answer:
    return exchange.json({"errors": [{"detail": detail}]}, status=status, complaint=detail)
