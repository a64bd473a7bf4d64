"""Follow one job to its end: by its event stream, and by asking for its state wherever the stream falls short.

A stream may end early at any time (a proxy, a restart, silence). The next one resumes after the last id, and between
two streams the state is asked for, which also is the whole of it where a gateway or a proxy has no streams at all.
"""

from collections.abc import AsyncGenerator, Awaitable, Callable
from contextlib import aclosing
from dataclasses import dataclass
from typing import NamedTuple

from msgspec import structs

from signal_search.client.timing import Timing
from signal_search.client.transport import AsyncTransport
from signal_search.contracts.job import TERMINAL_STATES, Job
from signal_search.contracts.trace import Ended, LogEntry
from signal_search.errors import Busy, Failed, Refused, SignalSearchError

_SILENCE_S = 20.0  # after so much silence a connection counts as lost
_REFRESH_S = 1.0
_POLL_FIRST_S = 0.5
_POLL_MOST_S = 5.0
_LEAST_WAIT_S = 0.01


class Update(NamedTuple):
    """What is new of a job: its last known state, and the log entry that came (None: only time has passed)."""

    job: Job
    entry: LogEntry | None
    event_id: str


@dataclass(frozen=True, slots=True)
class Follow:
    """How to follow.

    after: resume behind this id of the log. until: monotonic seconds; soon after them an update comes, so that the
    caller can leave. refresh: ask for the job's state while entries come, at most once a second. need_log: no
    stream is an error, as states are no substitute for entries.
    """

    after: str = ""
    until: float | None = None
    refresh: bool = True
    need_log: bool = False


class Following:
    """Where we are in one job's log. `look` asks for the job's state and retries by itself."""

    def __init__(
        self,
        transport: AsyncTransport,
        timing: Timing,
        look: Callable[[], Awaitable[Job]],
        wish: Follow,
    ) -> None:
        """Stand before the entry after `wish.after`."""
        self._transport = transport
        self._timing = timing
        self._look = look
        self._wish = wish
        self._after = wish.after
        self._looked_at = timing.monotonic()
        self._streams = True
        self._heard = False
        self._ended = False

    async def updates(self, job: Job) -> AsyncGenerator[Update, None]:
        """Yield updates until the job has ended.

        Raises:
            SignalSearchError: the gateway stayed away for longer than `look` is patient, or refuses the job.
        """
        pause_s = _POLL_FIRST_S
        while True:
            self._heard = False
            async with aclosing(self._listen(job)) as updates:
                async for update in updates:
                    job = update.job
                    yield update
            if self._ended:
                return
            job = await self._look()
            yield Update(job, None, self._after)
            if self._is_over(job):
                return
            pause_s = await self._rest(pause_s)

    def _is_over(self, job: Job) -> bool:
        # Who needs the log listens once more: the end may have been written after the stream broke off.
        return job.state in TERMINAL_STATES and not (self._wish.need_log and self._heard)

    async def _rest(self, pause_s: float) -> float:
        """Pause before the next look, longer each time; not at all after a stream that spoke."""
        if self._heard:
            return _POLL_FIRST_S
        await self._timing.pause(self._within(pause_s))
        return min(pause_s * 2, _POLL_MOST_S)

    def _within(self, seconds: float) -> float:
        """Return the seconds, cut to what is left until the caller wants to leave."""
        if self._wish.until is None:
            return seconds
        return max(_LEAST_WAIT_S, min(seconds, self._wish.until - self._timing.monotonic()))

    async def _listen(self, job: Job) -> AsyncGenerator[Update, None]:
        if not self._streams:
            return
        try:
            async with aclosing(self._lines(job.id)) as lines:
                async for event_id, entry in lines:
                    job = await self._seen(job, event_id, entry)
                    yield Update(job, entry, self._after)
                    if self._ended:
                        return
        except (Refused, Busy, Failed) as error:
            self._without_stream(error)

    def _lines(self, job_id: str) -> AsyncGenerator[tuple[str, LogEntry | None], None]:
        wait_s = self._within(_SILENCE_S)
        return self._transport.events(job_id, after=self._after, wait_s=wait_s)

    def _without_stream(self, error: SignalSearchError) -> None:
        """Remember whether to try again; a gateway that is away is met again by `look`, with its patience."""
        if isinstance(error, Refused) or error.code == "gateway_bad_reply":
            if self._wish.need_log:
                raise error
            self._streams = False

    async def _seen(self, job: Job, event_id: str, entry: LogEntry | None) -> Job:
        self._after = event_id or self._after
        self._heard = self._heard or entry is not None
        if not isinstance(entry, Ended):
            return await self._refreshed(job) if self._is_due() else job
        self._ended = True
        job = await self._refreshed(job) if self._wish.refresh else job
        return structs.replace(
            job,
            state=entry.state,
            error_code=entry.error_code,
            error_message=entry.error_message,
        )

    def _is_due(self) -> bool:
        age_s = self._timing.monotonic() - self._looked_at
        return self._wish.refresh and age_s >= _REFRESH_S

    async def _refreshed(self, job: Job) -> Job:
        self._looked_at = self._timing.monotonic()
        try:
            return await self._transport.job(job.id)
        except (Busy, Failed):
            return job  # a stale view of progress harms nobody; the next one is a second away
