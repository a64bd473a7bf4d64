"""The store is killed (-9) in the middle of a job and comes back with what it had written down."""

import os
import signal
from pathlib import Path

import pytest
from signal_search.contracts.job import JobState

from tests.chaos.stage import (
    assert_charged_once,
    assert_ended_once,
    assert_polite,
    stage,
    wait_until,
)

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]


def test_a_job_outlives_its_store(tmp_path: Path):
    # Six requests, so slowly that the first ones are seen long before the last.
    with stage(tmp_path, {"crawl": 2, "reduce": 1}, latency_s=1.5) as on:
        on.submit()
        wait_until(lambda: on.pages_seen() >= 2, "the crawl is under way")
        store = on.running.stack._redis
        assert store is not None
        assert store.pid is not None
        os.kill(store.pid, signal.SIGKILL)
        before = on.pages_seen() + 1  # with the one that may be in flight
        on.wait_for_restart("redis")
        result = on.finish()
        assert on.job().state is JobState.SUCCEEDED
        assert result.findings
        assert on.pages_seen() > before  # the crawl went on after the restart
        assert_charged_once(on, result)
        assert_ended_once(on)
        assert_polite(on)
