"""The registry as the workers see it, with each source's last outcome laid over it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import msgspec
from signal_search.contracts.source import SourceView
from signal_search.errors import Invalid

from infra import keys
from infra.redis import store_errors, values_of

if TYPE_CHECKING:
    from redis import Redis

_VIEWS = msgspec.json.Decoder(tuple[SourceView, ...])
_MAX_HEALTH = 64


def read_sources(redis: "Redis") -> tuple[SourceView, ...]:
    """Return what workers wrote at their start, empty when none has started yet.

    Raises:
        StoreFailed: when the store does not answer.
    """
    views = _registry(redis)
    if not views:
        return ()
    last = values_of(redis, [keys.source_health(each.id) for each in views])
    return tuple(
        view if health is None else msgspec.structs.replace(view, health=_text(health))
        for view, health in zip(views, last, strict=True)
    )


def _registry(redis: "Redis") -> tuple[SourceView, ...]:
    with store_errors():
        raw = cast("bytes | None", redis.get(keys.sources()))
    return _decoded(raw) if raw else ()


@lru_cache(maxsize=2)  # every submission asks, and it changes when workers start
def _decoded(raw: bytes) -> tuple[SourceView, ...]:
    return _VIEWS.decode(raw)


Named = tuple[Sequence[str], str]
"""Names of sources, and the field they stand in."""


def refuse_unknown(redis: "Redis", lists: Sequence[Named]) -> list[Invalid | None]:
    """Return for each list of names whether it is refused for one that no worker knows; the registry is read once.

    Addresses (site:URL, feed:URL, a domain) are not looked up. While no worker has ever started, nothing is known and
    nothing refused: the planner will.

    Raises:
        StoreFailed: when the store does not answer.
    """
    wanted = [
        [each for each in names if ":" not in each and "." not in each] for names, _field in lists
    ]
    known = {each.id for each in _registry(redis)} if any(wanted) else set()
    return [
        Invalid("There is no such source.", field=field)
        if known and not known.issuperset(names)
        else None
        for names, (_names, field) in zip(wanted, lists, strict=True)
    ]


def _text(health: bytes) -> str:
    return health.decode("utf-8", "replace")[:_MAX_HEALTH]
