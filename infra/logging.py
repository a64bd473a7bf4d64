"""How the log is written: structured, one line per event, with the job and request it belongs to, without secrets.

Our own events and those of the libraries (which use the standard module) leave by the same handler. Questions,
addresses and texts are not logged at INFO and above: a job is followed by its id, a request by `request_id`.
"""

import logging
import sys
from collections.abc import Mapping
from contextvars import Token
from typing import Any, Literal, Protocol, TextIO

import structlog

from infra.log_lines import Lines, Processor, add_process, name_process
from infra.log_masks import mask_text

__all__ = ["LogSettings", "bound", "configure", "mask_text", "name_process"]

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


def configure(settings: LogSettings, stream: TextIO | None = None) -> None:
    """Send every event of this process to `stream` (default: stderr). Calling it again replaces the set-up."""
    out = stream or sys.stderr
    handler = logging.StreamHandler(out)
    handler.setFormatter(Lines(settings.format, has_colors=out.isatty()))
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


class bound:  # noqa: N801  it is called as a function is
    """Put the job, the request and the step on every event inside; empty ones are left out.

    A class and no generator: it stands around every request, and a generator costs as much again.
    """

    __slots__ = ("_names", "_tokens")

    def __init__(self, *, job_id: str = "", request_id: str = "", step: str = "") -> None:
        """Remember the names."""
        names = {"job_id": job_id, "request_id": request_id, "step": step}
        self._names = {name: value for name, value in names.items() if value}
        self._tokens: Mapping[str, Token[Any]] = {}

    def __enter__(self) -> None:
        """Begin."""
        self._tokens = structlog.contextvars.bind_contextvars(**self._names)

    def __exit__(self, *_: object) -> None:
        """End; what stood there before stands there again."""
        structlog.contextvars.reset_contextvars(**self._tokens)


def _shared() -> list[Processor]:
    return [
        structlog.contextvars.merge_contextvars,
        add_process,
        structlog.stdlib.add_logger_name,
        structlog.stdlib.add_log_level,
        structlog.stdlib.PositionalArgumentsFormatter(),
        structlog.processors.TimeStamper(fmt="iso", utc=True),
        structlog.processors.StackInfoRenderer(),
    ]
