"""api.github.com: the search for repositories and the READMEs of the REST API.

Strict as the real one is: no User-Agent is 403, a missing or too long query 422. `per_page` is cut silently and
unknown parameters are passed over, so both are only complaints in the log. When rates are enforced, the eleventh search
within a minute is 403 with the reset in headers, as for callers without a token.
"""

import base64
import re
import tomllib
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.search import Index

_KNOWN = {"q", "sort", "order", "per_page", "page"}
_SORTS = {"stars", "forks", "help-wanted-issues", "updated"}
_MAX_QUERY_CHARS = 256
_MAX_PER_PAGE = 100
_MAX_RESULTS = 1000
_SEARCHES_PER_MINUTE = 10
_MINUTE_MS = 60_000
_QUALIFIER = re.compile(r"(?:^|\s)(repo|created|language|user|topic|archived):(\S+)")
_README = re.compile(r"/repos/([^/]+/[^/]+)/readme")
_DOCS = "https://docs.github.com/rest/search/search"


class Repository(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A repository; `readme` is Markdown, empty when it has none; times are ISO."""

    id: int
    full_name: str
    description: str
    language: str
    stars: int
    licence: str
    created: str
    pushed: str
    readme: str
    topics: list[str] = []
    archived: bool = False


@lru_cache(maxsize=1)
def repositories() -> tuple[Repository, ...]:
    """Return all repositories."""
    rows = tomllib.loads((FOLDER / "github.toml").read_text("utf-8"))["repository"]
    return msgspec.convert(rows, tuple[Repository, ...])


class GitHub:
    """Repositories of invented people."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Index names, descriptions and topics, as the search does when not told otherwise."""
        texts = [
            (each.full_name, f"{each.description} {' '.join(each.topics)}")
            for each in repositories()
        ]
        self._index = Index(
            [(name.replace("-", " ").replace("/", " "), text) for name, text in texts]
        )
        self._enforce_pace = enforce_pace
        self._window = (0, 0)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return _message(404, "Not Found")
        if not ask.headers.get("user-agent"):
            rules = "Request forbidden by administrative rules. Please make sure your request has a User-Agent header"
            return exchange.text(f"{rules}\n", status=403)
        readme = _README.fullmatch(ask.path)
        if readme:
            return _readme(readme[1])
        if ask.path != "/search/repositories":
            return _message(404, "Not Found")
        return self._limited(ask)

    def _limited(self, ask: Ask) -> Answer:
        start, count = self._window
        if ask.now_ms - start >= _MINUTE_MS:
            start, count = ask.now_ms, 0
        self._window = (start, count + 1)
        left = max(0, _SEARCHES_PER_MINUTE - count - 1)
        headers = {
            "x-ratelimit-limit": str(_SEARCHES_PER_MINUTE),
            "x-ratelimit-remaining": str(left),
            "x-ratelimit-reset": str(-(-(start + _MINUTE_MS) // 1000)),
            "x-ratelimit-resource": "search",
        }
        if self._enforce_pace and count >= _SEARCHES_PER_MINUTE:
            answer = _message(403, "API rate limit exceeded for 127.0.0.1.")
        else:
            answer = self._search(ask.fields)
            headers |= {} if self._enforce_pace else {"x-ratelimit-remaining": "9"}
        return msgspec.structs.replace(answer, headers={**answer.headers, **headers})

    def _search(self, fields: dict[str, str]) -> Answer:
        query = fields.get("q", "").strip()
        if not query:
            return _invalid("missing")
        if len(query) > _MAX_QUERY_CHARS or fields.get("sort", "stars") not in _SORTS:
            return _invalid("invalid")
        size, page = fields.get("per_page", "30"), fields.get("page", "1")
        if not (size.isdecimal() and page.isdecimal()):
            return _invalid("invalid")
        if int(size) * int(page) > _MAX_RESULTS:
            return _message(422, "Only the first 1000 search results are available")
        found = self._found(query)
        number = min(int(size), _MAX_PER_PAGE)
        start = (max(1, int(page)) - 1) * number
        body = {
            "total_count": len(found),
            "incomplete_results": False,
            "items": [_item(each) for each in found[start : start + number]],
        }
        wrong = sorted(fields.keys() - _KNOWN) + (
            [] if int(size) <= _MAX_PER_PAGE else ["per_page"]
        )
        return exchange.json(body, complaint=f"passed over: {', '.join(wrong)}" if wrong else "")

    def _found(self, query: str) -> list[Repository]:
        qualifiers = dict(_QUALIFIER.findall(query))
        words = _QUALIFIER.sub(" ", query).strip()
        everything = range(len(repositories()))
        ranked = self._index.rank(words.replace("-", " "), share=1.0) if words else everything
        found = [repositories()[number] for number in ranked]
        return [each for each in found if _passes(each, qualifiers)]


def _passes(repo: Repository, qualifiers: dict[str, str]) -> bool:
    first, _, last = qualifiers.get("created", "..").partition("..")
    return (
        qualifiers.get("repo", repo.full_name).lower() == repo.full_name.lower()
        and qualifiers.get("language", repo.language).lower() == repo.language.lower()
        and first <= repo.created[:10] <= (last or "9999")
    )


def _item(repo: Repository) -> dict[str, object]:
    owner, _, name = repo.full_name.partition("/")
    return {
        "id": repo.id,
        "name": name,
        "full_name": repo.full_name,
        "html_url": f"https://github.com/{repo.full_name}",
        "description": repo.description,
        "language": repo.language,
        "stargazers_count": repo.stars,
        "topics": repo.topics,
        "license": {"spdx_id": repo.licence} if repo.licence else None,
        "created_at": repo.created,
        "updated_at": repo.pushed,
        "pushed_at": repo.pushed,
        "archived": repo.archived,
        "owner": {"login": owner},
        "score": 1.0,
    }


def _readme(full_name: str) -> Answer:
    repo = next((each for each in repositories() if each.full_name == full_name), None)
    if repo is None or not repo.readme.strip():
        return _message(404, "Not Found")
    packed = base64.encodebytes(repo.readme.strip().encode()).decode()
    return exchange.json(
        {
            "name": "README.md",
            "path": "README.md",
            "type": "file",
            "encoding": "base64",
            "content": packed,
            "html_url": f"https://github.com/{full_name}/blob/main/README.md",
        }
    )


def _invalid(code: str) -> Answer:
    errors = [{"resource": "Search", "field": "q", "code": code}]
    body = {"message": "Validation Failed", "errors": errors, "documentation_url": _DOCS}
    return exchange.json(body, status=422, complaint=f"q: {code}")


def _message(status: int, message: str) -> Answer:
    return exchange.json({"message": message, "documentation_url": _DOCS}, status=status)
