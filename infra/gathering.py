"""One trip for everything that is asked of Redis at the same time.

An event loop with many fetches in flight asks for many small things; each alone would cost a round trip and the work
of a send and a receive. Here the commands that are waiting go out together while the last ones are under way: alone, a
command is as quick as before; under load a trip carries many. Not for commands that block.
"""

import asyncio
from typing import Any

from redis.asyncio import Redis as AsyncRedis
from typing_extensions import override

from infra.redis import is_cluster

_Waiting = tuple[tuple[Any, ...], dict[str, Any], "asyncio.Future[Any]"]


def gathered(client: AsyncRedis) -> AsyncRedis:
    """Return a client on the connections of `client` that gathers what it is asked; closing it closes them.

    What a command answers or raises is the same. A client of a cluster is returned as it is: what it is asked goes to
    different servers.
    """
    if is_cluster(client):
        return client
    return _Gathering(connection_pool=client.connection_pool)


class _Gathering(AsyncRedis):
    """Belongs to one event loop. Commands take effect in the order in which they were given."""

    def __init__(self, **options: Any) -> None:
        super().__init__(**options)
        self._waiting: list[_Waiting] = []
        self._sender: asyncio.Task[None] | None = None

    @override
    async def execute_command(self, *args: Any, **options: Any) -> Any:
        answer = asyncio.get_running_loop().create_future()
        self._waiting.append((args, options, answer))
        if self._sender is None:
            self._sender = asyncio.create_task(self._send_all())
        return await answer

    async def _send_all(self) -> None:
        """Send what waits until nothing does; what comes meanwhile goes with the next trip."""
        try:
            while self._waiting:
                await asyncio.sleep(0)  # lets whoever asks now, too, come along
                batch, self._waiting = self._waiting, []
                await self._send(batch)
        finally:
            self._sender = None

    async def _send(self, batch: list[_Waiting]) -> None:
        trip = self.pipeline(transaction=False)
        for args, options, _answer in batch:
            trip.execute_command(*args, **options)
        try:
            found = await trip.execute(raise_on_error=False)
        except BaseException as error:
            for _args, _options, answer in batch:
                _fail(answer, error)
            if not isinstance(error, Exception):
                raise
            return
        for (_args, _options, answer), value in zip(batch, found, strict=True):
            if isinstance(value, Exception):
                _fail(answer, value)
            elif not answer.done():  # whoever asked may have left
                answer.set_result(value)

    @override
    async def aclose(self, close_connection_pool: bool | None = None) -> None:
        if self._sender is not None:
            await self._sender
        await super().aclose(close_connection_pool=True)


def _fail(answer: "asyncio.Future[Any]", error: BaseException) -> None:
    if answer.done():
        return
    if isinstance(error, Exception):
        answer.set_exception(error)
    else:
        answer.cancel()
