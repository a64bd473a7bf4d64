"""The parameters of research memory's addresses: a scope by its five names, filters, pages, ids."""

from collections.abc import Mapping
from enum import StrEnum
from typing import Any, TypeVar

import msgspec
from signal_search.contracts.memory import Cursor, RecordId
from signal_search.contracts.research import ScopeKey, ScopePart
from signal_search.errors import Invalid, NotFound

from api_gateway.params import page_limit

T = TypeVar("T", bound=StrEnum)


def scope_in(params: Mapping[str, str]) -> ScopeKey:
    """Return the scope that the five parameters name.

    Raises:
        Invalid: one is missing or not valid; `field` says which.
    """
    return ScopeKey(**{part: _part(params, part) for part in ScopeKey.__struct_fields__})


def _part(params: Mapping[str, str], name: str) -> str:
    if name not in params:
        raise Invalid("This parameter is required.", field=name)
    return _checked(params[name], ScopePart, name)


def choice(params: Mapping[str, str], name: str, kind: type[T]) -> T | None:
    """Return one of an enumeration, None when absent."""
    text = params.get(name)
    if text is None:
        return None
    try:
        return kind(text)
    except ValueError:
        raise Invalid("This is none of the choices.", field=name) from None


def name_in(params: Mapping[str, str], name: str) -> str:
    """Return the id of a record, empty when absent."""
    return _checked(params[name], RecordId, name) if name in params else ""


def listing(params: Mapping[str, str]) -> dict[str, Any]:
    """Return `limit`, 1 to 200, 50 when absent, and `cursor`, as the fields of a listing."""
    cursor = _checked(params.get("cursor", ""), Cursor, "cursor")
    return {"limit": page_limit(params), "cursor": cursor}


def record_id(text: str) -> str:
    """Return an id out of an address.

    Raises:
        NotFound: no record has such an id.
    """
    try:
        return _checked(text, RecordId, "")
    except Invalid:
        raise NotFound from None


def _checked(text: str, kind: Any, field: str) -> str:
    try:
        checked: str = msgspec.convert(text, kind)
        checked.encode()
    except (msgspec.ValidationError, UnicodeEncodeError):
        raise Invalid("This value is not accepted.", field=field) from None
    return checked
