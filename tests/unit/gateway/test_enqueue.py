"""The bell: it rings where the workers listen, and a broker that is away costs nothing but the ring."""

from pathlib import Path

from api_gateway.enqueue import Bell
from infra.roles import QUEUES, TASK_QUEUES
from infra.settings import load
from workers.celery_app import make_app, task_name


def test_the_door_and_the_workers_agree(redis_url: str):
    settings = load(redis_url=redis_url)
    app, bell = make_app(settings), Bell(settings)
    ours = app.conf.broker_transport_options
    assert ours.items() <= bell._app.conf.broker_transport_options.items()
    assert app.conf.broker_url == bell._app.conf.broker_url
    assert {task_name(task) for task in TASK_QUEUES} == {
        f"workers.tasks.{task}" for task in TASK_QUEUES
    }
    assert set(TASK_QUEUES.values()) == set(QUEUES["all"])


def test_a_broker_that_is_away_is_no_error(tmp_path: Path):
    bell = Bell(load(redis_url=f"unix://{tmp_path}/nothing.sock"))
    assert bell.ring([("plan", "job_1/plan")]) is False
    bell.close()
