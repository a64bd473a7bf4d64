"""Stopping for real: early where more would not help, and exhausted, with the reason, where the budget is too small."""

import json
import subprocess
import sys
from pathlib import Path

import pytest
from signal_search.client import Client
from signal_search.contracts.result import StopReason

from infra.settings import load
from tests.e2e.conftest import Running

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

COMMAND = str(Path(sys.executable).with_name("signal-search"))
QUESTION = "Since when has the tidal array in Merrin Sound fed the grid?"
SITES = ("site:http://harbour.test/", "site:http://news.test/", "wikipedia")


def test_it_stops_when_more_searching_would_not_help(running: Running) -> None:
    """Three sites say it; pages of the harbour's site that say nothing new are left unread."""
    running.forget_requests()
    with Client(redis_url=running.redis_url) as client:
        result = client.retrieve(QUESTION, {"required_tier": "L2"}, sources=SITES)
    assert result.stop.reason is StopReason.CHECKLIST_CLOSED
    assert (result.stop.coverage, result.exhausted, result.stop.rounds) == (1.0, False, 1)
    assert len({each.site for each in result.sources}) >= 2
    assert "2021" in result.answer
    pages = [row for row in running.requests("harbour.test") if row["path"] != "/robots.txt"]
    assert 2 <= len(pages) < load().sources.site.max_pages


def test_one_site_that_says_nothing_new_any_more_is_left(running: Running) -> None:
    running.forget_requests()
    with Client(redis_url=running.redis_url) as client:
        result = client.retrieve(QUESTION, {"required_tier": "L2"}, sources=SITES[:1])
    assert result.findings
    assert not result.exhausted
    assert result.stop.reason in {StopReason.CHECKLIST_CLOSED, StopReason.NOTHING_NEW}
    assert result.usage.fetches < load().sources.site.max_pages


def test_a_budget_that_is_too_small_is_said_with_what_is_missing(running: Running) -> None:
    command = [COMMAND, "retrieve", QUESTION, "--tier", "L2", "--budget", "150", "--json"]
    chosen = [part for each in SITES for part in ("--source", each)]
    done = subprocess.run(
        [*command, *chosen, "--redis", running.redis_url], capture_output=True, check=False
    )
    assert done.returncode == 3, done.stderr
    result = json.loads(done.stdout)
    assert result["exhausted"] is True
    assert result["stop"]["reason"] == "budget_coverage"
    assert result["stop"]["text"] == "The budget cut the search; coverage may be incomplete."
    assert "q1" in result["stop"]["would_have"]
    assert result["token_used"] <= 150
    assert b"coverage may be incomplete" in done.stderr


def test_the_same_budget_is_no_cut_for_a_narrow_search(running: Running) -> None:
    with Client(redis_url=running.redis_url) as client:
        result = client.retrieve(QUESTION, {"required_tier": "L1"}, budget=150, sources=SITES[:1])
    assert result.stop.reason is StopReason.BUDGET_NARROW
    assert result.exhausted is False
