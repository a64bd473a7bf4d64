"""What one exchange knows of its connection, told by the HTTP library's own events.

A server may close an idle connection in the very moment at which a request goes out on it. Then the server is neither
away nor broken, and a request that is safe may be sent again (RFC 9112, 9.3.1): the caller decides when.
"""

from collections.abc import Mapping


class Attempt:
    """One request and its connection. `note` is given to the library as its trace."""

    def __init__(self, method: str) -> None:
        """Nothing has happened yet."""
        self._is_safe = method == "GET"
        self._is_new = False
        self._was_answered = False

    async def note(self, event: str, _info: Mapping[str, object]) -> None:
        """Remember that a connection was opened for this request, and that an answer began."""
        self._is_new |= event == "connection.connect_tcp.started"
        self._was_answered |= event == "http11.receive_response_headers.complete"

    @property
    def was_dropped(self) -> bool:
        """Whether a failure now means: an idle connection was closed, no answer had begun, and nothing was changed."""
        return self._is_safe and not self._is_new and not self._was_answered
