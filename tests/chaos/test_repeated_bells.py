"""Every bell of a job is rung many times, early, late and from outside: nothing is done twice."""

from pathlib import Path
from typing import Any

import pytest
from signal_search.contracts.job import TERMINAL_STATES

from infra.settings import load
from tests.chaos.stage import assert_as_if_nothing_had_happened, stage, wait_until
from workers.celery_app import make_app, send_bell

pytestmark = [pytest.mark.chaos, pytest.mark.timeout(240)]

CALL = "all.site1"


def test_bells_that_ring_twenty_times_change_nothing(tmp_path: Path, undisturbed: dict[str, Any]):
    with stage(tmp_path, {"crawl": 1, "reduce": 1}) as on:
        app = make_app(load(redis_url=on.running.redis_url))
        on.submit()
        steps = {
            "plan": f"{on.job_id}/plan",
            "crawl": f"{on.job_id}/crawl/{CALL}",
            "reduce": f"{on.job_id}/reduce",
        }
        rung = 0

        def ring_all() -> bool:
            nonlocal rung
            for task, step_id in steps.items():
                send_bell(app, task, step_id)
                rung += 1
            return on.job().state in TERMINAL_STATES and rung >= 60

        wait_until(ring_all, "the job ends under the ringing")
        assert_as_if_nothing_had_happened(on, undisturbed)
        [started] = [
            entry
            for _id, entry in on.client.events(on.job_id)
            if entry and entry.key == f"{CALL}:started"
        ]
        assert started.fetches == (f"{CALL}#1",)
        app.close()
