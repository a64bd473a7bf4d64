"""The adaptive search as its guide promises it (CONFORMANCE_DIR/jev.json): one case each, none of a kind left out."""

import json
from collections.abc import Callable, Iterator, Mapping
from datetime import date, datetime
from typing import Any

import msgspec
import pytest
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_plan import Origin
from signal_search.errors import Invalid

from scoring.screening.algebra import Row, reading_value, score_keyword
from scoring.screening.approved import Reviewed, approved
from scoring.screening.dates import Window, date_status, inferred_window
from scoring.screening.figures import WEIGHTS, Weights
from scoring.screening.gates import is_eligible
from scoring.screening.groups import Text, source_groups
from scoring.screening.judgement import Judgement
from scoring.screening.queries import candidate_queries, explicit_tokens
from scoring.screening.round_pool import pool_limit
from scoring.screening.targets import check_page, targets_of
from scoring.screening.url_key import url_key
from tests.conformance.cases import FOLDER, deviations
from tests.conformance.jev_view import holds, refused_view, value_at, view_of
from tests.conformance.jev_world import TODAY, World

Case = dict[str, Any]
NAME = "jev.json"
TABLES = {"meta", "constants"}
NAMES = {"alpha": "keyword", "beta": "coverage", "gamma": "repeated", "rho": "repetition"}


# --- the algebra ------------------------------------------------------------------------------------------------------


def _judgement(given: Mapping[str, Any]) -> Judgement:
    names = ("relevance", "reading_value", "injection", "direction_match", "time_match")
    said: dict[str, Any] = {name: given.get(name) for name in names}
    return Judgement(
        **said,
        keywords={each["keyword"]: each["match"] for each in given.get("keywords", ())},
        topics={each["topicId"]: each["match"] for each in given.get("topics", ())},
    )


def _keyword_score(args: Case) -> Any:
    rows = [
        Row(id=e["evidenceId"], url=e["url"], text=e["text"], judgement=_judgement(e["judgment"]))
        for e in args["rows"]
    ]
    topics = {each["id"]: each.get("weight", 1) for each in args["topics"]}
    try:
        given = args.get("weights", {})
        weights = Weights(**{NAMES[name]: each for name, each in given.items()})
        score = score_keyword(
            args["keyword"], rows, topics, has_intent=args["intent_present"], weights=weights
        )
    except ValueError:
        return "error"
    named = {"A": score.best, "F": score.coverage, "R": score.repeated}
    return {**msgspec.structs.asdict(score), **named}


def _groups(args: Case) -> dict[str, int]:
    rows = args["rows"]
    found = source_groups([Text(url=each["url"], text=each["text"]) for each in rows])
    return {each["evidenceId"]: group for each, group in zip(rows, found, strict=True)}


FUNCTIONS: dict[str, Callable[[Case], Any]] = {
    "reading_value": lambda a: reading_value(
        _judgement(a["judgment"]), has_intent=a["intent_present"]
    ),
    "eligible": lambda a: is_eligible(_judgement(a["judgment"])),
    "keyword_score": _keyword_score,
    "keyword_match": lambda a: _judgement(a["judgment"]).keywords.get(a["keyword"]),
    "topic_match": lambda a: _judgement(a["judgment"]).topics.get(a["topic"]),
    "weights": lambda _a: {name: getattr(WEIGHTS, ours) for name, ours in NAMES.items()},
    "groups": _groups,
}


def check_algebra(case: Case) -> None:
    for each in case["checks"]:
        got, expect = FUNCTIONS[each["fn"]](each["args"]), each["expect"]
        if each["fn"] == "groups":
            assert all(got[one] == got[other] for one, other in expect.get("same", ()))
            assert all(got[one] != got[other] for one, other in expect.get("different", ()))
        elif isinstance(expect, dict):
            assert {name: got[name] for name in expect} == pytest.approx(expect, abs=1e-9)
        elif isinstance(expect, float):
            assert got == pytest.approx(expect, abs=1e-9)
        else:
            assert got == expect


# --- the loop ---------------------------------------------------------------------------------------------------------


def check_loop(case: Case) -> None:
    if not case.get("applicable", True):
        pytest.skip(case["why"])
    try:
        world = World(case, _harness())
        world.run()
        view = view_of(world)
    except (Invalid, msgspec.ValidationError):
        view = refused_view()
    for path, operator, wanted in case["expect"]:
        got = value_at(view, path)
        assert holds(got, operator, wanted), f"{path} is {got!r}, expected {operator} {wanted!r}"


# --- input, dates, queries, addresses -------------------------------------------------------------------------------

# The words of the case file -> what our refusal's field says; a word that is not here only has to be refused.
FIELDS: dict[str, str] = {
    "keywords_mixed": "keywords",
    "keywords_with_tasks": "keywords",
    "intent": "intent",
    "target_intent": "intent",
    "exactly_one": "questions",
    "questions_count": "questions",
    "question_text": "questions",
    "target": "targets",
    "facts": "facts",
    "time_range": "time_range",
}


def _refusal(given: Case) -> str | None:
    """The field at fault, "" where a type says no; None when all is well."""
    try:
        request = msgspec.convert(given, AdaptiveRequest)
        if request.cursor is not msgspec.UNSET:
            check_page(request)
        else:
            targets_of(request, TODAY)
    except Invalid as refused:
        return refused.field if refused.code == "invalid_input" else None
    except msgspec.ValidationError as refused:
        return str(refused)
    return None


def check_input_validation(case: Case) -> None:
    field = _refusal(case["input"])
    if case["error"] is None:
        assert field is None
        request = msgspec.convert(case["input"], AdaptiveRequest)
        targets = targets_of(request, TODAY)
        if "expect_keywords" in case:
            assert [list(each.given) for each in targets] == case["expect_keywords"]
        return
    assert field is not None
    assert FIELDS.get(case["error"], "") in field


def check_date_window(case: Case) -> None:
    now = datetime.fromisoformat(case["now"]).date()
    found, expect = inferred_window(case["text"], now), case["expect"]
    got = {**msgspec.structs.asdict(found), "timeZone": "UTC"} if found is not None else None
    assert got == expect


def check_date_inspection(case: Case) -> None:
    window = Window(**case["window"], basis=case["basis"])
    got = date_status(window, published=case["published"], text=case["text"])
    assert got == case["expect"]


def check_explicit_tokens(case: Case) -> None:
    assert explicit_tokens(case["given"]) == case["expect"]


def check_round_pool_limit(case: Case) -> None:
    counts = {"open_keywords": case["remaining"], "keywords": case["total"]}
    assert pool_limit(**counts, most=500, least=24) == case["expect"]


def check_query_candidates(case: Case) -> None:
    target = case["target"]
    window = target.get("timeWindow")
    got = candidate_queries(
        text=target["text"],
        context=target.get("context") or "",
        acceptance=target.get("acceptance") or "",
        keywords=target.get("keywords", []),
        facts=[each["question"] for each in target.get("facts", ())],
        window=Window(**{name: window[name] for name in ("start", "end", "basis")})
        if window
        else None,
    )
    assert got == case["expect"]


def check_url_key(case: Case) -> None:
    assert url_key(case["given"]) == case["expect"]
    assert url_key(case["expect"]) == case["expect"]


# --- pages ------------------------------------------------------------------------------------------------------------


def _row(number: int, given: Case) -> Reviewed:
    origin = Origin(number=number, task_id=given.get("taskId"), target_id=given.get("targetId"))
    return Reviewed(
        url=given["url"],
        title=given.get("title", ""),
        text=given["reviewedText"],
        status=given["status"],
        is_assessed=given["assessed"],
        value=given["valueScore"],
        direction=given["judgment"].get("direction_match"),
        kind=given["kind"],
        canonical_id=given.get("canonicalId", ""),
        origins=(origin,),
    )


def check_pages(case: Case) -> None:
    rows = [_row(at, each) for at, each in enumerate(case["evidence"], 1)]
    got = msgspec.json.decode(msgspec.json.encode(approved(rows)))
    for result, expect in zip(got, case["expect"], strict=True):
        assert {name: result[name] for name in expect} == expect


# --- the file ---------------------------------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[Case], None]] = {
    "algebra": check_algebra,
    "loop": check_loop,
    "input_validation": check_input_validation,
    "date_window": check_date_window,
    "date_inspection": check_date_inspection,
    "explicit_tokens": check_explicit_tokens,
    "round_pool_limit": check_round_pool_limit,
    "query_candidates": check_query_candidates,
    "url_key": check_url_key,
    "pages": check_pages,
}


def _file() -> Case:
    found: Case = json.loads((FOLDER / NAME).read_text())
    return found


def _harness() -> Case:
    found: Case = _file()["meta"]["harness"]
    return found


def _cases() -> Iterator[Any]:
    if not (FOLDER / NAME).is_file():
        mark = pytest.mark.skip(reason=f"no {NAME}: set CONFORMANCE_DIR")
        yield pytest.param("", {}, id=NAME, marks=mark)
        return
    kept = deviations("jev")
    for area, table in _file().items():
        if area in TABLES:
            continue
        for number, case in enumerate(_listed(area, table), 1):
            name = case.get("id") or f"{area}-{number}"
            marks = [pytest.mark.skip(reason=kept[name])] if name in kept else []
            yield pytest.param(area, case, id=f"{area}-{name}", marks=marks)


def _listed(area: str, table: Any) -> list[Case]:
    """The cases of an area; pairs, and tables with a head, are written out."""
    if area == "pages":
        return list(table["approved"])
    if isinstance(table, dict):
        head = {name: each for name, each in table.items() if name != "cases"}
        return [{**head, **each} for each in table["cases"]]
    return [
        each if isinstance(each, dict) else {"given": each[0], "expect": each[1]} for each in table
    ]


@pytest.mark.parametrize(("area", "case"), list(_cases()))
def test_case(area: str, case: Case) -> None:
    CHECKS[area](case)


def test_dates_are_of_the_day_the_call_began() -> None:
    assert inferred_window("today", date(2026, 8, 1)) == Window(
        start="2026-08-01", end="2026-08-01", basis="event"
    )
