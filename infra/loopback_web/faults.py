"""Faults on order: what a host does wrong for its next requests, set by POST to /__faults."""

import gzip
from email.utils import formatdate

import msgspec
from msgspec import Struct

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer

_CHALLENGE = (
    '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body><div id="challenge-form">'
    '<div class="g-recaptcha" data-sitekey="test"></div><p>Verify you are human by completing the action below.</p>'
    "</div></body></html>"
)
_ERROR_PAGE = (
    "<!DOCTYPE html><html><body><h1>{status} Error</h1><p>Something went wrong.</p></body></html>"
)


class Fault(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What goes wrong on `host`.

    latency_s: wait first. status: answer this instead. retry_after: seconds or an HTTP date, sent as the header;
    retry_date_s: so many seconds from now, sent as a date.
    stall_s: wait between the halves of the body. charset: the body is written in this charset, whatever is declared.
    html_error: the body is a page of HTML (status 502 unless given). truncate: half of the body is missing, as if
    the source had written it so. reset: the connection is reset before any answer. captcha_200: a challenge page
    with status 200. count: for how many requests; None until the faults are cleared.
    """

    host: str
    latency_s: float = 0.0
    stall_s: float = 0.0
    charset: str = ""
    status: int | None = None
    retry_after: str | int | None = None
    retry_date_s: int | None = None
    html_error: bool = False
    truncate: bool = False
    reset: bool = False
    captcha_200: bool = False
    count: int | None = 1


class Faults:
    """The faults in force, oldest first; each host uses up its own."""

    def __init__(self) -> None:
        """Start without any."""
        self._left: list[tuple[Fault, int | None]] = []

    def add(self, fault: Fault) -> None:
        """Put a fault behind those in force."""
        self._left.append((fault, fault.count))

    def clear(self) -> None:
        """Heal every host."""
        self._left.clear()

    def active(self) -> list[Fault]:
        """Return what is in force."""
        return [fault for fault, _left in self._left]

    def take(self, host: str) -> Fault | None:
        """Return the fault for a request to `host` and count it, None when the host is well."""
        for place, (fault, left) in enumerate(self._left):
            if fault.host == host:
                self._use(place, fault, left)
                return fault
        return None

    def _use(self, place: int, fault: Fault, left: int | None) -> None:
        if left is None:
            return
        if left > 1:
            self._left[place] = (fault, left - 1)
        else:
            del self._left[place]


def spoil(answer: Answer, fault: Fault, *, now_ms: int = 0) -> Answer:
    """Return the answer as the fault makes it; latency and reset are the server's to carry out."""
    if fault.captcha_200:
        return exchange.page(_CHALLENGE)
    answer = _unpacked(answer)
    status = fault.status or (502 if fault.html_error else answer.status)
    headers, body = dict(answer.headers), answer.body
    if fault.html_error:
        body, headers["content-type"] = (
            _ERROR_PAGE.format(status=status).encode(),
            "text/html; charset=utf-8",
        )
    elif fault.status is not None:
        body, headers["content-type"] = b"", "text/plain"
    if fault.retry_after is not None:
        headers["retry-after"] = str(fault.retry_after)
    if fault.retry_date_s is not None:
        headers["retry-after"] = formatdate(now_ms / 1000 + fault.retry_date_s, usegmt=True)
    if fault.charset:
        body = body.decode("utf-8", "replace").encode(fault.charset, "replace")
        headers.pop("etag", None)  # nobody is to keep this
        headers["cache-control"] = "no-store"
    if fault.truncate:
        body = body[: len(body) // 2]
    return Answer(
        status=status, body=body, headers=headers, delay_s=answer.delay_s, complaint="fault"
    )


def _unpacked(answer: Answer) -> Answer:
    """Return an answer that is packed with gzip as it is inside: faults are of what was written, not of its packing."""
    if answer.headers.get("content-encoding") != "gzip":
        return answer
    headers = {name: value for name, value in answer.headers.items() if name != "content-encoding"}
    return msgspec.structs.replace(answer, headers=headers, body=gzip.decompress(answer.body))
