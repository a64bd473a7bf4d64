"""The port of a channel: what it says about itself, what it returns, and how it says that it cannot."""

from datetime import datetime
from typing import Final, Literal, Protocol

from msgspec import Struct
from signal_search.contracts.research import EvidenceChunk, ScopeKey

MEMORY: Final = "research-memory"
GREP: Final = "grep"
BM25: Final = "bm25"
VECTOR: Final = "vector"

# What a planner is told about a tool: by its name alone, never by the tool's own words.
CAPABILITIES: Final = {
    MEMORY: "published local research memory",
    GREP: "local source text search",
    BM25: "lexical local index",
    VECTOR: "semantic local index",
}
OTHER_CAPABILITY: Final = "registered local read-only retrieval"

FailureReason = Literal[
    "index_unavailable",
    "index_invalid",
    "stale_index",
    "embedding_error",
    "vector_store_error",
    "embedding_model_mismatch",
    "invalid_tool_result",
]


class ToolFailed(Exception):
    """A channel could not look; `reason` is the code for the trace and the degradations."""

    def __init__(self, reason: FailureReason) -> None:
        """Remember why."""
        super().__init__(reason)
        self.reason = reason


class Retrieved(Struct, frozen=True):
    """What a channel found, best first, and how many files it left out on purpose."""

    chunks: tuple[EvidenceChunk, ...]
    skipped: int = 0


class Tool(Protocol):
    """A channel. Everything it says is checked by the router: it is trusted with nothing but looking."""

    @property
    def name(self) -> str:
        """The name it is registered and planned by."""
        ...

    @property
    def provider(self) -> str:
        """Where it looks; the router admits what is on this machine."""
        ...

    @property
    def read_only(self) -> bool:
        """Whether it changes nothing."""
        ...

    def index_updated_at(self, scope: ScopeKey) -> datetime | None:
        """Return when what it knows of a scope was last compared with its source; None when it cannot tell."""
        ...

    def retrieve(self, query: str, scope: ScopeKey) -> Retrieved:
        """Return candidates of exactly this scope; changes nothing. Raises ToolFailed."""
        ...


def capability(name: str) -> str:
    """Return what a planner is told about the tool of this name."""
    return CAPABILITIES.get(name, OTHER_CAPABILITY)
