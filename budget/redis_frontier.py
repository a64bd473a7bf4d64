"""The frontier in Redis: one script per job and shard, so that a host's queue, pace and claim change together.

Keys are listed in `infra/keys.py`. A host is forgotten a minute after it may be asked again; what is queued or in
flight stays until it is delivered, given up or cancelled.
"""

import asyncio
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

from signal_search.errors import StoreFailed

from budget.frontier import (
    UNCAPPED,
    Caps,
    Claim,
    Completion,
    Delivery,
    HostState,
    Offer,
    Placed,
    Turn,
)
from budget.redis_frontier_wire import (
    completion_arguments,
    offer_arguments,
    read_deliveries,
    read_host_state,
    read_instance,
    read_placed,
    read_turn,
)
from budget.shards import Rounds, by_shard, waiters_by_shard
from infra import keys
from infra.metrics import OFFERS
from infra.redis import is_cluster, store_errors
from infra.scripts import Argument, load

if TYPE_CHECKING:
    from redis import Redis
    from redis.asyncio import Redis as AsyncRedis
    from redis.asyncio.client import PubSub

_SCRIPTS = load(
    Path(__file__).with_name("lua"),
    *(
        "offer",
        "turn",
        "postpone",
        "renew",
        "reap",
        "cancel",
        "hold_all",
        "host_state",
        "visit",
        "depart",
    ),
    first="shard",
)


class RedisFrontier:
    """The `Frontier` port on a synchronous client."""

    def __init__(self, redis: "Redis", caps: Caps = UNCAPPED) -> None:
        """Use this client; it is not closed here. The cap on the total is divided evenly among the shards."""
        self._redis = redis
        self._caps = (caps.host, caps.job, max(1, caps.total // keys.FRONTIER_SHARDS))

    def _run(self, script: str, shard: int, *args: Argument) -> object:
        with store_errors():
            return _SCRIPTS[script](self._redis, [keys.frontier_tag(shard)], args)

    def offer(self, offers: Sequence[Offer], *, now_ms: int = 0) -> list[Placed]:
        """Queue, join or answer from the cache: one trip per shard concerned."""
        placed: dict[int, list[Placed]] = {}
        for shard, group in by_shard(offers).items():
            arguments = [part for each in group for part in offer_arguments(each)]
            reply = self._run("offer", shard, now_ms, keys.frontier_wake(), *self._caps, *arguments)
            placed[shard] = read_placed(reply)
            for each in placed[shard]:
                OFFERS.labels(disposition=each.disposition).inc()
        answers = {shard: iter(group) for shard, group in placed.items()}
        return [next(answers[keys.frontier_shard(each.host)]) for each in offers]

    def reply(self, uid: str, host: str) -> bytes | None:
        """Return the stored reply."""
        with store_errors():
            return cast("bytes | None", self._redis.hget(keys.frontier_reply(host, uid), "body"))

    def cancel(self, job: str, waiters: Sequence[tuple[str, str, str]]) -> int:
        """Drop a job's waiters."""
        removed = 0
        for shard, group in waiters_by_shard(job, waiters).items():
            reply = self._run("cancel", shard, 0, *(part for each in group for part in each))
            removed += cast("int", reply)
        return removed

    def host_state(self, host: str, *, now_ms: int = 0) -> HostState:
        """Return what is known of a host."""
        return read_host_state(
            host, self._run("host_state", keys.frontier_shard(host), now_ms, host)
        )


class RedisFrontierWorker:
    """The `FrontierWorker` port on an asyncio client: for one event loop."""

    def __init__(self, redis: "AsyncRedis") -> None:
        """Use this client; it is not closed here."""
        self._redis = redis
        self._is_cluster = is_cluster(redis)
        self.instances = ""
        """Which instances of the server answered the last turn: another text after a restart or a failover."""
        self._rounds = Rounds()
        self._pubsub: PubSub | None = None

    async def _run(self, script: str, shard: int, *args: Argument) -> object:
        with store_errors():
            return await _SCRIPTS[script].run(self._redis, [keys.frontier_tag(shard)], args)

    async def _run_all(self, script: str, *args: Argument) -> list[object]:
        return await asyncio.gather(
            *(self._run(script, shard, *args) for shard in range(keys.FRONTIER_SHARDS))
        )

    async def turn(
        self,
        done: Sequence[Completion],
        want: int,
        *,
        lease_ms: int,
        pause_ms: int,
        now_ms: int = 0,
    ) -> Turn:
        """Complete `done`, then claim up to `want` requests: one trip per shard, all at once."""
        answered: dict[int, str] = {}

        async def ask(shard: int, finished: Sequence[Completion], share: int) -> Turn:
            arguments = [part for each in finished for part in completion_arguments(each)]
            tells = int(shard == 0 or self._is_cluster)
            head = (now_ms, lease_ms, pause_ms, share, tells)
            reply = await self._run("turn", shard, *head, *arguments)
            if tells:
                answered[shard] = read_instance(reply)
            return read_turn(reply)

        turn = await self._rounds.take(ask, done, want)
        self.instances = " ".join(answered[shard] for shard in sorted(answered))
        return turn

    async def postpone(self, claim: Claim, *, pause_ms: int, now_ms: int = 0) -> bool:
        """Put a claim back at the head of its host's queue."""
        return await self._run_claim("postpone", claim, pause_ms, now_ms)

    async def renew(self, claim: Claim, *, lease_ms: int, now_ms: int = 0) -> bool:
        """Prolong a claim just before sending."""
        return await self._run_claim("renew", claim, lease_ms, now_ms)

    async def _run_claim(self, script: str, claim: Claim, span_ms: int, now_ms: int) -> bool:
        shard = keys.frontier_shard(claim.host)
        reply = await self._run(script, shard, now_ms, claim.uid, claim.host, claim.fence, span_ms)
        return reply == 1

    async def visit(self, uid: str, host: str, *, hold_ms: int, now_ms: int = 0) -> int:
        """Take a free host for a request that stands in no queue."""
        reply = await self._run("visit", keys.frontier_shard(host), now_ms, uid, host, hold_ms)
        return cast("int", reply)

    async def depart(self, uid: str, host: str, *, pause_ms: int, now_ms: int = 0) -> None:
        """End a visit."""
        await self._run("depart", keys.frontier_shard(host), now_ms, uid, host, pause_ms)

    async def kept(self, uid: str, host: str) -> bytes | None:
        """Return the reply to an earlier request."""
        with store_errors():
            return cast(
                "bytes | None", await self._redis.hget(keys.frontier_reply(host, uid), "body")
            )

    async def reap(
        self, *, max_attempts: int, limit: int = 100, now_ms: int = 0
    ) -> tuple[Delivery, ...]:
        """Return expired claims to their queues."""
        replies = await self._run_all("reap", now_ms, keys.frontier_wake(), max_attempts, limit)
        return tuple(each for reply in replies for each in read_deliveries(reply))

    async def hold_all(self, *, pause_ms: int, now_ms: int = 0) -> None:
        """Let every host rest for pause_ms."""
        await self._run_all("hold_all", now_ms, pause_ms)

    async def listen(self, timeout_ms: int) -> bool:
        """Wait until something may have been queued."""
        try:
            with store_errors():
                if self._pubsub is None:
                    await self._subscribe()
                    return True
                return await self._heard(self._pubsub, timeout_ms / 1000)
        except StoreFailed:
            # Its server may be gone for good, and another one of the cluster in its place.
            with suppress(StoreFailed), store_errors():
                await self.aclose()
            raise

    async def _subscribe(self) -> None:
        await self._redis.initialize()  # a cluster's client learns here which servers there are
        self._pubsub = self._redis.pubsub(ignore_subscribe_messages=True)
        await self._pubsub.subscribe(keys.frontier_wake())

    async def _heard(self, pubsub: "PubSub", timeout_s: float) -> bool:
        loop = asyncio.get_running_loop()
        ends = loop.time() + timeout_s
        while await pubsub.get_message(timeout=max(0.0, ends - loop.time())) is None:
            if loop.time() >= ends:
                return False
        while await pubsub.get_message(timeout=0.0) is not None:
            pass  # one turn serves all wakes that have piled up; one more is harmless
        return True

    async def aclose(self) -> None:
        """End listening."""
        pubsub, self._pubsub = self._pubsub, None
        if pubsub is not None:
            await pubsub.aclose()  # type: ignore[no-untyped-call]
