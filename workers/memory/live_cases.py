"""Files of live cases: what a planner is offered, what it should choose, which candidates come first.

Read strictly: the form is the memory guide's: `{"dataset_version", "cases"}`, at most 20 cases, and nothing that it
does not name.
"""

from typing import Annotated, Final

import msgspec
from msgspec import Meta, Struct
from signal_search.contracts.research import ScopeKey
from signal_search.errors import Invalid

from workers.memory.scope import make_scope
from workers.memory.words import words

MOST_CASES: Final = 20  # memory guide

_Name = Annotated[str, Meta(min_length=1, max_length=200)]
_Names = tuple[_Name, ...]


class LiveCase(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """One situation. expected_first_relevant_rank: from 1, at the worst; None when nothing is relevant."""

    case_id: _Name
    query: _Name
    scope: dict[str, str]
    allowed_tools: Annotated[_Names, Meta(min_length=1, max_length=12)]
    expected_tools: _Names
    candidate_ids: Annotated[_Names, Meta(min_length=1, max_length=100)]
    relevant_ids: _Names
    scenario_kind: _Name
    expected_first_relevant_rank: int | None

    @property
    def key(self) -> ScopeKey:
        """Return the scope."""
        return make_scope(self.scope)


class _File(Struct, frozen=True, forbid_unknown_fields=True):
    dataset_version: _Name
    cases: Annotated[tuple[LiveCase, ...], Meta(min_length=1, max_length=MOST_CASES)]


def read_live_cases(body: bytes) -> tuple[str, tuple[LiveCase, ...]]:
    """Return the version of a file and its cases.

    Raises:
        Invalid: the file is not of this form, or a case contradicts itself; the field says where.
    """
    try:
        file = msgspec.json.decode(body, type=_File)
    except (msgspec.MsgspecError, UnicodeError) as error:
        raise Invalid("The file is no file of live cases.", field="file") from error
    if len({each.case_id for each in file.cases}) != len(file.cases):
        raise Invalid("Two cases have one id.", field="case_id")
    for case in file.cases:
        _check(case)
    return file.dataset_version, file.cases


def _check(case: LiveCase) -> None:
    make_scope(case.scope)
    for field in ("allowed_tools", "expected_tools", "candidate_ids", "relevant_ids"):
        names = getattr(case, field)
        if len(set(names)) != len(names):
            raise Invalid("A name comes twice.", field=field)
    rank, is_ranked = case.expected_first_relevant_rank, bool(case.relevant_ids)
    within = rank is not None and 1 <= rank <= len(case.candidate_ids)
    checks = (
        (bool(words(case.query)), "query"),
        (set(case.expected_tools) <= set(case.allowed_tools), "expected_tools"),
        (set(case.relevant_ids) <= set(case.candidate_ids), "relevant_ids"),
        (within if is_ranked else rank is None, "expected_first_relevant_rank"),
    )
    for holds, field in checks:
        if not holds:
            raise Invalid("A case contradicts itself.", field=field)
