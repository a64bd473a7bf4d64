"""hn.algolia.com: the search of Hacker News.

Strict as Algolia is: an unknown parameter, a filter that is none, and numbers out of range are 400 with a message. More
than a thousand hits cannot be reached by any page. When rates are enforced, ten thousand requests an hour.
"""

import re
import tomllib
from datetime import datetime
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.corpus import FOLDER
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.library import Pace
from infra.loopback_web.search import Index

_KNOWN = {"query", "tags", "numericFilters", "page", "hitsPerPage", "advancedSyntax"}
_KNOWN |= {"typoTolerance", "restrictSearchableAttributes", "attributesToRetrieve"}
_MAX_HITS = 1000
_PER_HOUR = 10_000
_HOUR_MS = 3_600_000
_FILTER = re.compile(r"(created_at_i|points|num_comments)(<=|>=|<|>|=)(\d{1,12})")
_TAG = re.compile(r"story|comment|ask_hn|show_hn|author_\w+|story_\d+")


class Post(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A story with a link or a text, or a comment on a `story`; texts are HTML, `created` an ISO time."""

    id: int
    author: str
    created: str
    title: str = ""
    url: str = ""
    text: str = ""
    story: str = ""
    comment: str = ""
    points: int | None = None
    comments: int | None = None


@lru_cache(maxsize=1)
def posts() -> tuple[Post, ...]:
    """Return all posts."""
    rows = tomllib.loads((FOLDER / "hackernews.toml").read_text("utf-8"))["post"]
    return msgspec.convert(rows, tuple[Post, ...])


class HackerNews:
    """Stories and comments."""

    def __init__(self, *, enforce_pace: bool = False) -> None:
        """Index titles and texts."""
        self._index = Index(
            [(each.title, f"{each.text} {each.comment} {each.url}") for each in posts()]
        )
        self._pace = Pace(_PER_HOUR, _HOUR_MS, enforced=enforce_pace)

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path not in {"/api/v1/search", "/api/v1/search_by_date"}:
            return _refused(404, "Not Found")
        if self._pace.refuses(ask.now_ms):
            return exchange.text("Too Many Requests\n", status=429)
        fields = ask.fields
        wrong = _wrong(fields)
        return _refused(400, wrong) if wrong else self._search(fields, by_date="date" in ask.path)

    def _search(self, fields: dict[str, str], *, by_date: bool) -> Answer:
        query = fields.get("query", "")
        ranked = self._index.rank(query, share=1.0) if query else range(len(posts()))
        found = [posts()[number] for number in ranked if _passes(posts()[number], fields)]
        if by_date:
            found.sort(key=lambda post: post.created, reverse=True)
        size, page = int(fields.get("hitsPerPage", "20")), int(fields.get("page", "0"))
        reachable = found[:_MAX_HITS]
        return exchange.json(
            {
                "hits": [_hit(each) for each in reachable[page * size : (page + 1) * size]],
                "nbHits": len(found),
                "page": page,
                "nbPages": -(-len(reachable) // max(1, size)),
                "hitsPerPage": size,
                "exhaustiveNbHits": True,
                "query": query,
                "processingTimeMS": 1,
            }
        )


def _wrong(fields: dict[str, str]) -> str:
    for name in sorted(fields.keys() - _KNOWN):
        return f"Unknown parameter: {name}"
    for name, most in (("hitsPerPage", _MAX_HITS), ("page", _MAX_HITS)):
        value = fields.get(name, "1")
        if not value.isdecimal() or int(value) > most:
            return f"{name} must be between 0 and {most}"
    filters = filter(None, fields.get("numericFilters", "").split(","))
    if not all(_FILTER.fullmatch(each) for each in filters):
        return "invalid numericFilters"
    tags = filter(None, re.split(r"[(),]+", fields.get("tags", "")))
    return "" if all(_TAG.fullmatch(each) for each in tags) else "invalid tags"


def _passes(post: Post, fields: dict[str, str]) -> bool:
    figures = {
        "created_at_i": _seconds(post),
        "points": post.points or 0,
        "num_comments": post.comments or 0,
    }
    filters = _FILTER.findall(fields.get("numericFilters", ""))
    return _has_tags(post, fields.get("tags", "")) and all(
        _holds(figures[name], sign, int(value)) for name, sign, value in filters
    )


def _holds(figure: int, sign: str, value: int) -> bool:
    return (
        (sign in {"<", "<="} and figure < value)
        or (sign in {">", ">="} and figure > value)
        or ("=" in sign and figure == value)
    )


def _has_tags(post: Post, tags: str) -> bool:
    """Read `a,(b,c)` as a and (b or c)."""
    own = {"comment" if post.comment else "story", f"author_{post.author}"}
    own |= {"ask_hn"} if post.title.startswith("Ask HN") else set()
    groups = re.findall(r"\(([^)]*)\)|([^(),]+)", tags)
    return all(own & set((group or single).split(",")) for group, single in groups)


def _seconds(post: Post) -> int:
    return int(datetime.fromisoformat(post.created).timestamp())


def _hit(post: Post) -> dict[str, object]:
    kind = "comment" if post.comment else "story"
    return {
        "objectID": str(post.id),
        "title": post.title or None,
        "url": post.url or None,
        "author": post.author,
        "points": post.points,
        "num_comments": post.comments,
        "story_text": post.text or None,
        "comment_text": post.comment or None,
        "story_title": post.story or None,
        "created_at": post.created,
        "created_at_i": _seconds(post),
        "_tags": [kind, f"author_{post.author}"],
    }


def _refused(status: int, message: str) -> Answer:
    return exchange.json({"message": message, "status": status}, status=status, complaint=message)
