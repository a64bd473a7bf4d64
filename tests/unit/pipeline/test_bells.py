"""Bells that the broker does not take: nothing fails, nobody waits long, they are rung again."""

from dataclasses import replace
from pathlib import Path

from redis import Redis

from infra import keys
from infra.metrics import Publisher
from infra.settings import load
from tests.fakes.spine import Spine
from workers.celery_app import make_app, send_bell
from workers.reconciler import Reconciler


def test_a_broker_that_is_away_costs_only_the_ring(tmp_path: Path) -> None:
    app = make_app(load(redis_url=f"unix://{tmp_path}/nothing.sock"))
    assert send_bell(app, "plan", "job_1/plan") is False
    app.close()


def test_a_look_ends_at_the_first_bell_that_is_not_taken(redis: Redis, redis_url: str) -> None:
    """Each may cost seconds, and the sign of life of the worker waits behind them."""
    spine = Spine(redis_url)
    asked: list[str] = []

    def bell(_task: str, step_id: str) -> bool:
        asked.append(step_id)
        return False

    for number in range(5):
        spine.tools.steps.make(f"job_{number}/plan", "plan", now_ms=1)
    tools = replace(spine.tools, bell=bell)
    looking = Reconciler(tools, Publisher(redis, tools.clock), worker="w@x", role="crawl", pid=1)
    assert looking.look() == 0
    assert len(asked) == 1


def test_a_worker_that_resigns_gives_no_sign_of_life_any_more(redis: Redis, redis_url: str) -> None:
    tools = Spine(redis_url).tools
    looking = Reconciler(tools, Publisher(redis, tools.clock), worker="w@x", role="crawl", pid=1)
    looking._beat()
    assert redis.exists(keys.worker("w@x"))
    looking.resign()
    looking._beat()
    assert not redis.exists(keys.worker("w@x"))


def test_the_sources_are_written_again_after_the_store_lost_them(
    redis: Redis, redis_url: str
) -> None:
    tools = Spine(redis_url).tools
    looking = Reconciler(tools, Publisher(redis, tools.clock), worker="w@x", role="crawl", pid=1)
    looking._beat()
    written = redis.get(keys.sources())
    assert written
    redis.flushall()
    looking._beat()
    assert redis.get(keys.sources()) == written
