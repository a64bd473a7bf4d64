"""A job's row and log, read in the trip in which something else is done; what nobody looks at is not decoded."""

from collections.abc import Sequence
from functools import cached_property
from typing import cast

import msgspec
from msgspec import Struct

from infra import keys
from infra.job_log import Located, Row, located
from infra.job_store import StoredJob, stored_of
from infra.scripts import Command


class _Caused(Struct, frozen=True):
    """The part of a specification that says which request caused the job; no kind of job lacks it."""

    request_id: str = ""


_CAUSED = msgspec.json.Decoder(_Caused)


def reading(job_id: str) -> tuple[Command, Command]:
    """Return the commands that read a job; `OpenedJob` holds their replies."""
    return (
        Command(("HGETALL", keys.job(job_id))),
        Command(("XRANGE", keys.job_log(job_id), "-", "+")),
    )


class OpenedJob:
    """A job as it was when it was read."""

    def __init__(self, replies: Sequence[object]) -> None:
        """Hold the replies to `reading`."""
        self._row, self._log = replies

    @cached_property
    def stored(self) -> StoredJob | None:
        """Return what the store knows of the job, None when it is unknown or expired."""
        return stored_of(cast("dict[bytes, bytes]", self._row))

    @cached_property
    def entries(self) -> list[Located]:
        """Return the log, oldest entry first."""
        return located(cast("list[Row]", self._log))

    @property
    def request_id(self) -> str:
        """Return the id of the request that made the job, for the log; empty when the job is unknown."""
        spec = cast("dict[bytes, bytes]", self._row).get(b"spec")
        return _CAUSED.decode(spec).request_id if spec else ""
