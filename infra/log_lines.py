"""How an event of the log becomes a line: what is put on each, what is masked, and the two forms.

Written for the cost of a line, since every submission and every step of a job has one.
"""

import logging
import os
from collections.abc import Callable, MutableMapping
from datetime import UTC, datetime
from typing import Any, Final, Literal

import structlog
from typing_extensions import override

from infra.log_masks import mask_text, masked

Event = MutableMapping[str, Any]
Processor = Callable[[Any, str, Event], Any]

_EVENT_WIDTH: Final = 30  # so that the names behind short events stand in one column
_LEVEL_WIDTH: Final = 9  # of the longest level's name
_QUOTED: Final = frozenset(" \t=\r\n\"'")

_process: dict[str, object] = {}


def name_process(**facts: str) -> None:
    """Put these facts (which process, which role) on every event of this process and of those it forks from now on."""
    _process.clear()
    _process.update(facts)


def add_process(_logger: object, _method: str, event: Event) -> Event:
    """Put on an event which process it comes from."""
    for name, value in _process.items():
        event.setdefault(name, value)
    event["pid"] = os.getpid()
    return event


class Lines(logging.Formatter):
    """Makes lines of records: of our events, which come as mappings, and of those of the standard module."""

    def __init__(self, form: Literal["text", "json"], *, has_colors: bool = False) -> None:
        """Write lines in a form; with `has_colors` text is for a terminal."""
        super().__init__()
        self._render = _renderer(form, has_colors=has_colors)

    @override
    def format(self, record: logging.LogRecord) -> str:
        """Return the line; tracebacks become text first, so that secrets in them are masked too."""
        event: Event = dict(record.msg) if isinstance(record.msg, dict) else _event_of(record)
        if event.get("exc_info"):
            event = structlog.processors.format_exc_info(None, "", event)
        for name, value in event.items():
            if name != "timestamp":  # it looks like an address, and is ours
                event[name] = masked(name, value)
        line: str = self._render(None, "", event)
        return line


def _event_of(record: logging.LogRecord) -> Event:
    event: Event = {"event": record.getMessage(), **structlog.contextvars.get_contextvars()}
    add_process(None, "", event)
    event["logger"] = record.name
    event["level"] = record.levelname.lower()
    at = datetime.fromtimestamp(record.created, UTC).isoformat(timespec="microseconds")
    event["timestamp"] = at.replace("+00:00", "Z")
    if record.exc_info:
        event["exc_info"] = record.exc_info
    if record.stack_info:
        event["stack"] = record.stack_info
    return event


def _renderer(form: Literal["text", "json"], *, has_colors: bool) -> Processor:
    if form == "json":
        return structlog.processors.JSONRenderer(ensure_ascii=False, default=_told)
    return structlog.dev.ConsoleRenderer(colors=True) if has_colors else _text


def _told(value: object) -> str:
    return mask_text(repr(value))


def _text(_logger: object, _method: str, event: Event) -> str:
    """Return an event as a line for people, as the library's renderer writes it, at a quarter of its cost."""
    stack, trace = event.pop("stack", None), event.pop("exception", None)
    event.pop("exc_info", None)
    level = f"{event.pop('level', ''):<{_LEVEL_WIDTH}}"
    line = f"{event.pop('timestamp', '')} [{level}] {event.pop('event', '')!s:<{_EVENT_WIDTH}}"
    parts = [line, f"[{event.pop('logger', '')}]"]
    parts += [f"{name}={_shown(event[name])}" for name in sorted(event)]
    line = " ".join(parts)
    return "\n".join(part for part in (line, stack, trace) if part)


def _shown(value: object) -> str:
    if not isinstance(value, str):
        return repr(value)
    return repr(value) if not _QUOTED.isdisjoint(value) else value
