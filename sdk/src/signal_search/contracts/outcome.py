"""The results of all kinds of jobs as one type, and how their bytes are told apart."""

import msgspec
from msgspec import Struct

from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.memory_result import MemoryResult
from signal_search.contracts.research_result import ResearchResult
from signal_search.contracts.result import Result
from signal_search.contracts.search_result import SearchResult, SurveyResult

AnyResult = Result | SearchResult | SurveyResult | ResearchResult | AdaptiveResult | MemoryResult

_TYPES: dict[str, type[AnyResult]] = {
    "retrieve": Result,
    "search": SearchResult,
    "survey": SurveyResult,
    "adaptive": AdaptiveResult,
    "research": ResearchResult,
    "memory": MemoryResult,
}


class _Kind(Struct):
    """The part that tells results apart; those of retrieve jobs do not name their kind."""

    kind: str = "retrieve"


def decode_result(raw: bytes) -> AnyResult:
    """Return the result in `raw`.

    Raises:
        msgspec.DecodeError: it is not JSON, of no known kind, or not what its kind promises.
    """
    kind = msgspec.json.decode(raw, type=_Kind).kind
    if kind not in _TYPES:
        raise msgspec.ValidationError("a result of an unknown kind")
    return msgspec.json.decode(raw, type=_TYPES[kind])
