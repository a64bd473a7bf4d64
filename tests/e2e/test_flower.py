"""Flower beside real workers: it shows them and what they do to who has the password, and it changes nothing."""

import json
from collections.abc import Callable, Iterator
from pathlib import Path
from time import monotonic, sleep
from typing import Any

import httpx
import pytest
from signal_search.client import Client

from infra.settings import load
from infra.stack import Parts, Stack
from tests.e2e.conftest import environment
from tests.fakes.ports import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

PASSWORD = "open-sesame"
SECRET = "What do the Zanzibar ledgers of 1871 say?"


class Watched:
    """A stack with Flower, seen through Flower's API."""

    def __init__(self, stack: Stack, port: int) -> None:
        self.stack = stack
        self.url = f"http://127.0.0.1:{port}"
        self.flower = httpx.Client(base_url=self.url, auth=("signal", PASSWORD), timeout=15)

    def workers(self) -> dict[str, Any]:
        answer = self.flower.get("/api/workers", params={"refresh": "true"})
        found: dict[str, Any] = answer.raise_for_status().json()
        return found

    def tasks(self) -> dict[str, Any]:
        found: dict[str, Any] = self.flower.get("/api/tasks").raise_for_status().json()
        return found


@pytest.fixture(scope="module")
def watched(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Watched]:
    port, web_port = free_port(), free_port()
    flower = {"host": "127.0.0.1", "port": port, "user": "signal"}
    settings = load(data_dir=str(tmp_path_factory.mktemp("flower")), redis_url="", flower=flower)
    parts = Parts(workers={"crawl": 2, "reduce": 1}, web_port=web_port, flower_password=PASSWORD)
    stack = Stack(settings, parts, environment=environment(web_port))
    stack.start()
    seen = Watched(stack, port)
    try:
        yield seen
    finally:
        seen.flower.close()
        stack.stop()


def eventually(look: Callable[[], Any], description: str) -> Any:
    ends = monotonic() + 40
    while monotonic() < ends:
        try:
            if found := look():
                return found
        except httpx.HTTPError:
            pass  # Flower is not ready yet
        sleep(0.2)
    pytest.fail(f"never happened: {description}")


def queues_of(row: dict[str, Any]) -> set[str]:
    return {queue["name"] for queue in row.get("active_queues", [])}


def test_it_lists_all_three_workers_with_their_queues(watched: Watched):
    found = eventually(
        lambda: (
            rows
            if len(rows := watched.workers()) == 3 and all(map(queues_of, rows.values()))
            else None
        ),
        "three workers with queues",
    )
    by_name = {name.split("@")[0]: queues_of(row) for name, row in found.items()}
    assert by_name == {"crawl1": {"crawl"}, "crawl2": {"crawl"}, "reduce1": {"plan", "local"}}


def test_the_tasks_of_a_job_are_shown_by_step_and_without_the_question(watched: Watched):
    eventually(lambda: len(watched.workers()) == 3, "Flower listens")
    with Client(redis_url=watched.stack.redis_url) as client:
        result = client.retrieve(SECRET)

    def of_job() -> set[str]:
        rows = [row for row in watched.tasks().values() if result.job_id in (row["args"] or "")]
        done = {row["name"] for row in rows if row["state"] == "SUCCESS"}
        wanted = {f"workers.tasks.{task}" for task in ("plan", "crawl", "reduce")}
        return done if done >= wanted else set()

    assert eventually(of_job, "plan, crawl and reduce of the job are done")
    assert "Zanzibar" not in json.dumps(watched.tasks())


@pytest.mark.parametrize("path", ["/api/workers", "/api/tasks", "/workers", "/tasks"])
@pytest.mark.parametrize("auth", [None, ("signal", "wrong")])
def test_without_the_password_nothing_is_shown(
    watched: Watched, path: str, auth: tuple[str, str] | None
):
    def status() -> int:
        return httpx.get(watched.url + path, auth=auth, timeout=30).status_code

    assert eventually(status, "Flower answers") == 401


@pytest.mark.parametrize(
    "action", ["shutdown", "pool/restart", "pool/grow", "queue/cancel-consumer"]
)
def test_it_cannot_touch_a_worker(watched: Watched, action: str):
    [name] = [
        each
        for each in eventually(watched.workers, "workers are listed")
        if each.startswith("reduce1@")
    ]
    answer = watched.flower.post(f"/api/worker/{action}/{name}", data={"n": 1, "queue": "plan"})
    assert answer.status_code == 403
    assert all(each.child.is_alive() for each in watched.stack.processes)


@pytest.mark.parametrize("action", ["async-apply", "apply", "send-task"])
def test_it_cannot_start_a_task(watched: Watched, action: str):
    eventually(watched.workers, "Flower answers")
    answer = watched.flower.post(
        f"/api/task/{action}/workers.tasks.plan", json={"args": ["job_x/plan"]}
    )
    assert answer.status_code == 403


def test_the_password_is_on_no_command_line(watched: Watched):
    for each in watched.stack.processes:
        line = Path(f"/proc/{each.child.pid}/cmdline").read_bytes()
        assert line
        assert PASSWORD.encode() not in line
