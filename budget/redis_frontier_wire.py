"""What the frontier's scripts are given and what they answer, as records. The order is that of each script's header."""

from collections.abc import Sequence
from typing import cast

from budget.frontier import Claim, Completion, Delivery, Disposition, HostState, Offer, Placed, Turn
from budget.shards import delivery, stride
from infra.scripts import Argument


def offer_arguments(offer: Offer) -> tuple[Argument, ...]:
    """Return an offer's part of ARGV."""
    return (
        offer.uid,
        offer.host,
        offer.payload,
        offer.job,
        offer.waiter,
        offer.deadline_ms,
        offer.pause_ms,
        stride(offer),
    )


def completion_arguments(done: Completion) -> tuple[Argument, ...]:
    """Return a completion's part of ARGV."""
    return (
        done.uid,
        done.host,
        done.fence,
        done.reply,
        done.fresh_ms,
        done.keep_ms,
        done.stale_ms,
        done.pause_ms,
        done.suspend_ms,
        done.suspend_reason,
    )


def read_placed(reply: object) -> list[Placed]:
    """Return the answers to offers, in their order."""
    rows = cast("list[tuple[bytes, int, int] | tuple[bytes, int, int, bytes, int]]", reply)
    return [
        Placed(
            disposition=cast("Disposition", name.decode()),
            ready_in_ms=ready_in_ms,
            until_ms=_present(until_ms),
            reply=cast("bytes", cached[0]) if cached else b"",
            is_owner=bool(cached) and cached[1] == 1,
        )
        for name, ready_in_ms, until_ms, *cached in rows
    ]


def read_deliveries(reply: object) -> tuple[Delivery, ...]:
    """Return deliveries from rows of a uid and its waiters."""
    rows = cast("list[list[bytes]]", reply)
    return tuple(delivery(row[0].decode(), [each.decode() for each in row[1:]]) for row in rows)


def read_turn(reply: object) -> Turn:
    """Return what one trip to a shard brought."""
    deliveries, claims, next_in_ms, _instance = cast(
        "tuple[object, list[Sequence[bytes | int]], int, bytes]", reply
    )
    return Turn(
        deliveries=read_deliveries(deliveries),
        claims=tuple(_claim(row) for row in claims),
        next_in_ms=next_in_ms,
    )


def read_instance(reply: object) -> str:
    """Return which instance of the server answered a turn that was to tell it."""
    return cast("list[bytes]", reply)[3].decode()


def _claim(row: Sequence[bytes | int]) -> Claim:
    uid, host, payload, attempt, fence, lease_until_ms = cast(
        "tuple[bytes, bytes, bytes, int, int, int]", row
    )
    return Claim(
        uid=uid.decode(),
        host=host.decode(),
        payload=payload,
        attempt=attempt,
        fence=fence,
        lease_until_ms=lease_until_ms,
    )


def read_host_state(host: str, reply: object) -> HostState:
    """Return what a shard knows of a host."""
    queued, next_in_ms, until_ms, reason = cast("tuple[int, int, int, bytes]", reply)
    return HostState(
        host=host,
        queued=queued,
        next_in_ms=next_in_ms,
        suspended_until_ms=_present(until_ms),
        reason=reason.decode(),
    )


def _present(until_ms: int) -> int | None:
    return None if until_ms < 0 else until_ms
