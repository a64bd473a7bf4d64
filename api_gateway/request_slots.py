"""How many requests of a kind may be at work at a time: in this process, and in the whole deployment.

One more than that is refused at once; there is no queue. The deployment's slots are leases in the store that are
prolonged while the request is at work and free themselves when its gateway dies. Fails closed: when the store does
not answer, nobody is admitted.
"""

import asyncio
import logging
from collections import Counter
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Final

from litestar.concurrency import sync_to_thread
from signal_search.errors import Busy, StoreFailed

from api_gateway.paths import Kind
from budget.slots import Slots, SlotStore
from infra import ids
from infra.settings import Settings

if TYPE_CHECKING:
    from redis import Redis

_LOG = logging.getLogger(__name__)

RETRY_AFTER_S: Final = 1.0
"""When a refused caller may come back (scorer guide)."""

_RENEWALS: Final = 3  # in the time of one lease: two may be lost


def slots_of(kind: Kind) -> str:
    """Return the name of the deployment's slots for requests of a kind."""
    return f"requests:{kind}"


class RequestSlots:
    """The slots of one process. Belongs to one event loop."""

    def __init__(self, redis: "Redis", settings: Settings, store: SlotStore | None = None) -> None:
        """Grant as many as `settings.search` says; `store` stands in for the slots in Redis."""
        self._store = store or Slots(redis)
        self._search = settings.search
        self._lease_s = settings.gateway.slot_ttl_s
        self._here: Counter[Kind] = Counter()

    @asynccontextmanager
    async def taken(self, kind: Kind) -> AsyncIterator[None]:
        """Hold a slot until the block ends, however it ends.

        Raises:
            Busy: every slot of this process or of the deployment is taken.
            StoreFailed: the store does not answer.
        """
        if self._here[kind] >= self._search.concurrency(kind):
            raise _full()
        self._here[kind] += 1
        try:
            async with self._lease(kind):
                yield
        finally:
            self._here[kind] -= 1

    @asynccontextmanager
    async def _lease(self, kind: Kind) -> AsyncIterator[None]:
        holder = ids.request_id()
        taking = asyncio.create_task(sync_to_thread(self._take, kind, holder))
        try:
            # Not cancelled with its caller: the store may have granted by then, and it has to be given back.
            if not await asyncio.shield(taking):
                raise _full()
            renewing = asyncio.create_task(self._renew(kind, holder))
            try:
                yield
            finally:
                renewing.cancel()
        finally:
            await asyncio.shield(self._give_back(kind, holder, taking))

    def _take(self, kind: Kind, holder: str) -> bool:
        limit = self._search.concurrency(kind)
        return self._store.take(slots_of(kind), holder, limit, int(self._lease_s * 1000))

    async def _renew(self, kind: Kind, holder: str) -> None:
        while True:
            await asyncio.sleep(self._lease_s / _RENEWALS)
            with suppress(StoreFailed):  # the next one may succeed; else the lease ends
                await sync_to_thread(self._take, kind, holder)

    async def _give_back(self, kind: Kind, holder: str, taking: "asyncio.Task[bool]") -> None:
        try:
            if await taking:
                await sync_to_thread(self._store.free, slots_of(kind), holder)
        except StoreFailed:
            _LOG.warning("a slot was not given back; its lease ends by itself")


def _full() -> Busy:
    message = "As many requests of this kind are at work as may be."
    return Busy(message, retry_after_s=RETRY_AFTER_S)
