"""Signal Search: evidence rather than links.

The client is loaded when it is first named, so that importing the contracts does not import an HTTP library.
"""

from typing import TYPE_CHECKING

from signal_search.contracts.budget import Budget, Usage
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs, Tier
from signal_search.contracts.research import ScopeKey
from signal_search.contracts.result import Result, StopReason
from signal_search.contracts.search import SearchRequest, SurveyRequest
from signal_search.contracts.search_result import SearchResult, SurveyResult
from signal_search.errors import SignalSearchError

if TYPE_CHECKING:
    from signal_search.client import AsyncClient, Client, Update, retrieve

__all__ = [
    "AsyncClient",
    "Budget",
    "Client",
    "Constraints",
    "Job",
    "JobState",
    "Result",
    "RetrieveRequest",
    "ScopeKey",
    "SearchRequest",
    "SearchResult",
    "SignalSearchError",
    "SourcePrefs",
    "StopReason",
    "SurveyRequest",
    "SurveyResult",
    "Tier",
    "Update",
    "Usage",
    "retrieve",
]

_OF_THE_CLIENT = frozenset({"AsyncClient", "Client", "Update", "retrieve"})


def __getattr__(name: str) -> object:
    """Load the client when one of its names is asked for (PEP 562)."""
    if name not in _OF_THE_CLIENT:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from signal_search import client  # noqa: PLC0415 - that is the point

    return getattr(client, name)
