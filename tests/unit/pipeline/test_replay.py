"""Replay: the same figures give the same bytes; other figures show what they would have changed."""

import msgspec
import pytest
from signal_search.contracts.trace import LogEntry
from signal_search.errors import Conflict, Invalid

from infra.bundle import VERSION, Bundle
from infra.settings import load
from tests.fakes.builders import (
    a_document,
    a_job,
    a_log,
    finished,
    planned,
    queued,
    started,
    stopped,
)
from workers.pipeline.publish import publish
from workers.pipeline.replay import changed, replay
from workers.pipeline.rules import from_log, snapshot, to_log
from workers.pipeline.state import fold

RULES = snapshot(load())
DOCUMENTS = (
    a_document(doc_id="a", url="https://atlas.org/a", site="atlas.org", published="2020-01-01"),
    a_document(
        doc_id="b",
        url="https://survey.gov/b",
        site="survey.gov",
        text="The survey found that Mount Ansel is 2,114 metres high.",
    ),
)
LOG = a_log(
    started("q1.one", 1),
    started("q1.two", 1),
    queued("q1.one#1"),
    queued("q1.two#1"),
    finished("q1.one#1", "a"),
    finished("q1.two#1", "b"),
    stopped("a", "b"),
)


def a_bundle(log: list[LogEntry] = LOG, result: bytes | None = None) -> Bundle:
    if result is None:
        stored = {each.doc_id: each for each in DOCUMENTS}
        result = msgspec.json.encode(publish(fold(log), stored, RULES))
    entries = tuple((f"{number}-0", entry) for number, entry in enumerate(log, 1))
    return Bundle(
        version=VERSION, spec=a_job(), entries=entries, documents=DOCUMENTS, result=result
    )


def test_the_same_figures_give_the_same_result() -> None:
    again = replay(a_bundle())
    assert (again.same, again.differences, again.job_id) == (True, (), "job_1")
    assert again.digest == replay(a_bundle()).digest


def test_other_figures_show_what_they_change() -> None:
    again = replay(a_bundle(), {"sba.weights.recency": 0.0, "sba.weights.relevance": 0.45})
    assert not again.same
    paths = {each.path for each in again.differences}
    assert "scores[0].weighted" in paths
    assert not any(path.startswith(("usage", "trace", "stop")) for path in paths)
    [weighted] = [each for each in again.differences if each.path == "scores[0].weighted"]
    assert float(weighted.after) == again.result.scores[0].weighted != float(weighted.before)


def test_fewer_passage_tokens_change_no_source() -> None:
    again = replay(a_bundle(), {"passage_tokens": 1})
    assert [each.doc_id for each in again.result.sources] == [
        each.doc_id for each in replay(a_bundle()).result.sources
    ]


@pytest.mark.parametrize(
    "name",
    ["", "sba", "sba.weights.luck", "nothing", "sba.weights.recency.more", "sba..recency", "."],
)
def test_a_name_that_is_no_figure_is_refused(name: str) -> None:
    value = "x" if name == "sba" else 1
    with pytest.raises(Invalid):
        replay(a_bundle(), {name: value})


@pytest.mark.parametrize(
    ("name", "value"),
    [("passage_tokens", "many"), ("stop.agreement", 1.5), ("site.max_pages", None)],
)
def test_a_value_of_the_wrong_type_is_refused(name: str, value: object) -> None:
    with pytest.raises(Invalid) as caught:
        changed(RULES, {name: value})
    assert caught.value.field == "set"


def test_changing_a_figure_changes_that_figure_only() -> None:
    new = to_log(changed(RULES, {"stop.agreement": 5}))
    old = to_log(RULES)
    assert new["stop"] == {**old["stop"], "agreement": 5}  # type: ignore[dict-item]
    assert {**new, "stop": old["stop"]} == old
    assert from_log(old) == RULES


@pytest.mark.parametrize("length", range(len(LOG)))
def test_a_job_that_did_not_stop_has_nothing_to_replay(length: int) -> None:
    with pytest.raises(Conflict):
        replay(a_bundle(LOG[:length], result=b""))


def test_a_bundle_without_a_result_has_no_differences() -> None:
    again = replay(a_bundle(result=b""))
    assert (again.same, again.differences) == (False, ())
    assert again.result.findings


def test_a_bundle_with_figures_of_another_version_is_refused() -> None:
    """Bundles come from strangers: what they say is checked like any other input."""
    foreign = [planned(rules={"sba": 1}) if each.key == "planned" else each for each in LOG]
    with pytest.raises(Invalid):
        replay(a_bundle(foreign, result=b""))


def test_long_values_are_shown_cut() -> None:
    other = msgspec.json.encode({"answer": "x" * 500, "query": "short"})
    shown = {each.path: each.before for each in replay(a_bundle(result=other)).differences}
    assert shown["answer"] == '"' + "x" * 119 + "..."
    assert shown["query"] == '"short"'
