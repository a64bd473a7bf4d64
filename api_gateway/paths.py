"""The addresses that are treated apart before the framework sees them, however a caller spells them."""

from typing import Final, Literal

from api_gateway.asgi import Scope

GENERATE: Final = "/v1/scoring/generate"
ADMIN: Final = "/v1/admin/"

Kind = Literal["generate", "search"]
_SLOTTED: Final[dict[str, Kind]] = {GENERATE: "generate", "/v1/search": "search"}


def plain(path: str) -> str:
    """Return a path without empty parts: the framework takes `//v1/search/` for `/v1/search` too."""
    return "/" + "/".join(part for part in path.split("/") if part)


def kind_of(scope: Scope) -> Kind | None:
    """Return which slots a request needs, None for none."""
    return _SLOTTED.get(plain(scope["path"])) if scope["method"] == "POST" else None


def is_generation(scope: Scope) -> bool:
    """Return whether every answer to this request tells the tokens of a model."""
    return plain(scope["path"]) == GENERATE


def is_admin(scope: Scope) -> bool:
    """Return whether only an administrator may ask this."""
    return f"{plain(scope.get('path', ''))}/".startswith(ADMIN)
