"""`signal-search sources check`: is each enabled source set up right, and with `--live`, does it answer?

Live, each source is asked one small question through the frontier, like a job's: robots.txt, pace and suspensions hold,
and a source that another worker has just asked waits its turn. Nothing of it is a job: no plan, no purse, no log. What
came of it is kept as the source's health.
"""

import itertools
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Final

from msgspec import Struct
from msgspec.structs import replace
from signal_search.contracts.result import SourceOutcome
from signal_search.contracts.source import (
    FetchOutcome,
    FetchState,
    Request,
    SkipReason,
    SourceQuery,
)
from signal_search.errors import AddressRefused

from budget.frontier import Offer, Placed
from infra.clock import iso_until
from infra.embedded_redis import EmbeddedRedis
from infra.ids import digest, job_id
from infra.settings import Settings
from infra.stack import running_stack
from workers.fetch_loop import FetchLoop
from workers.fetching.cache import fingerprint, host_key
from workers.fetching.stored_reply import STALE
from workers.fetching.url_guard import UrlGuard
from workers.pipeline.delivery import unpack_outcome
from workers.pipeline.encoding import encode_request
from workers.pipeline.source_board import post_outcomes
from workers.registry import Registry, Source
from workers.toolbox import Toolbox, open_toolbox

# A question that every catalogue in every subject has something on.
_QUESTION: Final = {"en": "water quality", "zh": "水质"}
# For sources that know things by their number alone.
_NUMBERED: Final = "What is CVE-2021-44228?"
_MAX_HOPS: Final = 3
_LOOK_S: Final = 0.2
_REFUSALS: Final = {
    "late": SkipReason.DEADLINE,
    "full": SkipReason.QUEUE_FULL,
    "suspended": SkipReason.SUSPENDED,
}


class Health(Struct, frozen=True, kw_only=True):
    """How a source did.

    state: ready (set up right, not asked), answered, no_results, refused (by our own policy) or failed (by the world).
    reason: a code; detail: a sentence; until: when it may be asked again, ISO, or empty.
    """

    source_id: str
    state: str
    reason: str = ""
    detail: str = ""
    until: str = ""
    results: int = 0

    @property
    def is_well(self) -> bool:
        """Tell whether nothing needs to be done about it."""
        return self.state in {"ready", "answered", "no_results"}


# --- the configuration alone ------------------------------------------------------------------------------------------


def check_setup(settings: Settings, *, only: Sequence[str] = ()) -> list[Health]:
    """Build the question of each enabled source (or those of `only`) and look where it would go; nothing is sent.

    Raises:
        Invalid: a row is wrong, or `only` names a source that does not exist or cannot be asked here.
    """
    guard = UrlGuard(settings.fetch.ports, settings.loopback)
    return [_set_up(guard, each) for each in _chosen(Registry(settings), only)]


def _chosen(registry: Registry, only: Sequence[str]) -> list[Source]:
    return [registry.source(each) for each in only] or registry.enabled()


def _set_up(guard: UrlGuard, source: Source) -> Health:
    try:
        for request in _requests(source):
            guard.target(request.url)
    except AddressRefused as error:
        return _refused(source.row.id, SkipReason.ADDRESS, error.message)
    return Health(source_id=source.row.id, state="ready")


def _requests(source: Source) -> tuple[Request, ...]:
    """Return what a source makes of the general question or, if that is nothing, of one with a number."""
    asked = source.adapter.build(_question(source))
    return asked or source.adapter.build(SourceQuery(text=_NUMBERED, limit=1))


def _question(source: Source) -> SourceQuery:
    languages = source.row.languages
    language = languages[0] if len(languages) == 1 and languages[0] in _QUESTION else "en"
    words = _QUESTION[language]
    return SourceQuery(text=words, terms=tuple(words.split()), language=language, limit=1)


def _refused(source_id: str, reason: str, detail: str, until_ms: int | None = None) -> Health:
    until = iso_until(until_ms) if until_ms else ""
    return Health(source_id=source_id, state="refused", reason=reason, detail=detail, until=until)


@contextmanager
def with_store(settings: Settings) -> Iterator[Settings]:
    """Give settings that name a store: the configured one, the running stack's, else the data folder's own for a while.

    Raises:
        StoreFailed: no store could be started. Conflict: another process holds the data folder.
    """
    running = running_stack(settings.data_path)
    url = settings.redis_url or (running.redis_url if running else "")
    if url:
        yield settings.model_copy(update={"redis_url": url})
        return
    store = EmbeddedRedis(settings.data_path)
    try:
        yield settings.model_copy(update={"redis_url": store.start()})
    finally:
        store.stop()


# --- live -------------------------------------------------------------------------------------------------------------


class _Open(Struct, kw_only=True):
    """A source that was asked and has not answered yet."""

    source_id: str
    request: Request
    uid: str = ""
    host: str = ""
    hops: int = 0


def check_live(settings: Settings, *, within_s: float, only: Sequence[str] = ()) -> list[Health]:
    """Ask each enabled source (or those of `only`) once, and wait for all of them `within_s` seconds at most.

    Needs a store; brings its own fetchers, which share it with whatever workers there are.

    Raises:
        StoreFailed: the store does not answer.
        Invalid: `only` names a source that does not exist or cannot be asked here.
    """
    tools = open_toolbox(settings, lambda _task, _step: None)
    check = _Check(tools, within_s)
    found = list(check.ask(_chosen(tools.registry, only)))
    if check.waiting:
        found += _with_fetchers(settings, check)
    post_outcomes(tools, map(_outcome, found))
    return found


def _with_fetchers(settings: Settings, check: "_Check") -> list[Health]:
    loop = FetchLoop(settings, lambda _task, _step: None)
    loop.start()
    try:
        return list(check.answers())
    finally:
        loop.stop()


class _Check:
    """One round of asking: what is open is looked at until it is answered or the time is over."""

    def __init__(self, tools: Toolbox, within_s: float) -> None:
        self._tools = tools
        self._name = job_id(
            tools.clock.now_ms()
        )  # nothing is answered from the cache: a check asks
        self._number = itertools.count(1)
        self._pause = threading.Event()
        self.waiting: list[_Open] = []
        self._ends_ms = tools.clock.now_ms() + int(within_s * 1000)

    def ask(self, sources: Sequence[Source]) -> Iterator[Health]:
        """Offer each source's question; what is refused at once is told at once."""
        for source in sources:
            request = next(iter(_requests(source)), None)
            if request is None:
                detail = "it has no general question, so nothing was asked"
                yield Health(source_id=source.row.id, state="ready", detail=detail)
            else:
                yield from self._offer(_Open(source_id=source.row.id, request=request))

    def answers(self) -> Iterator[Health]:
        """Tell what came, until all is answered or the time is over."""
        while self.waiting and self._tools.clock.now_ms() < self._ends_ms:
            asked, self.waiting = self.waiting, []
            for each in asked:
                yield from self._look(each)
            if self.waiting:
                self._pause.wait(_LOOK_S)
        for each in self.waiting:
            yield _refused(each.source_id, SkipReason.DEADLINE, "no answer in the time given")

    def _offer(self, asked: _Open) -> Iterator[Health]:
        """Offer a request; what the frontier refuses is decided here."""
        try:
            asked.uid = digest(fingerprint(asked.request, self._name), self._name)
            asked.host = host_key(asked.request.url)
        except AddressRefused as error:
            yield _refused(asked.source_id, SkipReason.ADDRESS, error.message)
            return
        [placed] = self._tools.frontier.offer([self._as_offer(asked)])
        if placed.disposition in _REFUSALS:
            yield self._turned_away(asked, placed)
        else:
            self.waiting.append(asked)

    def _as_offer(self, asked: _Open) -> Offer:
        return Offer(
            uid=asked.uid,
            host=asked.host,
            payload=encode_request(asked.request),
            job=self._name,
            waiter=f"{self._name}|{asked.source_id}#{next(self._number)}",
            deadline_ms=self._ends_ms,
            pause_ms=self._tools.settings.pause_ms(asked.host),
        )

    def _turned_away(self, asked: _Open, placed: Placed) -> Health:
        until = placed.until_ms or self._tools.clock.now_ms() + placed.ready_in_ms
        detail = "its host may not be asked in the time given"
        return _refused(asked.source_id, _REFUSALS[placed.disposition], detail, until)

    def _look(self, asked: _Open) -> Iterator[Health]:
        raw = self._tools.frontier.reply(asked.uid, asked.host)
        if raw is None:
            self.waiting.append(asked)
            return
        outcome = unpack_outcome(raw)
        to = outcome.parsed.redirect_to
        if outcome.state is FetchState.REDIRECTED and to and asked.hops < _MAX_HOPS:
            asked.request, asked.hops = replace(asked.request, url=to), asked.hops + 1
            yield from self._offer(asked)
            return
        yield health_of(asked.source_id, outcome)


def health_of(source_id: str, outcome: FetchOutcome) -> Health:
    """Return what the outcome of one request says of its source."""
    parsed = outcome.parsed
    if outcome.state is FetchState.FETCHED and outcome.reason != STALE:
        results = len(parsed.documents) + len(parsed.requests) + len(parsed.links)
        state = "answered" if results else "no_results"
        return Health(source_id=source_id, state=state, detail=parsed.note, results=results)
    return Health(
        source_id=source_id,
        state="refused" if outcome.state is FetchState.SKIPPED else "failed",
        reason=outcome.reason or "too_many_redirects",
        detail=outcome.detail,
        until=iso_until(outcome.until_ms) if outcome.until_ms else "",
    )


def _outcome(health: Health) -> SourceOutcome:
    return SourceOutcome(
        source_id=health.source_id,
        state=health.state,
        reason=health.reason,
        detail=health.detail,
        until=health.until,
        documents=health.results,
    )
