"""The bell: it rings where the workers listen, and a broker that is away costs nothing but the ring."""

from pathlib import Path

from api_gateway.enqueue import TRANSPORT_OPTIONS, Bell
from infra.roles import QUEUES, TASK_QUEUES
from infra.settings import load
from workers.celery_app import make_app, task_name


def test_the_door_and_the_workers_agree(redis_url: str):
    app = make_app(load(redis_url=redis_url))
    assert app.conf.broker_transport_options == TRANSPORT_OPTIONS
    assert {task_name(task) for task in TASK_QUEUES} == {
        f"workers.tasks.{task}" for task in TASK_QUEUES
    }
    assert set(TASK_QUEUES.values()) == set(QUEUES["all"])


def test_a_broker_that_is_away_is_no_error(tmp_path: Path):
    bell = Bell(load(redis_url=f"unix://{tmp_path}/nothing.sock"))
    assert bell.ring([("plan", "job_1/plan")]) is False
    bell.close()
