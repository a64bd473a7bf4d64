"""What the processes of a stack count reaches the one page that Prometheus reads, each thing once."""

from time import monotonic, sleep

import httpx
import pytest
from prometheus_client.parser import text_string_to_metric_families
from signal_search.client import Client

from tests.e2e.conftest import Running

_SETTLED = ("steps_total", "jobs_total", "fetch_seconds_count")

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]


def counts(running: Running) -> dict[tuple[str, str], float]:
    """Return the samples of the page by name and value of their first label that matters here."""
    page = httpx.get(f"{running.gateway_url}/metrics", timeout=30).raise_for_status().text
    found: dict[tuple[str, str], float] = {}
    for family in text_string_to_metric_families(page):
        for sample in family.samples:
            if sample.labels.get("outcome", "left") != "left" and "task" in sample.labels:
                continue  # a bell that rang twice finds its step held, gone or resting
            label = sample.labels.get("task") or sample.labels.get("state") or ""
            key = (sample.name, label)
            found[key] = found.get(key, 0.0) + sample.value
    return found


def at_rest(running: Running) -> dict[tuple[str, str], float]:
    """End what other tests left behind, and return the counts when they have stood still for two seconds."""
    for job in httpx.get(
        f"{running.gateway_url}/v1/jobs", params={"limit": 100}, timeout=30
    ).json()["jobs"]:
        httpx.delete(
            f"{running.gateway_url}/v1/jobs/{job['id']}", timeout=30
        )  # 409 for those that had ended
    found, since = counts(running), monotonic()
    ends = since + 60
    while monotonic() - since < 2:
        assert monotonic() < ends, "something never comes to rest"
        sleep(0.2)
        now = counts(running)
        if any(now.get(key) != found.get(key) for key in now if key[0].endswith(_SETTLED)):
            found, since = now, monotonic()
    return found


def test_a_job_is_counted_by_the_workers_that_did_it(running: Running):
    before = at_rest(running)
    with Client(running.gateway_url) as client:
        result = client.retrieve("What do the tide tables of Port Merrin say?")
    assert result.usage.calls >= 1

    def more(name: str, label: str) -> float:
        return counts(running).get((name, label), 0.0) - before.get((name, label), 0.0)

    def told() -> bool:
        """Whether all have published: who publishes does so after the answer."""
        return (
            more("signal_search_fetch_seconds_count", "") >= result.usage.fetches
            and more("signal_search_jobs_total", "succeeded") >= 1
            and more("signal_search_steps_total", "crawl") >= result.usage.calls
            and more("signal_search_steps_total", "reduce") >= 1
        )

    ends = monotonic() + 60  # the crawl workers publish with their sign of life, every five seconds
    while not told():
        assert monotonic() < ends
        sleep(0.1)
    assert more("signal_search_jobs_total", "succeeded") == 1
    assert more("signal_search_steps_total", "plan") == 1
    started = [each.data["call"] for each in result.trace if each.name == "call_started"]
    assert len(started) == len(set(started)) == result.usage.calls
    # A reducer whose view is older than a call's step makes that again; it finds nothing to do, and leaves too.
    tried = more("signal_search_steps_total", "crawl")
    assert result.usage.calls <= tried <= 2 * result.usage.calls
    assert more("signal_search_steps_total", "reduce") == 1
