"""Reading what a model proposes: strictly, within bounds, without mending. Pure."""

import json
import math
from collections.abc import Collection, Mapping
from typing import Any, Final, NoReturn

from workers.memory.plan import INVALID, Rounds, is_rounds, wrong_with
from workers.memory.tool import CAPABILITIES

_MOST_BYTES: Final = 65_536
_MOST_REASON: Final = 200  # characters that are kept of a model's reason
PLAN_VERSION: Final = "arr-router-v2"
RANK_VERSION: Final = "arr-rerank-v2"


class BadProposal(Exception):
    """A model's answer cannot be used; `reason` is the code."""

    def __init__(self, reason: str) -> None:
        """Remember why."""
        super().__init__(reason)
        self.reason = reason


def read_plan(text: str, registered: Collection[str] = tuple(CAPABILITIES)) -> Rounds:
    """Return the rounds of a plan: an object with `tool_rounds` (neither it nor a round empty) and a `reason`.

    Other fields are tolerated; a `schema_version`, where there is one, must be ours.

    Raises:
        BadProposal: `planner_invalid_response`, `planner_budget_exceeded`, `planner_duplicate_tool` or
            `planner_unknown_tool`.
    """
    found = _object(text, "planner_invalid_response")
    rounds, reason = found.get("tool_rounds"), found.get("reason")
    version = found.get("schema_version", PLAN_VERSION)
    if not rounds or not _is_said(reason) or version != PLAN_VERSION:
        raise BadProposal("planner_invalid_response")
    wrong = wrong_with(rounds, registered)
    if wrong is not None or not is_rounds(rounds) or any(not each for each in rounds):
        raise BadProposal(planner_code(wrong or INVALID))
    return tuple(tuple(each) for each in rounds)


def planner_code(wrong: str) -> str:
    """Return the planner's reason code for what is wrong with a plan."""
    return "planner_invalid_response" if wrong == INVALID else f"planner_{wrong}"


def read_scores(text: str, ids: Collection[str]) -> dict[str, tuple[float, str]]:
    """Return score and reason for each of `ids`: `results` has each once and no other; scores are from 0 to 1.

    Raises:
        BadProposal: `llm_invalid_response`.
    """
    results = _object(text, "llm_invalid_response").get("results")
    if not isinstance(results, list):
        raise BadProposal("llm_invalid_response")
    found = dict(_scored(each) for each in results)
    if len(found) != len(results) or set(found) != set(ids):
        raise BadProposal("llm_invalid_response")
    return found


def _scored(value: object) -> tuple[str, tuple[float, str]]:
    row: Mapping[str, Any] = value if isinstance(value, dict) else {}
    chunk_id, score, reason = row.get("chunk_id"), row.get("score"), row.get("reason")
    number = as_number(score)
    is_within = number is not None and 0 <= number <= 1
    if not isinstance(chunk_id, str) or number is None or not is_within or not _is_said(reason):
        raise BadProposal("llm_invalid_response")
    return chunk_id, (number, _plain(reason))


def as_number(value: object) -> float | None:
    """Return a finite number, None for anything else; true and false are no numbers."""
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    try:
        return float(value) if math.isfinite(value) else None
    except OverflowError:
        return None


def _is_said(value: object) -> bool:
    return isinstance(value, str) and bool(value.strip())


def _plain(reason: Any) -> str:
    return "".join(each for each in str(reason) if each.isprintable())[:_MOST_REASON].strip()


def _object(text: str, code: str) -> dict[str, Any]:
    """Return a JSON object without repeated keys, NaN or infinity, of at most 64 KiB."""
    try:
        if len(text.encode()) > _MOST_BYTES:
            raise BadProposal(code)
        found = json.loads(text, object_pairs_hook=_once, parse_constant=_no_number)
    except (ValueError, UnicodeError, RecursionError) as error:
        raise BadProposal(code) from error
    if not isinstance(found, dict):
        raise BadProposal(code)
    return found


def _once(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    """Refuse a key that is written twice: which one counts would depend on the reader."""
    found = dict(pairs)
    if len(found) != len(pairs):
        msg = "a key is repeated"
        raise ValueError(msg)
    return found


def _no_number(name: str) -> NoReturn:
    raise ValueError(name)
