"""A site that takes a request and never answers: the job ends all the same, says so, and pays for one request."""

from pathlib import Path

import httpx
import pytest
from signal_search.contracts.job import JobState
from signal_search.contracts.source import SkipReason

from tests.chaos.stage import HOST, assert_ended_once, settled, stage
from tests.fakes.spine import charged

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]


def test_a_site_that_hangs_for_good_is_given_up(tmp_path: Path) -> None:
    limits = {"SIGNAL_SEARCH_FETCH__TOTAL_TIMEOUT_S": "2"}
    with stage(tmp_path, {"crawl": 1, "reduce": 1}, **limits) as on:
        faults = f"http://127.0.0.1:{on.running.web_port}/__faults"
        httpx.delete(faults, timeout=30).raise_for_status()
        httpx.post(
            faults, json={"host": HOST, "latency_s": 600, "count": None}, timeout=30
        ).raise_for_status()
        on.submit()
        result = on.finish()
        assert on.job().state is JobState.PARTIAL
        [outcome] = result.source_outcomes
        assert (outcome.state, outcome.reason) == ("refused", SkipReason.ROBOTS_UNREACHABLE)
        assert (result.findings, result.answer) == ((), "")
        balance = settled(on, on.job_id)
        assert {name: amount for name, amount in balance.used.items() if amount} == {
            name: amount for name, amount in charged(result).items() if amount
        }
        assert_ended_once(on)
