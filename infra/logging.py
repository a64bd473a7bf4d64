"""How the log is written: structured, one line per event, with the job and request it belongs to, without secrets.

Our own events and those of the libraries (which use the standard module) leave by the same handler. Questions,
addresses and texts are not logged at INFO and above: a job is followed by its id, a request by `request_id`.
"""

import logging
import os
import re
import sys
from collections.abc import Callable, Iterator, MutableMapping
from contextlib import contextmanager
from functools import lru_cache
from typing import Any, Literal, Protocol, TextIO

import structlog

Event = MutableMapping[str, Any]
Processor = Callable[[Any, str, Event], Any]

MASK = "***"

_SECRET_NAMES = re.compile(
    r"(?i)(authorization|cookie|password|passwd|secret|token|api[_-]?key|private[_-]?key)"
)
_SECRET_TEXT = (
    (re.compile(r"sst_[A-Za-z0-9_-]{8,}"), MASK),
    (re.compile(r"(?i)\b(bearer|basic)\s+[A-Za-z0-9._~+/=-]{8,}"), rf"\1 {MASK}"),
    (re.compile(r"(?i)\b([a-z][a-z0-9+.-]*://)[^\s/@]+@"), rf"\1{MASK}@"),
    (
        re.compile(r"(?i)\b(api[_-]?key|access[_-]?token|key|token|sig|signature)=[^&\s\"']+"),
        rf"\1={MASK}",
    ),
)

_MAY_HOLD_SECRET = re.compile(r"(?i)sst_|bearer|basic|://|=")  # what each of these patterns has

# What these say at INFO is a line per request or message; their warnings stay.
_TALKATIVE = (
    *("httpx", "httpcore", "kombu", "amqp", "urllib3"),
    *(
        "celery.worker.strategy",
        "celery.app.trace",
    ),  # a task is told by workers.tasks, with its job
)
# These come with handlers of their own; they shall have ours.
_OWN_HANDLERS = ("uvicorn", "uvicorn.error", "celery.task", "py.warnings")

_process: dict[str, object] = {}


class LogSettings(Protocol):
    """The part of the settings this module reads."""

    @property
    def level(self) -> Literal["DEBUG", "INFO", "WARNING", "ERROR"]:
        """Return the least level that is written."""
        ...

    @property
    def format(self) -> Literal["text", "json"]:
        """Return whether people or machines read it."""
        ...


def name_process(**facts: str) -> None:
    """Put these facts (which process, which role) on every event of this process and of those it forks from now on."""
    _process.clear()
    _process.update(facts)


def configure(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send every event of this process to `stream` (default: stderr). Calling it again replaces the set-up."""
    out = stream or sys.stderr
    handler = logging.StreamHandler(out)
    handler.setFormatter(
        structlog.stdlib.ProcessorFormatter(
            foreign_pre_chain=_shared(),
            processors=[
                structlog.stdlib.ProcessorFormatter.remove_processors_meta,
                *_last(settings, out),
            ],
        )
    )
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(settings.level)
    logging.captureWarnings(capture=True)
    for name in _OWN_HANDLERS:
        logging.getLogger(name).handlers.clear()
        logging.getLogger(name).propagate = True
    for name in _TALKATIVE:
        logging.getLogger(name).setLevel(max(logging.WARNING, root.level))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_shared(),
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


@contextmanager
def bound(*, job_id: str = "", request_id: str = "", step: str = "") -> Iterator[None]:
    """Put the job, the request and the step on every event inside; empty ones are left out."""
    names = {"job_id": job_id, "request_id": request_id, "step": step}
    with structlog.contextvars.bound_contextvars(**{k: v for k, v in names.items() if v}):
        yield


def mask_secrets(_logger: object, _method: str, event: Event) -> Event:
    """Replace what must not be read: values under secret names at any depth, and secrets inside texts."""
    for name, value in event.items():
        event[name] = _masked(name, value)
    return event


def mask_text(text: str) -> str:
    """Return `text` without bearer tokens, credentials in addresses and keys in query strings."""
    if _MAY_HOLD_SECRET.search(text):
        for pattern, replacement in _SECRET_TEXT:
            text = pattern.sub(replacement, text)
    return text


@lru_cache(maxsize=1024)  # the names of fields are few, and asked for with every event
def _is_secret(name: str) -> bool:
    return _SECRET_NAMES.search(name) is not None


def _masked(name: str, value: Any) -> Any:
    if value is None or isinstance(value, bool | int | float):  # `tokens=2000` is a count
        return value
    if _is_secret(name):
        return MASK
    if isinstance(value, str):
        return mask_text(value)
    if isinstance(value, dict):
        return {key: _masked(str(key), each) for key, each in value.items()}
    if isinstance(value, list | tuple):
        return [_masked("", each) for each in value]
    return value


def _add_process(_logger: object, _method: str, event: Event) -> Event:
    for name, value in _process.items():
        event.setdefault(name, value)
    event["pid"] = os.getpid()
    return event


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        _add_process,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]


def _last(settings: LogSettings, out: TextIO) -> list[Processor]:
    """Return the end of the chain: tracebacks become text first, so that secrets in them are masked too."""
    end: list[Processor] = [structlog.processors.format_exc_info, mask_secrets]
    if settings.format == "json":
        return [*end, structlog.processors.JSONRenderer(ensure_ascii=False, default=_told)]
    return [*end, structlog.dev.ConsoleRenderer(colors=out.isatty())]


def _told(value: object) -> str:
    return mask_text(repr(value))
