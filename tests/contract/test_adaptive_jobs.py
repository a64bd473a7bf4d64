"""Whole adaptive searches over the loopback web: through the frontier to sources, with a judge, to the page."""

import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import msgspec
import pytest
from redis import Redis
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.trace import FetchQueued, LogEntry, Planned, Screened, Stopped

from api_gateway.desk import Desk
from api_gateway.owners import Reader
from infra.loopback_web.faults import Fault
from infra.loopback_web.server import LoopbackWeb, hosts
from infra.redis import connect
from infra.result_sets import ResultSets
from infra.settings import Settings, load
from scoring.screening.pages import ResultSet
from tests.fakes.walk import Walk
from tests.fakes.web import Answer, Seen, running_web
from workers.pipeline.kinds import strategy_of
from workers.pipeline.rules import from_log
from workers.pipeline.state import fold

JUDGE = "judge.test"
WIKI = "en.wikipedia.org"
ASKED: dict[str, Any] = {"questions": ["tidal power"], "keywords": ["tidal power"]}
TWO: dict[str, Any] = {
    "tasks": [
        {
            "context": "Tidal power",
            "targets": [
                {"id": "a", "keywords": ["tidal power"], "question": "Where is it used?"},
                {"id": "b", "keywords": ["tidal array"], "question": "What was built?"},
            ],
        }
    ]
}


@pytest.fixture(scope="module")
def web() -> Iterator[LoopbackWeb]:
    with LoopbackWeb() as web:
        yield web


@pytest.fixture(autouse=True)
def healed(web: LoopbackWeb) -> None:
    web.faults.clear()
    web.log.clear()


def settings(redis_url: str, web: LoopbackWeb, scenario: str = "", **adaptive: Any) -> Settings:
    """The typed judge of the loopback web, tried once for each request so that nothing rests."""
    figures = {
        "judge": "systemone",
        "judge_base_url": f"http://{JUDGE}/v1",
        "judge_model": f"scenario:{scenario}" if scenario else "loopback-1",
        "judge_api_key": "sk-judge-0123456789",
        "judge_retries": 0,
        "sources": ["wikipedia"],
        **adaptive,
    }
    return load(
        redis_url=redis_url,
        loopback={"only": True, "hosts": hosts(web.port)},
        politeness={"loopback_interval_s": 0.02},
        fetch={"clients": 2, "concurrency": 8},
        adaptive=figures,
    )


def submitted(settings: Settings, **given: Any) -> Walk:
    walk = Walk(settings)
    walk.submit(msgspec.convert(given or ASKED, AdaptiveRequest))
    return walk


def screened(settings: Settings, **given: Any) -> AdaptiveResult:
    result = submitted(settings, **given).outcome()
    assert isinstance(result, AdaptiveResult)
    return result


def log_of(walk: Walk) -> list[LogEntry]:
    return [entry for _id, entry in walk.tools.log.read("job_1")]


def statuses(result: AdaptiveResult) -> list[str]:
    return [each.status for each in result.keyword_progress]


# --- the ordinary course ----------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("redis")
def test_a_keyword_is_satisfied_with_one_search_and_three_requests(
    redis_url: str, web: LoopbackWeb
) -> None:
    result = screened(settings(redis_url, web))
    assert (result.stop_reason, result.retrieval_sufficient) == ("keyword_queue_empty", True)
    assert result.coverage_complete is False
    assert statuses(result) == ["satisfied"]
    assert result.total_results == len(result.results) > 0
    assert result.pending_assessments == 0
    judge = result.judge
    assert not isinstance(judge, msgspec.UnsetType)
    assert (judge.driver, judge.calls, judge.http_attempts) == ("systemone", 3, 3)
    assert len(web.log.entries(JUDGE)) == 3
    assert judge.reported_tokens > 0


@pytest.mark.usefixtures("redis")
def test_results_are_verbatim_and_in_order(redis_url: str, web: LoopbackWeb) -> None:
    walk = submitted(settings(redis_url, web, sources=["wikipedia", "openalex"]), **TWO)
    result = walk.outcome()
    assert isinstance(result, AdaptiveResult)
    values = [each.value_score for each in result.results]
    assert values == sorted(values, reverse=True)
    documents = walk.tools.log.documents(
        "job_1",
        [
            doc
            for each in fold(log_of(walk)).fetches()
            if each.finished
            for doc in each.finished.documents
        ],
    )
    plain = [" ".join(each.text.split()) for each in documents.values()]
    for each in result.results:
        assert all(any(part in text for text in plain) for part in each.description.split("\n"))
        assert {match.target_id for match in each.matches} <= {"a", "b"}
    walk.tools.redis.close()


@pytest.mark.usefixtures("redis")
def test_the_log_gives_the_same_bytes_again(redis_url: str, web: LoopbackWeb) -> None:
    walk = submitted(settings(redis_url, web, "continue"), **TWO)
    walk.play()
    raw = walk.tools.store.result("job_1")
    view = fold(log_of(walk))
    ids = [doc for each in view.fetches() if each.finished for doc in each.finished.documents]
    documents = walk.tools.log.documents("job_1", ids)
    assert view.spec is not None
    assert view.planned is not None
    again = strategy_of(view.spec).publish(view, documents, from_log(view.planned.rules))
    assert msgspec.json.encode(again) == raw
    walk.tools.redis.close()


@pytest.mark.usefixtures("redis")
def test_a_judge_that_never_has_enough_ends_when_nothing_is_left_to_search(
    redis_url: str, web: LoopbackWeb
) -> None:
    result = screened(settings(redis_url, web, "continue"))
    assert result.stop_reason == "no_action"
    assert statuses(result) == ["continue"]
    assert not result.retrieval_sufficient
    assert result.total_results > 0


@pytest.mark.usefixtures("redis")
def test_exhausted_is_no_success(redis_url: str, web: LoopbackWeb) -> None:
    result = screened(settings(redis_url, web, "exhausted"))
    assert (result.stop_reason, statuses(result)) == ("keyword_queue_empty", ["exhausted"])
    assert not result.retrieval_sufficient
    assert result.total_results > 0


@pytest.mark.usefixtures("redis")
def test_texts_that_steer_are_not_shown(redis_url: str, web: LoopbackWeb) -> None:
    result = screened(settings(redis_url, web, "steering"))
    assert result.total_results == 0
    assert not result.retrieval_sufficient


# --- a judge that fails -----------------------------------------------------------------------------------------------

FAULTS = (
    "status_401",
    "status_422",
    "status_429",
    "status_529",
    "status_500",
    "html",
    "redirect",
    "not_json",
    "wrong_shape",
)


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize("fault", FAULTS)
def test_what_was_approved_survives_a_judge_that_fails_at_the_decision(
    redis_url: str, web: LoopbackWeb, fault: str
) -> None:
    result = screened(settings(redis_url, web, f"{fault}@kw"))
    assert result.stop_reason == "jev_unavailable"
    assert statuses(result) == ["pending"]
    assert result.total_results > 0
    assert result.pending_assessments == 0
    assert not result.retrieval_sufficient


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize("fault", ["status_401", "status_529", "html", "redirect"])
def test_what_was_not_reviewed_is_counted_and_not_shown(
    redis_url: str, web: LoopbackWeb, fault: str
) -> None:
    result = screened(settings(redis_url, web, f"{fault}@src"))
    assert result.stop_reason == "jev_unavailable"
    assert (result.total_results, statuses(result)) == (0, ["pending"])
    assert result.pending_assessments == 3  # what this question finds in the encyclopedia


@pytest.mark.usefixtures("redis")
def test_a_judge_that_fails_before_any_search_leaves_one_plain_search(
    redis_url: str, web: LoopbackWeb
) -> None:
    result = screened(settings(redis_url, web, "status_500@plan"))
    assert result.stop_reason == "jev_unavailable"
    assert web.log.entries(WIKI)
    assert (result.total_results, result.pending_assessments > 0) == (0, True)
    assert any("plain search" in each for each in result.warnings)


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize("fault", ["text_values", "above_one", "missing", "no_reading_value"])
def test_answers_that_are_none_leave_texts_pending(
    redis_url: str, web: LoopbackWeb, fault: str
) -> None:
    result = screened(settings(redis_url, web, f"{fault}@src"))
    assert result.stop_reason == "no_action"
    assert (result.total_results, result.retrieval_sufficient) == (0, False)
    assert result.pending_assessments > 0
    assert statuses(result) == ["continue"]


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize("fault", ["not_offered", "odd_confidence", "unsure", "missing"])
def test_a_decision_that_is_none_stays_pending(
    redis_url: str, web: LoopbackWeb, fault: str
) -> None:
    result = screened(settings(redis_url, web, f"{fault}@kw"))
    assert (result.stop_reason, statuses(result)) == ("no_action", ["pending"])
    assert result.total_results > 0


# --- no judge, no source, no time, no budget --------------------------------------------------------------------------


@pytest.mark.usefixtures("redis")
def test_without_a_judge_nobody_is_asked_anything(redis_url: str, web: LoopbackWeb) -> None:
    result = screened(settings(redis_url, web, judge="none"))
    assert (result.stop_reason, result.total_results) == ("not_configured", 0)
    assert not web.log.entries(JUDGE)
    assert not web.log.entries(WIKI)


@pytest.mark.usefixtures("redis")
def test_without_a_source_the_judge_is_not_asked(redis_url: str, web: LoopbackWeb) -> None:
    result = screened(settings(redis_url, web, sources=["brave"]))
    assert result.stop_reason == "no_engines"
    assert not web.log.entries(JUDGE)


@pytest.mark.usefixtures("redis")
def test_a_source_that_is_down_does_not_make_a_keyword_exhausted(
    redis_url: str, web: LoopbackWeb
) -> None:
    web.faults.add(Fault(host=WIKI, status=404, count=None))
    result = screened(settings(redis_url, web, "exhausted"))
    assert (result.stop_reason, statuses(result)) == ("no_action", ["continue"])
    assert [each.state for each in result.source_outcomes] == ["failed"]


@pytest.mark.usefixtures("redis")
@pytest.mark.parametrize(
    ("budget", "stop"),
    [({"judge_requests": 2}, "budget_calls"), ({"model_tokens": 100}, "budget_tokens")],
)
def test_the_purse_is_asked_before_the_judge(
    redis_url: str, web: LoopbackWeb, budget: dict[str, int], stop: str
) -> None:
    made = settings(redis_url, web, judge_retries=2)
    result = screened(made, **ASKED, budget=budget)
    assert result.stop_reason == stop
    assert not web.log.entries(JUDGE)


@pytest.mark.usefixtures("redis")
def test_the_purse_has_what_the_judge_cost(redis_url: str, web: LoopbackWeb) -> None:
    walk = submitted(settings(redis_url, web))
    walk.play()
    told = [each for each in walk.entries() if isinstance(each, Screened)]
    balance = walk.tools.ledger.balance("job:job_1")
    used = {str(name): amount for name, amount in balance.used.items()}
    assert used["judge_requests"] == sum(each.said.attempts for each in told) == 3
    assert used["model_tokens"] == sum(each.said.tokens for each in told)
    assert not any(balance.held.values())
    walk.tools.redis.close()


@pytest.mark.usefixtures("redis")
def test_at_the_deadline_waiting_for_sources_is_told_apart(
    redis_url: str, web: LoopbackWeb
) -> None:
    """Not by the clock: the deadline is over when a source has been asked and has not answered."""
    web.faults.add(Fault(host=WIKI, latency_s=50.0, count=None))
    walk = submitted(settings(redis_url, web))

    def meanwhile() -> None:
        if any(isinstance(each, FetchQueued) for each in log_of(walk)):
            walk.pass_the_deadline()

    walk.meanwhile = meanwhile
    result = walk.outcome()
    assert isinstance(result, AdaptiveResult)
    assert result.stop_reason == "deadline"
    assert not isinstance(result.waiting, msgspec.UnsetType)
    assert result.waiting.queue_ms >= 0
    assert not result.retrieval_sufficient


# --- pages ------------------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("redis")
def test_the_result_set_is_kept_for_its_tenant(
    redis_url: str, web: LoopbackWeb, redis: Redis
) -> None:
    result = screened(settings(redis_url, web), **ASKED, page_size=1)
    assert result.next_cursor is not None
    name = result.next_cursor.split(".")[0]
    sets = ResultSets(redis, most=32)
    raw = sets.get("local", name)
    assert raw is not None
    kept = msgspec.json.decode(raw, type=ResultSet)
    assert len(kept.rows) == result.total_results
    assert kept.rows[0] == result.results[0]
    assert sets.get("somebody else", name) is None


# --- what a log says --------------------------------------------------------------------------------------------------


@pytest.mark.usefixtures("redis")
def test_every_request_to_the_judge_is_in_the_log_once(redis_url: str, web: LoopbackWeb) -> None:
    walk = submitted(settings(redis_url, web, "continue"))
    walk.play()
    entries = walk.entries()
    numbers = [each.number for each in entries if isinstance(each, Screened)]
    assert (
        numbers
        == list(range(1, len(numbers) + 1))
        == list(range(1, len(web.log.entries(JUDGE)) + 1))
    )
    [planned] = [each for each in entries if isinstance(each, Planned)]
    assert planned.plan.adaptive is not None
    assert [each.stop.reason.value for each in entries if isinstance(each, Stopped)] == [
        "no_action"
    ]


@pytest.mark.usefixtures("redis")
def test_a_cancelled_search_asks_the_judge_nothing_more(redis_url: str, web: LoopbackWeb) -> None:
    """The judge answers its first question when the job has been cancelled, and not before."""
    name = "job_" + "0" * 26
    asked, go_on = threading.Event(), threading.Event()

    def slow(_seen: Seen) -> Answer:
        asked.set()
        go_on.wait(40)
        return Answer(b"{}", headers=(("Content-Type", "application/json"),))

    with running_web() as judge:
        judge.route("/v1/systemone", slow)
        made = settings(redis_url, web)
        named = {**hosts(web.port), JUDGE: judge.authority}
        loopback = made.loopback.model_copy(update={"hosts": named})
        walk = Walk(made.model_copy(update={"loopback": loopback}))
        walk.submit(msgspec.convert(ASKED, AdaptiveRequest), job_id=name)
        tools, redis = walk.tools, connect(redis_url)
        desk = Desk(redis, tools.settings, tools.clock, walk.bells.extend)

        def cancel() -> None:
            assert asked.wait(40)
            desk.cancel(name, Reader(tenant="local"))
            go_on.set()

        with ThreadPoolExecutor(1) as pool:
            cancelling = pool.submit(cancel)
            walk.play(name)
            cancelling.result(timeout=40)
        assert judge.paths() == ["/v1/systemone"]
    assert not web.log.entries(WIKI)
    redis.close()
    tools.redis.close()
