"""A worker that is killed at any of its writes: the job ends with the same page, and is charged once."""

from typing import Any

import msgspec
from redis import Redis
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.outcome import decode_result

from api_gateway.specs import spec_of
from tests.fakes.builders import NOW_MS
from tests.fakes.spine import DEADLINE_MS, Fuse, Spine

ASKED = {"questions": ["How high is Mount Ansel?"], "keywords": ["Mount Ansel", "glacier"]}
FIGURES: dict[str, Any] = {"judge": "rule", "sources": ["wikipedia"], "hits_medium": 5}


def submitted(redis_url: str) -> Spine:
    spine = Spine(redis_url, adaptive=FIGURES)
    spec = spec_of(
        msgspec.convert(ASKED, AdaptiveRequest),
        id="job_1",
        tenant="local",
        created_at_ms=NOW_MS,
        deadline_ms=NOW_MS + DEADLINE_MS,
        result_ttl_s=600,
    )
    spine.tools.store.create(spec)
    spine.tools.start(["job_1/plan"])
    return spine


def page_of(spine: Spine) -> dict[str, Any]:
    """What the caller sees, without what depends on when it was seen."""
    raw = spine.tools.store.result("job_1")
    assert raw is not None
    found = decode_result(raw)
    assert isinstance(found, AdaptiveResult)
    page: dict[str, Any] = msgspec.to_builtins(found)
    for name in ("trace", "waiting", "expiresAt"):
        del page[name]
    return page


def ran(redis: Redis, redis_url: str, at: int | None) -> tuple[Spine, Fuse]:
    redis.flushdb()
    spine, fuse = submitted(redis_url), Fuse(at)
    spine.wire(fuse)
    spine.drive()
    return spine, fuse


def test_a_killed_worker_changes_nothing(redis: Redis, redis_url: str) -> None:
    well, fuse = ran(redis, redis_url, None)
    page, spent = page_of(well), well.used()
    assert page["totalResults"] == 1
    assert {each["status"] for each in page["keywordProgress"]} == {"satisfied", "exhausted"}
    assert any("ledger.reserve" in each for each in fuse.passed)
    for at in range(0, len(fuse.passed), 4):
        spine, _fuse = ran(redis, redis_url, at)
        assert spine.crashes == 1, f"no crash at {at}: {fuse.passed[at]}"
        assert page_of(spine) == page, f"after a crash {fuse.passed[at]}"
        assert spine.used() == spent, f"after a crash {fuse.passed[at]}"
        assert not spine.held()
        spine.redis.close()
