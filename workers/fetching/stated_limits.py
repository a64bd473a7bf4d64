"""What an API's refusal says in its body, told again in headers: that it is a matter of pace, and how long to wait.

Stack Exchange refuses with 400 and the seconds in a sentence, GitHub's secondary limits with 403 and a sentence alone.
Told as headers, they are treated like everyone else's; headers that are there win. Only short JSON bodies are read.
"""

import re

from msgspec.structs import replace

from infra.http import RawReply

_STATUSES = frozenset({400, 403})
_MAX_BYTES = 4096
_TOO_FAST = re.compile(
    rb"(?i)throttle_violation|secondary rate limit|rate limit exceeded|too many requests"
)
_WAIT = re.compile(rb"(?i)\bin (\d{1,6}) seconds?\b")


def heed(raw: RawReply) -> RawReply:
    """Return the reply, with `x-ratelimit-remaining: 0` and `retry-after` when its body says so; else unchanged."""
    body = raw.body
    if raw.status not in _STATUSES or len(body) > _MAX_BYTES or body.lstrip()[:1] != b"{":
        return raw
    if not _TOO_FAST.search(body):
        return raw
    wait = _WAIT.search(body)
    said = {"retry-after": wait[1].decode()} if wait else {}
    return replace(raw, headers={**said, **raw.headers, "x-ratelimit-remaining": "0"})
