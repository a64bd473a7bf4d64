"""What a case of the adaptive search can ask about a run, and the small language of its expectations."""

import re
from collections.abc import Callable
from typing import Any

import msgspec
import pytest
from signal_search.contracts.adaptive_plan import Origin

from scoring.screening.progress import target_status
from tests.conformance.jev_world import World
from workers.screening.material import is_useful, standings
from workers.screening.pool import Association
from workers.screening.report import (
    is_sufficient,
    page_base,
    progress_of,
    results_of,
    reviewed,
)
from workers.screening.state import LoopState, TargetState

Case = dict[str, Any]


def view_of(world: World) -> Case:
    """Return the observables of a run."""
    state = world.state
    page = page_base(state, state.stop or "cancelled")  # type: ignore[arg-type]
    questions = [
        _question(state, one, origin) for one in state.targets for origin in one.target.origins
    ]
    by_phase = {
        phase: [each for each in world.requests if each["phase"] == phase]
        for phase in ("plan", "source_judge", "keyword_judge")
    }
    return {
        **_plain(page),
        "tool": "adaptive_search",  # the name of the tool is the face's, not the loop's
        "stopReason": state.stop,
        "rounds": state.round,
        "retrievalSufficient": is_sufficient(state),
        "questions": sorted(questions, key=lambda each: each["number"]),
        "evidence": [_evidence(e) for one in state.targets for e in state.pool.of(one.target)],
        "sources": state.pool.size,
        "jevCalls": state.spent.calls,
        "httpAttempts": state.spent.attempts,
        "estimatedTokens": state.spent.estimated,
        "uncovered": sum(each["status"] != "satisfied" for each in questions),
        "warningKinds": [each.kind for each in state.remarks],
        "calls": {"search": world.searches, "jev": world.requests, **by_phase},
        "phases": sorted({each["phase"] for each in world.requests}),
        "asked": dict(world.asked),
        "approved": _plain(results_of(state)),
        "all_requests_fit": all(each["fits"] for each in world.requests),
    }


def _plain(value: Any) -> Any:
    """As JSON has it: lists, no tuples."""
    return msgspec.json.decode(msgspec.json.encode(value))


def refused_view() -> Case:
    """Return the observables of a request that was refused before any work."""
    return {
        "schemaVersion": 3,
        "retrievalSufficient": False,
        "coverageComplete": False,
        "stopReason": "invalid_input",
        "calls": {"search": [], "jev": []},
        "jevCalls": 0,
        "approved": [],
    }


def _question(state: LoopState, one: TargetState, origin: Origin) -> Case:
    found = [each.status for each in standings(state, one)]
    own = [each for each in progress_of(state) if each.canonical_id == one.target.id]
    rows = own[: len(found)]
    histories = [_plain(each) for each in one.history]
    useful = [each for each in state.pool.of(one.target) if is_useful(each)]
    return {
        "number": origin.number,
        "id": one.target.id,
        "canonicalId": one.target.id,
        "taskId": origin.task_id,
        "targetId": origin.target_id,
        "question": one.target.text,
        "status": target_status(found),
        "keywordProgress": [
            {**_plain(row), "history": history}
            for row, history in zip(rows, histories, strict=True)
        ],
        "openKeywords": found.count("continue"),
        "pendingKeywords": found.count("pending"),
        "openOrPending": found.count("continue") + found.count("pending"),
        "evidenceCount": len(list(state.pool.of(one.target))),
        "usefulCount": len(useful),
    }


def _evidence(each: Association) -> Case:
    row, said = reviewed(each), each.judgement
    return {
        "url": row.url,
        "title": row.title,
        "status": row.status,
        "assessed": row.is_assessed,
        "valueScore": row.value,
        "kind": row.kind,
        "canonicalId": row.canonical_id,
        "reviewedText": row.text,
        "published": each.source.published or None,
        "judgment": _plain(said) if said is not None else None,
    }


# --- expectations -----------------------------------------------------------------------------------------------------

_STEP = re.compile(r"\.?([A-Za-z_]\w*)|\[(-?\d+)\]|\[(\*)\]|\[(\w+)=([^\]]*)\]")


def value_at(view: Any, path: str) -> Any:
    """Return what a path names: `a.b[0]`, `a[*].b`, `a[*].b[*].c`, `a[status=x].length`."""
    value, is_many, end = view, False, 0
    for step in _STEP.finditer(path):
        assert step.start() == end, f"cannot read the path {path}"
        end = step.end()
        if step[3]:
            value = [each for inner in value for each in inner] if is_many else value
            is_many = True
        else:
            value = [_step(each, step) for each in value] if is_many else _step(value, step)
    assert end == len(path), f"cannot read the path {path}"
    return value


def _step(value: Any, step: re.Match[str]) -> Any:
    name, index, _star, field, wanted = step.groups()
    if field:
        return [each for each in value if str(each.get(field)) == wanted]
    if index is not None:
        return value[int(index)]
    return len(value) if name == "length" else value.get(name)


def holds(got: Any, operator: str, wanted: Any) -> bool:
    """Return whether a value is as a case expects."""
    checks: dict[str, Callable[[], Any]] = {
        "eq": lambda: _same(got, wanted),
        "ne": lambda: not _same(got, wanted),
        "approx": lambda: got == pytest.approx(wanted, abs=1e-9),
        "gt": lambda: got > wanted,
        "gte": lambda: got >= wanted,
        "lt": lambda: got < wanted,
        "lte": lambda: got <= wanted,
        "in": lambda: got in wanted,
        "not_in": lambda: got not in wanted,
        "contains": lambda: wanted in got,
        "not_contains": lambda: wanted not in got,
        "all_eq": lambda: all(_same(each, wanted) for each in got),
        "any_eq": lambda: any(_same(each, wanted) for each in got),
        "none_eq": lambda: not any(_same(each, wanted) for each in got),
        "all_in": lambda: all(each in wanted for each in got),
        "all_contains": lambda: all(wanted in each for each in got),
        "any_contains": lambda: any(wanted in each for each in got),
        "none_contains": lambda: not any(wanted in each for each in got),
    }
    return bool(checks[operator]())


def _same(got: Any, wanted: Any) -> bool:
    if isinstance(got, float) and isinstance(wanted, int | float):
        return bool(got == pytest.approx(wanted, abs=1e-9))
    return bool(got == wanted)
