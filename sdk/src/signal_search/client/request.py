"""Arguments of `retrieve` -> a checked request, so that a mistake is told before anything is sent."""

import re
from collections.abc import Mapping, Sequence
from typing import TypeVar

import msgspec
from msgspec import structs

from signal_search.contracts.budget import Budget
from signal_search.contracts.delegation import DelegationReply
from signal_search.contracts.query import (
    Constraints,
    DelegationKind,
    Depth,
    RetrieveRequest,
    SourcePrefs,
)
from signal_search.errors import Invalid

T = TypeVar("T")

ConstraintsLike = Constraints | Mapping[str, object] | None
BudgetLike = int | Budget | Mapping[str, int] | None

_PATH = re.compile(r" - at `\$\.?([\w.\[\]]*)`$")


def build_request(
    query: str,
    constraints: ConstraintsLike = None,
    budget: BudgetLike = None,
    *,
    depth: Depth | None = None,
    sources: Sequence[str] | None = None,
    delegate: Sequence[DelegationKind | str] = (),
) -> RetrieveRequest:
    """Return the request; `sources` are the only ones to ask and take the place of `source_prefs.only`.

    delegate: what the caller answers while the job runs.

    Raises:
        Invalid: a value is out of its bounds; `field` says which.
    """
    wanted = checked(constraints if constraints is not None else {}, Constraints, "constraints")
    if sources is not None:
        wanted = structs.replace(wanted, source_prefs=_only(wanted.source_prefs, sources))
    given = {
        "query": query,
        "constraints": wanted,
        "budget": budget,
        "depth": depth,
        "delegate": delegate,
    }
    return checked(given, RetrieveRequest, "")


def checked_reply(answer: Mapping[str, object] | None, tokens: int) -> DelegationReply:
    """Return the reply that an answer makes; None declines.

    Raises:
        Invalid: it is no JSON object, or tokens is out of its bounds.
    """
    given = {"answer": answer, "decline": answer is None, "tokens": tokens}
    return checked(given, DelegationReply, "")


def _only(prefs: SourcePrefs, sources: Sequence[str]) -> SourcePrefs:
    if isinstance(sources, str):
        raise Invalid("sources must be a list of names", field="sources")
    return structs.replace(prefs, only=tuple(sources))


def checked(value: object, kind: type[T], field: str) -> T:
    """Convert by the contract, as the gateway will; msgspec checks bounds when decoding, not when constructing.

    Raises:
        Invalid: with the dotted path of the field, below `field`.
    """
    try:
        return msgspec.convert(msgspec.to_builtins(value), kind)
    except (msgspec.ValidationError, TypeError) as error:
        match = _PATH.search(str(error))
        path = ".".join(filter(None, [field, match[1] if match else ""]))
        raise Invalid("a field of the request is not valid", field=path or None) from error
