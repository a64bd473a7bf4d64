import sys

import pytest

from infra import command_lines
from infra.roles import CONCURRENCY, POOLS, QUEUES, ROLES, TASK_QUEUES, Role, all_queues
from infra.settings import load


def test_every_task_has_a_queue_that_some_role_takes() -> None:
    assert set(TASK_QUEUES.values()) <= set(all_queues())
    assert set(all_queues()) == {"plan", "local", "crawl"}


def test_every_role_is_complete() -> None:
    assert set(QUEUES) == set(POOLS) == set(CONCURRENCY) == set(ROLES) == {"crawl", "reduce", "all"}
    assert set(QUEUES["all"]) == set(QUEUES["crawl"]) | set(QUEUES["reduce"])


@pytest.mark.parametrize(
    ("role", "expected"),
    [
        ("crawl", "--pool threads --concurrency 4 -Q crawl -n crawl@%h"),
        ("reduce", "--pool prefork --concurrency 2 -Q plan,local -n reduce@%h"),
        ("all", "--pool threads --concurrency 4 -Q plan,local,crawl -n all@%h"),
    ],
)
def test_a_worker_takes_its_role_s_queues(role: Role, expected: str) -> None:
    line = " ".join(command_lines.worker(role))
    assert line == (
        f"{sys.executable} -m celery -q -A workers.worker worker {expected} "
        "--without-gossip --without-mingle --loglevel INFO"
    )


def test_a_worker_s_own_name_size_and_events() -> None:
    line = command_lines.worker("crawl", name="crawl2", concurrency=9, events=True)
    assert line[line.index("-n") + 1] == "crawl2@%h"
    assert line[line.index("--concurrency") + 1] == "9"
    assert line[-1] == "-E"


def test_the_gateway_listens_where_it_is_told() -> None:
    settings = load().gateway
    line = command_lines.gateway(settings, port=9000)
    assert line[1:5] == ["-m", "uvicorn", "api_gateway.app:create_app", "--factory"]
    assert line[line.index("--host") + 1] == "127.0.0.1"
    assert line[line.index("--port") + 1] == "9000"
    usual = command_lines.gateway(settings)
    assert usual[usual.index("--port") + 1] == "8600"


def test_flower_is_read_only_near_and_reads_no_code() -> None:
    line = command_lines.flower(load().flower)
    assert "--read-only" in line
    assert "--address=127.0.0.1" in line
    assert "--conf=/dev/null" in line
    assert not any("auth" in part for part in line)
    assert "--address=0.0.0.0" in command_lines.flower(load().flower, address="0.0.0.0")
