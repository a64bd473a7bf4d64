"""The addresses that are treated apart before the framework sees them, however a caller spells them."""

from typing import Final, Literal

from api_gateway.asgi import Scope
from api_gateway.compat.refusals import Face

GENERATE: Final = "/v1/scoring/generate"
ADMIN: Final = "/v1/admin/"
RESEARCH: Final = "/v1/research/"
COMPAT: Final = "/compat/"
TAVILY_SEARCH: Final = "/compat/tavily/search"
SEARXNG_SEARCH: Final = "/compat/searxng/search"
FIRECRAWL: Final = "/compat/firecrawl"

Kind = Literal["generate", "search"]
_SLOTTED: Final[dict[str, Kind]] = {
    GENERATE: "generate",
    "/v1/search": "search",
    TAVILY_SEARCH: "search",
    SEARXNG_SEARCH: "search",
    f"{FIRECRAWL}/v2/search": "search",
}
_ASKING: Final = frozenset({"GET", "HEAD", "POST"})
_FACES: Final[dict[str, Face]] = {
    "tavily": "tavily",
    "searxng": "searxng",
    "firecrawl": "firecrawl",
}


def plain(path: str) -> str:
    """Return a path without empty parts: the framework takes `//v1/search/` for `/v1/search` too."""
    if path.startswith("/") and not path.endswith("/") and "//" not in path:
        return path
    return "/" + "/".join(part for part in path.split("/") if part)


def kind_of(scope: Scope) -> Kind | None:
    """Return which slots a request needs, None for none."""
    is_asking = scope["method"] == "POST" or is_form_search(scope)
    return _SLOTTED.get(plain(scope["path"])) if is_asking else None


def is_form_search(scope: Scope) -> bool:
    """Return whether a request searches as a form does: every method makes a job, and a body is no JSON."""
    return plain(scope.get("path", "")) == SEARXNG_SEARCH and scope["method"] in _ASKING


def face_of(scope: Scope) -> Face | None:
    """Return in which other API's words a request is answered, None for our own."""
    path = plain(scope.get("path", ""))
    return (
        _FACES.get(path.removeprefix(COMPAT).partition("/")[0]) if path.startswith(COMPAT) else None
    )


def is_generation(scope: Scope) -> bool:
    """Return whether every answer to this request tells the tokens of a model."""
    return plain(scope["path"]) == GENERATE


def is_research(scope: Scope) -> bool:
    """Return whether only a token with a scope of research memory finds anything here."""
    return f"{plain(scope.get('path', ''))}/".startswith(RESEARCH)


def is_admin(scope: Scope) -> bool:
    """Return whether only an administrator may ask this."""
    return f"{plain(scope.get('path', ''))}/".startswith(ADMIN)
