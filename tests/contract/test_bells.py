"""A bell that cannot be sent is no fault of the step that sends it."""

from redis import Redis

from infra.roles import BROKER_PREFIX
from infra.settings import load
from workers.celery_app import make_app, send_bell


def test_a_full_broker_takes_no_bell_and_breaks_nothing(redis: Redis, redis_url: str) -> None:
    app = make_app(load(redis_url=redis_url))
    redis.config_set("maxmemory", 1)
    try:
        assert not send_bell(app, "crawl", "job_1/crawl/q1.one")
    finally:
        redis.config_set("maxmemory", 0)
    assert send_bell(app, "crawl", "job_1/crawl/q1.one")
    assert redis.llen(f"{BROKER_PREFIX}crawl") == 1
    app.close()


def test_a_broker_that_is_not_there_takes_no_bell() -> None:
    app = make_app(load(redis_url="unix:///nowhere/redis.sock"))
    assert not send_bell(app, "plan", "job_1/plan")
    app.close()
