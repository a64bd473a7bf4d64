"""Commands to research memory while no worker has its files: said so, and carried out once when one is there."""

from pathlib import Path

import pytest

from infra.settings import load
from tests.fakes.gateway import running
from tests.fakes.memory_http import Library, done, refused
from tests.fakes.research import a_scope
from workers.direct import DirectWalk

SCOPE = a_scope()
DRAFT = {"kind": "knowledge", "title": "t", "content": "alpha"}


@pytest.mark.timeout(60)
def test_what_nobody_answered_is_done_once_by_whoever_comes(redis_url: str, tmp_path: Path) -> None:
    research = {"folder": str(tmp_path / "memory"), "vectors": "off"}
    common = {"redis_url": redis_url, "data_dir": str(tmp_path), "research": research}
    with running(load(**common, gateway={"max_wait_s": 0})) as http:
        ann = Library(http, load(**common)).caller("lab", SCOPE)
        for _ in range(2):
            reply = ann.post("/memories", SCOPE, key="k", **DRAFT)
            assert refused(reply) == (503, "memory_unavailable", None)
            assert reply.headers["retry-after"] == "2"
        assert refused(ann.get("/memories", SCOPE)) == (503, "memory_unavailable", None)
    assert not (tmp_path / "memory").exists()  # the gateway has opened nothing
    walk = DirectWalk(load(**common))
    walk.start()
    try:
        with running(load(**common)) as http:
            again = ann._replace(http=http)
            kept = done(again.post("/memories", SCOPE, key="k", **DRAFT), 200)
            page = done(again.get("/memories", SCOPE))
    finally:
        walk.stop()
    assert [each["memory_id"] for each in page["memories"]] == [kept["memory_id"]]
