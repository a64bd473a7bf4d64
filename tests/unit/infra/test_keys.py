"""What one script touches must share a tag, or no cluster would run it."""

import re

import pytest

from infra import keys

_TAG = re.compile(r"\{([^{}]+)\}")


@pytest.mark.parametrize(
    "together",
    [
        [make("j1") for make in (keys.job, keys.job_log, keys.job_once, keys.job_documents)]
        + [keys.job_result("j1")],
        [keys.steps_due(2), keys.step(2, "j1/plan")],
        [keys.tenant_jobs("t"), keys.idempotency("t", "d")],
        [keys.budget_tag(), keys.budget_level("job:j1"), keys.slots("jobs")],
        [
            keys.frontier_tag(keys.frontier_shard("a.test")),
            keys.frontier_reply("a.test", "u"),
        ],
    ],
)
def test_what_one_script_touches_shares_a_tag(together: list[str]) -> None:
    assert len({_TAG.search(each).group(1) for each in together}) == 1


def test_a_job_s_steps_are_in_one_shard() -> None:
    steps = ("j1/plan", "j1/crawl/c1", "j1/reduce")
    assert len({keys.step_shard(each) for each in steps}) == 1
