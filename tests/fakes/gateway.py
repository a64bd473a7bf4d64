"""A real gateway for tests: uvicorn in a thread on a free port of this machine, over the test's Redis."""

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import httpx
import msgspec
import uvicorn
from redis import Redis
from signal_search.contracts.budget import Usage
from signal_search.contracts.job import TRANSITIONS, JobEvent, JobState
from signal_search.contracts.query import Intent, Tier
from signal_search.contracts.result import CitedSource, Result, Stop, StopReason
from signal_search.contracts.trace import Ended

from api_gateway.app import create_app
from infra.job_store import JobStore
from infra.settings import Settings
from infra.steps import task_of


@contextmanager
def running(settings: Settings) -> Iterator[httpx.Client]:
    """Run the application until the block ends; yields a client of it."""
    config = uvicorn.Config(
        create_app(settings),
        host="127.0.0.1",
        port=0,
        log_level="warning",
        ws="none",
        lifespan="on",
        timeout_graceful_shutdown=2,
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive(), "the gateway did not start"
    port = server.servers[0].sockets[0].getsockname()[1]
    try:
        with httpx.Client(
            base_url=f"http://127.0.0.1:{port}", timeout=50, trust_env=False
        ) as client:
            yield client
    finally:
        server.should_exit = True
        thread.join(30)
        assert not thread.is_alive(), "the gateway did not stop"


def bells_for(redis: Redis, step_id: str) -> int:
    """Return how many messages ring for a step. Those for other steps may come at any time: a bell follows its answer."""
    waiting = redis.lrange(f"ss:mq:{task_of(step_id)}", 0, -1)
    heard = [msgspec.json.decode(each)["headers"]["argsrepr"] for each in waiting]
    return sum(step_id in each for each in heard)


def finish(redis: Redis, job_id: str, event: JobEvent, **more: Any) -> None:
    """End a job as the workers do, over its states."""
    store = JobStore(redis)
    stored = store.get(job_id)
    assert stored is not None
    result = more.pop("result", b"")
    if event in {JobEvent.SUCCEED, JobEvent.DEGRADE}:
        store.transition(job_id, JobEvent.PLAN)
    state = TRANSITIONS[JobState.PLANNING, event]
    entry = Ended(at_ms=stored.spec.created_at_ms + 5, key="ended", state=state, **more)
    assert store.end(stored.spec, event, entry, result=result) is state


def a_result(job_id: str) -> Result:
    """Return a small whole result."""
    source = CitedSource(
        number=1,
        doc_id="d1",
        url="https://example.org/a",
        title="Mount Ansel",
        source_id="one",
        site="example.org",
        source_type="reference",
        published="2021",
    )
    stop = Stop(
        reason=StopReason.AGREEMENT,
        text="",
        exhausted=False,
        coverage=1.0,
        saturation=1.0,
        rounds=1,
    )
    return Result(
        job_id=job_id,
        query="How high is Mount Ansel?",
        answer="2,114 metres",
        findings=(),
        sources=(source,),
        scores=(),
        confidence=0.5,
        confidence_reasons=(),
        token_used=0,
        usage=Usage(),
        exhausted=False,
        tier_used=Tier.L1,
        intent=Intent.FACT,
        language="en",
        stop=stop,
        faithfulness=None,
        claims_true=0,
        claims_total=0,
        uncertainties=(),
        conflicts=(),
        source_outcomes=(),
        warnings=(),
        degradations=(),
        trace=(),
    )
