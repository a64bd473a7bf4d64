"""The registry as the workers see it, with each source's last outcome laid over it."""

from collections.abc import Sequence
from functools import lru_cache
from typing import TYPE_CHECKING, cast

import msgspec
from signal_search.contracts.source import SourceView
from signal_search.errors import Invalid

from infra import keys
from infra.clock import Clock
from infra.redis import store_errors, values_of

if TYPE_CHECKING:
    from redis import Redis

_VIEWS = msgspec.json.Decoder(tuple[SourceView, ...])
_MAX_HEALTH = 64
_KEPT_S = 5.0  # how long the ids of sources are remembered


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


class KnownSources:
    """The sources that the workers know, remembered for a few seconds: nearly every submission names some."""

    def __init__(self, redis: "Redis", clock: Clock) -> None:
        """Remember nothing yet."""
        self._redis = redis
        self._clock = clock
        self._ids: frozenset[str] = frozenset()
        self._until_s = 0.0

    def refusals(self, lists: Sequence[Named]) -> list[Invalid | None]:
        """Return for each list of names whether it is refused for one that no worker knows.

        Addresses (site:URL, feed:URL, a domain) are not looked up. While no worker has ever started, nothing is known
        and nothing refused: the planner will. Nor is a source that was taken away a moment ago.

        Raises:
            StoreFailed: when the store does not answer.
        """
        wanted = [
            [each for each in names if ":" not in each and "." not in each]
            for names, _field in lists
        ]
        known = self._known({each for names in wanted for each in names})
        return [
            Invalid("There is no such source.", field=field)
            if known and not known.issuperset(names)
            else None
            for names, (_names, field) in zip(wanted, lists, strict=True)
        ]

    def _known(self, wanted: set[str]) -> frozenset[str]:
        """Return all ids; a name is never refused by what is remembered, but looked up again."""
        now_s = self._clock.monotonic()
        if wanted and (now_s >= self._until_s or not wanted <= self._ids):
            self._ids = frozenset(each.id for each in _registry(self._redis))
            self._until_s = now_s + _KEPT_S
        return self._ids


def _text(health: bytes) -> str:
    return health.decode("utf-8", "replace")[:_MAX_HEALTH]
