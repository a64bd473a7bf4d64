"""Workers are killed (-9) in the middle of an adaptive search: the same page, and the judge is paid once."""

import os
import signal
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import httpx
import msgspec
import pytest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.budget import Dimension

from tests.chaos.stage import Stage, settled, stage, wait_until
from tests.e2e.test_adaptive import ENVIRONMENT, FOUND

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]

HOSTS = ("en.wikipedia.org", "api.crossref.org")
LATENCY_S = 0.4
LEFT_OUT = ("jobId", "nextCursor", "expiresAt", "waiting", "trace")


def page_after(
    folder: Path, disturb: Callable[[Stage], None]
) -> tuple[dict[str, Any], AdaptiveResult]:
    """Search while `disturb` is at work; return what must not depend on it, and the page."""
    with (
        stage(folder, {"crawl": 1, "reduce": 1}, **ENVIRONMENT) as on,
        ThreadPoolExecutor(1) as pool,
    ):
        faults = f"http://127.0.0.1:{on.running.web_port}/__faults"
        for host in HOSTS:
            fault = {"host": host, "latency_s": LATENCY_S, "count": None}
            httpx.post(faults, json=fault, timeout=30).raise_for_status()
        searching = pool.submit(on.client.adaptive_search, **FOUND)
        wait_until(lambda: on.running.requests(HOSTS[0]), "a source is asked")
        disturb(on)
        page = searching.result(timeout=120)
        assert isinstance(page.job_id, str)
        balance = settled(on, page.job_id)
        assert not isinstance(page.usage, msgspec.UnsetType)
        assert balance.used[Dimension.FETCHES] == page.usage.fetches
    plain: dict[str, Any] = msgspec.json.decode(msgspec.json.encode(page))
    return {name: each for name, each in plain.items() if name not in LEFT_OUT}, page


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Any]:
    page, found = page_after(tmp_path_factory.mktemp("well"), lambda _on: None)
    assert found.retrieval_sufficient
    return page


def reduce_worker(on: Stage) -> None:
    os.killpg(on.pid("worker-reduce1"), signal.SIGKILL)


def crawl_worker(on: Stage) -> None:
    on.kill("worker-crawl1")


@pytest.mark.parametrize("kill", [reduce_worker, crawl_worker])
def test_a_killed_worker_changes_nothing(
    tmp_path: Path, undisturbed: dict[str, Any], kill: Callable[[Stage], None]
) -> None:
    page, _found = page_after(tmp_path, kill)
    assert page == undisturbed
