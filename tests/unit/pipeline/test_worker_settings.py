"""What the Celery application of a role is told: measured to matter, and silent when it is wrong."""

import pytest

from infra.settings import load
from workers.celery_app import make_app


@pytest.mark.parametrize(("role", "wanted"), [("crawl", False), ("all", False), ("reduce", True)])
def test_threads_are_never_made_to_ask_for_one_message_at_a_time(
    role: str,
    wanted: bool,
) -> None:
    """With all threads busy once, such a worker stands still for a second: 4 steps a second instead of hundreds."""
    app = make_app(load(redis_url="redis://127.0.0.1:1/0", worker_role=role))
    assert app.conf.worker_disable_prefetch is wanted


def test_rabbitmq_keeps_to_the_multiplier() -> None:
    settings = load(
        redis_url="redis://127.0.0.1:1/0", broker_url="amqp://127.0.0.1:1//", worker_role="reduce"
    )
    app = make_app(settings)
    assert (app.conf.worker_disable_prefetch, app.conf.worker_prefetch_multiplier) == (False, 1)
