"""A source's quota over the emulated web: two workers and many jobs together send it no more than it allows in a day."""

import json
from concurrent.futures import ThreadPoolExecutor
from datetime import UTC, datetime, timedelta

import pytest
from signal_search.client import Client
from signal_search.contracts.result import Result

from infra.stack import Parts
from tests.e2e.conftest import start
from tests.fakes.ports import free_port

pytestmark = [pytest.mark.e2e, pytest.mark.timeout(240)]

QUOTA = 3
QUESTIONS = (
    "How high is Mount Corvel?",
    "Who first climbed Mount Corvel?",
    "Where is Mount Corvel?",
    "When was Mount Corvel named?",
)


def test_no_more_than_the_quota_is_sent_by_all_together(
    tmp_path_factory: pytest.TempPathFactory,
) -> None:
    parts = Parts(
        workers={"crawl": 2, "reduce": 1}, gateway=False, port=free_port(), web_port=free_port()
    )
    quota = {"SIGNAL_SEARCH_SOURCES__QUOTA_PER_DAY": json.dumps({"wikipedia": QUOTA})}
    running = start(tmp_path_factory.mktemp("quota"), parts, **quota)
    try:
        day_after = datetime.now(UTC).date() + timedelta(days=1)

        def ask(question: str) -> Result:
            with Client(redis_url=running.redis_url) as client:
                return client.retrieve(question, sources=["wikipedia"])

        with ThreadPoolExecutor(len(QUESTIONS)) as pool:
            results = list(pool.map(ask, QUESTIONS))
        sent = [row for row in running.requests("en.wikipedia.org") if row["path"] != "/robots.txt"]
        assert len(sent) == QUOTA
        outcomes = [each.source_outcomes[0] for each in results]
        refused = [each for each in outcomes if each.reason == "quota"]
        assert len(refused) >= 2  # four jobs want eight requests
        assert {each.until for each in refused} == {f"{day_after}T00:00:00Z"}
        # A job that has read one page and was refused another says so too, though its source has answered.
        for each in results:
            told = any(entry.startswith("wikipedia: quota") for entry in each.degradations)
            assert told or each.source_outcomes[0] not in refused
    finally:
        running.stack.stop()
