"""Where a process may be lost: the places between two effects of every task, in the order of a job's walk."""

from dataclasses import dataclass
from pathlib import Path
from typing import Literal

ROOT = Path(__file__).parents[2]

Home = Literal["gateway", "reduce", "crawl", "any"]


@dataclass(frozen=True)
class Point:
    """A place of the product's code: `turn` is the how-manieth passing of it in one job is meant.

    home: whose process passes it. is_sending: a request has left and its reply is not in the store yet, so that a
    process which dies here takes the reply along. not_empty: only a passing that returns something counts.
    """

    name: str
    home: Home
    place: str
    turn: int = 1
    is_sending: bool = False
    not_empty: bool = False
    is_deaf: bool = False  # is passed only when bells get lost

    @property
    def function(self) -> str:
        return self.place.split(" ")[1]


_STEPS = "infra.steps:Steps"
_STORE = "infra.job_store:JobStore"
_LEDGER = "budget.redis_ledger:RedisLedger"
_PLAN = "workers.pipeline.plan"
_CRAWL = "workers.pipeline.crawl"
_FETCHER = "workers.fetching.fetcher:Fetcher"
_REDUCE = "workers.pipeline.reduce"
_ENDING = "workers.pipeline.ending"

POINTS = (
    Point("submit: key claimed", "gateway", "after api_gateway.idempotency:Idempotency.claim"),
    Point("submit: before job", "gateway", "before api_gateway.desk:Desk._run"),
    Point("submit: job created", "gateway", "after api_gateway.desk:Desk._run"),
    Point("submit: bell sent", "gateway", "after api_gateway.enqueue:Bell.ring"),
    Point("plan: bell received", "reduce", "before workers.pipeline.attempt:begin"),
    Point("plan: step claimed", "reduce", f"before {_PLAN}:plan"),
    Point("plan: plan logged", "reduce", f"after {_PLAN}:_make"),
    Point("plan: purse opened", "reduce", f"after {_PLAN}:open_purses"),
    Point("plan: reduce step made", "reduce", f"before {_STORE}.transition", turn=2),
    Point("plan: crawl steps made", "reduce", f"after {_PLAN}:plan"),
    Point("crawl: step claimed", "crawl", f"before {_CRAWL}:crawl"),
    Point("crawl: call paid", "crawl", f"after {_CRAWL}:_pay"),
    Point("crawl: start logged", "crawl", "before workers.pipeline.offers:offer"),
    Point("crawl: fetch reserved", "crawl", f"after {_LEDGER}.reserve_all"),
    Point("crawl: request offered", "crawl", "after budget.redis_frontier:RedisFrontier.offer"),
    Point("crawl: reducer rung", "crawl", f"after {_CRAWL}:crawl"),
    Point("fetch: claimed", "crawl", "before workers.pipeline.exchange:Exchanges.make", turn=2),
    Point("fetch: robots.txt read", "crawl", f"after {_FETCHER}.fetch_robots", is_sending=True),
    Point("fetch: before sending", "crawl", f"before {_FETCHER}.fetch", turn=3),
    Point("fetch: reply received", "crawl", f"after {_FETCHER}.fetch", turn=3, is_sending=True),
    Point(
        "fetch: reply parsed",
        "crawl",
        "after workers.pipeline.parse:ParsePool.parse",
        turn=2,
        is_sending=True,
    ),
    Point("fetch: completed", "crawl", "before workers.fetch_loop:Fetchers._deliver", turn=2),
    Point("deliver: text stored", "crawl", "after infra.job_log:JobLog.put_documents", turn=2),
    Point("deliver: end logged", "crawl", f"before {_LEDGER}.settle_all", turn=2),
    Point("deliver: settled", "crawl", f"after {_LEDGER}.settle_all", turn=2),
    Point("deliver: reducer rung", "crawl", "after workers.pipeline.delivery:deliver", turn=2),
    Point("reduce: step claimed", "reduce", f"before {_REDUCE}:reduce", turn=2),
    Point("reduce: log folded", "reduce", f"before {_REDUCE}:_act", turn=2),
    Point("reduce: pages offered", "reduce", f"after {_REDUCE}:_act", turn=2),
    Point("reduce: stop logged", "reduce", f"before {_REDUCE}:_publish"),
    Point("reduce: result made", "reduce", f"before {_ENDING}:end_job"),
    Point("reduce: job ended", "reduce", f"after {_STORE}.end"),
    Point("reduce: job cleared", "reduce", f"after {_ENDING}:clear_job"),
    Point("reduce: step left", "reduce", f"after {_REDUCE}:reduce", turn=2),
    Point("reconcile: bells taken", "any", f"after {_STEPS}.overdue", not_empty=True, is_deaf=True),
)
