"""One address of the interface, as data."""

from typing import Any

from msgspec import Struct

Json = dict[str, Any]


class Endpoint(Struct, frozen=True, kw_only=True):
    """One row of the table. `answers` maps a status to the body's type or types, or to a media type."""

    method: str
    path: str
    summary: str
    answers: dict[int, object]
    refusals: tuple[int, ...] = ()
    parameters: tuple[Json, ...] = ()
    body: type[Struct] | None = None
    is_public: bool = False


def query(name: str, schema: Json, *, required: bool = False) -> Json:
    """Return the description of a query parameter."""
    return {"name": name, "in": "query", "required": required, "schema": schema}


def header(name: str, schema: Json) -> Json:
    """Return the description of a header that may be there."""
    return {"name": name, "in": "header", "required": False, "schema": schema}


def in_path(name: str, schema: Json) -> Json:
    """Return the description of a part of the path."""
    return {"name": name, "in": "path", "required": True, "schema": schema}
