"""How the emulated search services read a JSON body: every field has a type, and no other field is known."""

from collections.abc import Mapping
from typing import Any

import msgspec

from infra.loopback_web.exchange import Ask

Shape = Mapping[str, type | tuple[type, ...]]


def read(ask: Ask) -> dict[str, Any] | None:
    """Return the object in a JSON body, None when it is none or was not declared as JSON."""
    if not ask.headers.get("content-type", "").startswith("application/json"):
        return None
    try:
        return msgspec.json.decode(ask.body, type=dict[str, Any])
    except msgspec.MsgspecError:
        return None


def wrong_field(body: Mapping[str, Any], shape: Shape) -> str:
    """Return the first field that is unknown or of another type, or nothing. True and false are no numbers."""
    for name, value in body.items():
        wanted = shape.get(name, ())
        kinds = wanted if isinstance(wanted, tuple) else (wanted,)
        if not isinstance(value, kinds) or (isinstance(value, bool) and bool not in kinds):
            return name
    return ""


def bearer(ask: Ask) -> str:
    """Return the token of an Authorization header, or nothing."""
    scheme, _, token = ask.headers.get("authorization", "").partition(" ")
    return token if scheme.lower() == "bearer" else ""
