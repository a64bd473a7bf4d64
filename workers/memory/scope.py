"""The scope of a memory: five trimmed names, a name for files, and the check at every door."""

import hashlib
from collections.abc import Mapping
from typing import Final

import msgspec
from msgspec import structs
from signal_search.contracts.research import EvidenceChunk, ScopeKey
from signal_search.errors import Invalid

PARTS: Final = tuple(field.name for field in structs.fields(ScopeKey))


def make_scope(values: Mapping[str, object]) -> ScopeKey:
    """Return the scope with these five names, blanks around them taken off.

    Raises:
        Invalid: a name is missing, no text, empty, too long or has control characters; `field` says which.
    """
    return ScopeKey(**{part: _part(part, values.get(part)) for part in PARTS})


def _part(name: str, value: object) -> str:
    trimmed = value.strip() if isinstance(value, str) else value
    try:
        checked: str = msgspec.convert(trimmed, type=ScopeKey.__annotations__[name])
        checked.encode()
    except (msgspec.ValidationError, UnicodeEncodeError) as error:
        raise Invalid(
            "A name of the scope is missing or not valid.", field=f"scope.{name}"
        ) from error
    return checked


def scope_digest(scope: ScopeKey) -> str:
    """Return the SHA-256 hex digest of the five names as compact JSON in their order: a file name of fixed length."""
    return hashlib.sha256(msgspec.json.encode(scope)).hexdigest()


def belongs(chunk: EvidenceChunk, scope: ScopeKey) -> bool:
    """Tell whether a candidate is of exactly this scope."""
    return type(chunk.scope) is ScopeKey and chunk.scope == scope
