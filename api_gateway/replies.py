"""Successful answers: JSON, a job with its address, a file."""

import math

import msgspec
from litestar import Response
from signal_search.contracts.job import TERMINAL_STATES, Job

from api_gateway.desk import RETRY_AFTER_S, File

JSON = "application/json"


def as_json(
    value: object, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response[bytes]:
    """Return a value as JSON."""
    return raw_json(msgspec.json.encode(value), status=status, headers=headers)


def raw_json(
    body: bytes, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response[bytes]:
    """Return JSON that is encoded already."""
    return Response(body, status_code=status, media_type=JSON, headers=headers or {})


def as_job(
    job: Job, *, status: int = 200, headers: dict[str, str] | None = None
) -> Response[bytes]:
    """Return a job; an unfinished one says when to look again."""
    extra = dict(headers or {})
    if job.state not in TERMINAL_STATES:
        extra["retry-after"] = str(math.ceil(RETRY_AFTER_S))
    return as_json(job, status=status, headers=extra)


def as_file(file: File) -> Response[bytes]:
    """Return a file to keep; text is UTF-8."""
    is_binary = file.media_type == "application/zstd"
    media_type = file.media_type if is_binary else f"{file.media_type}; charset=utf-8"
    headers = {
        "content-type": media_type,
        "content-disposition": f'attachment; filename="{file.name}"',
        "x-content-type-options": "nosniff",
    }
    return Response(file.content, media_type=media_type, headers=headers)
