"""Reserve and settle over three levels and two dimensions, against a round trip of INCRBY, in turns.

python -m bench.purse [--quick]
"""

import time
from collections.abc import Callable

from signal_search.contracts.budget import Dimension

from bench import report
from bench.place import store
from budget.redis_ledger import RedisLedger
from infra.redis import connect

ROUNDS = report.size(20, 8)
EACH = 200
LEVELS = ("job:bench", "tenant:bench", "deployment")
COST = {Dimension.TOKENS: 10, Dimension.FETCHES: 1}


def timed(work: Callable[[int], object], start: int) -> float:
    """Return the seconds that EACH calls take."""
    began = time.perf_counter()
    for number in range(start, start + EACH):
        work(number)
    return time.perf_counter() - began


def main() -> None:
    spent = {"incrby": 0.0, "reserve": 0.0, "settle": 0.0}
    with store() as url:
        redis = connect(url)
        ledger = RedisLedger(redis)
        for level in LEVELS:
            ledger.open(level, dict.fromkeys(COST, 10**9), ttl_ms=600_000)
        work: dict[str, Callable[[int], object]] = {
            "incrby": lambda _number: redis.incrby("bench:counter", 1),
            "reserve": lambda number: ledger.reserve(f"b|{number}", LEVELS, COST, lease_ms=60_000),
            "settle": lambda number: ledger.settle(f"b|{number}", COST),
        }
        for call in work.values():
            timed(call, -EACH)
        for at in range(ROUNDS):
            for name, call in work.items():
                spent[name] += timed(call, at * EACH)
        used = ledger.balance(LEVELS[0]).used
        redis.close()
    n = ROUNDS * EACH
    exactly = {name: cost * (n + EACH) for name, cost in COST.items()}
    report.require({name: used[name] for name in COST} == exactly, "not every hold was settled")
    rate = {name: n / seconds for name, seconds in spent.items()}
    report.tell("per second", {name: round(each) for name, each in rate.items()})
    rows = [
        report.row(
            f"{name} a second, 3 levels x 2 dimensions, against INCRBY",
            round(rate[name]),
            n=n,
            peer=round(rate["incrby"]),
            ratio=rate[name] / rate["incrby"],
            bar=">= 0.35",
        )
        for name in ("reserve", "settle")
    ]
    report.finish(rows, {"n": n, **{f"{name}_per_second": round(rate[name]) for name in rate}})


if __name__ == "__main__":
    main()
