"""A request as it goes to the wire: the last form it has, and the only one that may hold a key."""

from collections.abc import Mapping

from msgspec import Struct
from signal_search.errors import Unreachable
from typing_extensions import override


class Outgoing(Struct, frozen=True, kw_only=True):
    """What is to be sent. Headers and query may hold a key, so none of it shows in a representation.

    plain: a body without content encoding is asked for, and any other refused unread.
    """

    url: str
    headers: Mapping[str, str]
    method: str = "GET"
    body: bytes = b""
    plain: bool = False

    @override
    def __repr__(self) -> str:
        return f"Outgoing(method={self.method!r})"

    @property
    def target(self) -> bytes:
        """Return path and query as written: httpx would re-quote them, and some servers tell the difference.

        Raises:
            Unreachable: the URL is not in its canonical form.
        """
        rest = self.url.split("#", 1)[0].split("://", 1)[-1]
        start = min((at for at in (rest.find("/"), rest.find("?")) if at >= 0), default=len(rest))
        target = rest[start:]
        if not target.startswith("/"):
            target = f"/{target}"
        if not target.isascii() or any(char <= " " or char == "\x7f" for char in target):
            raise Unreachable("The address is not in its canonical form.")
        return target.encode()
