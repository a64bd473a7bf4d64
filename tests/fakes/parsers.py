"""Parsers that misbehave, for the pool that must survive them; imported by its processes, so they stand alone here."""

import os
import threading

from signal_search.contracts.source import FetchOutcome, FetchState, Request

from infra.http import RawReply


def moody(request: Request, raw: RawReply) -> FetchOutcome:
    """Hang on `/hang`, die on `/die`, take two seconds on `/slow`, 3 GiB on `/huge`, answer everything else."""
    if request.url.endswith("/hang"):
        threading.Event().wait()
    if request.url.endswith("/slow"):
        threading.Event().wait(2)
    if request.url.endswith("/huge"):
        bytearray(3 * 2**30)
    if request.url.endswith("/die"):
        os._exit(1)
    return FetchOutcome(state=FetchState.FETCHED, url=request.url, status=raw.status)
