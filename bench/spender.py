"""A process that spends without end: each of its threads is one job that reserves, and mostly settles or releases.

python -m bench.spender REDIS_URL PROCESS THREADS
"""

import random
import sys
import threading

from signal_search.contracts.budget import Dimension

from budget.ledger import Short
from budget.redis_ledger import RedisLedger
from infra.redis import Redis, connect

LEASE_MS = 1500
TENANTS = 4
DEPLOYMENT = "deployment"
_FORGOTTEN, _RELEASED = 0.15, 0.25  # shares of the holds


def levels_of(job: int) -> tuple[str, str, str]:
    return (f"job:{job}", f"tenant:{job % TENANTS}", DEPLOYMENT)


def spend(redis: Redis, job: int) -> None:
    """Reserve random amounts of every dimension for ever; forget some holds, give some back, settle the others."""
    ledger, chance, number = RedisLedger(redis), random.Random(job), 0
    while True:
        number += 1
        hold = f"{job}|{chance.random()}|{number}"
        cost = {each: chance.randint(0, 9) for each in Dimension}
        answer = ledger.reserve(hold, levels_of(job), cost, lease_ms=LEASE_MS)
        if isinstance(answer, Short):
            redis.incr("bench:short")
            continue
        redis.incr("bench:held")
        lot = chance.random()
        if lot < _FORGOTTEN:
            redis.incr("bench:forgotten")
        elif lot < _RELEASED:
            ledger.release(hold)
        else:
            ledger.settle(hold, {each: chance.randint(0, most) for each, most in cost.items()})


def main(url: str, process: int, threads: int) -> None:
    redis = connect(url)
    jobs = range(process * threads, (process + 1) * threads)
    redis.incr("bench:ready")
    spending = [threading.Thread(target=spend, args=(redis, job), daemon=True) for job in jobs]
    for each in spending:
        each.start()
    for each in spending:
        each.join()


if __name__ == "__main__":
    main(sys.argv[1], int(sys.argv[2]), int(sys.argv[3]))
