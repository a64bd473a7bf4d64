"""A job's log as Server-Sent Events: each entry one event, named by its type, numbered by its stream id.

A reader that comes back with Last-Event-ID goes on after it. Document texts are not in the log, so not here.
"""

import re
from collections.abc import AsyncIterator, Awaitable, Callable

from signal_search.errors import Invalid

from api_gateway.watch import Watch, has_ended
from infra.job_log import START, Located, encode_entry

MEDIA_TYPE = "text/event-stream"
KEEP_ALIVE_MS = 15_000

_EVENT_ID = re.compile(r"[0-9]{1,15}-[0-9]{1,15}")
_COMMENT = b": keep-alive\n\n"
_GOODBYE = b": this server ends; come back with Last-Event-ID\n\n"
_OPENING = b"retry: 2000\n\n"

IsOver = Callable[[], Awaitable[bool]]


def start_after(last_event_id: str | None) -> str:
    """Return the stream id to go on after.

    Raises:
        Invalid: the header does not hold an id that this log could have given.
    """
    if last_event_id is None:
        return START
    if not _EVENT_ID.fullmatch(last_event_id):
        raise Invalid("This is not the id of an event.", field="Last-Event-ID")
    return last_event_id


def event(located: Located) -> bytes:
    """Return one entry as an event. JSON has no line breaks of its own, so one data line is enough."""
    stream_id, entry = located
    name = entry.__struct_config__.tag
    return f"id: {stream_id}\nevent: {name}\ndata: ".encode() + encode_entry(entry) + b"\n\n"


async def stream(
    watch: Watch, job_id: str, *, after: str, is_over: IsOver, keep_alive_ms: int = KEEP_ALIVE_MS
) -> AsyncIterator[bytes]:
    """Yield events after a stream id until the terminal one, or until this process is told to end.

    A comment is sent whenever `keep_alive_ms` brought nothing.

    `is_over` tells whether the job has ended or is gone: a reader that has seen the end already must not wait for it.
    """
    with watch.place():
        yield _OPENING
        while True:
            # Asked before the read: an end that comes in between is in what the read brings.
            over = await is_over()
            found = await watch.read(job_id, after=after, timeout_ms=1 if over else keep_alive_ms)
            for each in found:
                yield event(each)
            if has_ended(found) or (over and not found):
                return
            after = found[-1][0] if found else after
            if watch.is_closing:
                yield _GOODBYE
                return
            if not found:
                yield _COMMENT
