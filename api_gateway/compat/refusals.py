"""How each face says that it did not work: the statuses and bodies of the API it stands in for. Pure.

Tavily: `{"detail": {"error"}}`, where 400 is a wrong request and 432 a used-up plan. SearXNG: `{"error"}`, or a page
for who wanted another format. Firecrawl: `{"success": false, "error"}`, where 402 is a used-up plan and 408 a lack of
time.
"""

from typing import Final, Literal, NamedTuple

import msgspec
from signal_search.errors import (
    BadEncoding,
    Broken,
    Busy,
    Forbidden,
    Gone,
    Invalid,
    ModeConflict,
    SignalSearchError,
    TimedOut,
    Unauthorized,
    Unsupported,
)

Face = Literal["tavily", "searxng", "firecrawl"]

FORMAT: Final = "format"
"""The field of a Forbidden for which SearXNG answers with a page."""

_JSON: Final = "application/json"
_INTERNAL: Final = 500
# What is wrong with the request itself is 400 in all three.
_WRONG: Final = (BadEncoding, Invalid, ModeConflict, Unsupported)
_QUOTA: Final = {"tavily": 432, "searxng": 429, "firecrawl": 402}
_TOO_LATE: Final = {"tavily": 504, "searxng": 504, "firecrawl": 408}
# A job that has expired is not there; and its client sends again at once what was answered 502.
_BY_FIRECRAWL: Final = {410: 404, 502: 503}
_FORBIDDEN_PAGE: Final = (
    b"<!doctype html><title>403 Forbidden</title><h1>Forbidden</h1>"
    b"<p>Of the formats only json is enabled here: format=json."
)


class Told(NamedTuple):
    """A refusal in a face's own words."""

    status: int
    media_type: str
    body: bytes


def told_by(face: Face, error: SignalSearchError) -> Told:
    """Return what a face answers for an error; of our own bugs nothing but that there was one."""
    if isinstance(error, Forbidden) and error.field == FORMAT:
        return Told(403, "text/html; charset=utf-8", _FORBIDDEN_PAGE)
    known = Broken() if error.status == _INTERNAL else error
    body = _BODIES[face](known)
    return Told(_status(face, known), _JSON, msgspec.json.encode(body))


def _status(face: Face, error: SignalSearchError) -> int:
    if isinstance(error, _WRONG):
        return 400
    if isinstance(error, Busy) and error.code == "quota_exceeded":
        return _QUOTA[face]
    if isinstance(error, TimedOut):
        return _TOO_LATE[face]
    if face == "firecrawl":
        return _BY_FIRECRAWL.get(error.status, error.status)
    return error.status


def _words(error: SignalSearchError) -> str:
    return f"{error.field}: {error.message}" if error.field else error.message


def _by_tavily(error: SignalSearchError) -> object:
    words = _words(error)
    if isinstance(error, Unauthorized):
        words = "Unauthorized: missing or invalid API key."
    return {"detail": {"error": words}}


def _by_searxng(error: SignalSearchError) -> object:
    return {"error": _words(error)}


def _by_firecrawl(error: SignalSearchError) -> object:
    words = _words(error)
    if error.code == "job_not_found":
        words = "Job not found"
    if isinstance(error, Gone):
        words = "Job expired"
    if isinstance(error, Unauthorized):
        words = "Unauthorized: Invalid token"
    return {"success": False, "error": words, "code": error.code.upper()}


_BODIES: Final = {"tavily": _by_tavily, "searxng": _by_searxng, "firecrawl": _by_firecrawl}
