"""The addresses that are called often, answered in front of the framework, which would cost as much again.

The framework has them too, for their other spellings and methods.
"""

from collections.abc import Awaitable, Callable, Mapping

from api_gateway.asgi import App, Receive, Scope, Send
from api_gateway.door import Door
from api_gateway.problems import Answer, answered, send_answer

Answering = Callable[[Door, Scope, bytes, Receive], Awaitable[Answer]]
"""What makes an answer to a whole body."""


class HotPath:
    """Answers submissions itself and leaves the rest to the framework."""

    def __init__(
        self, app: App, door: Callable[[], Door], answers: Mapping[str, Answering]
    ) -> None:
        """Stand before `app`; `door` gives the tools, once they are open; `answers` by path."""
        self._app = app
        self._door = door
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle one connection that was admitted."""
        answering = self._answering(scope)
        if answering is None:
            await self._app(scope, receive, send)
            return
        scope["path_template"] = scope["path"]
        body = (await receive())["body"]  # whole: the layer before has read it
        ready = answering(self._door(), scope, body, receive)
        await send_answer(send, await answered(ready, scope["state"]["request_id"]))

    def _answering(self, scope: Scope) -> Answering | None:
        if scope["type"] != "http" or scope["method"] != "POST":
            return None
        return self._answers.get(scope["path"])
