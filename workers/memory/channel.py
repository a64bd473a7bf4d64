"""The one check that each candidate of every channel passes: of this scope, whole, small, credentials masked."""

from typing import Final

from msgspec import structs
from signal_search.contracts.research import EvidenceChunk, ScopeKey

from workers.memory.credentials import mask
from workers.memory.reading import as_number
from workers.memory.scope import belongs
from workers.memory.tool import Retrieved

MOST_CHARACTERS: Final = 200_000  # of one chunk


class BadCandidates(Exception):
    """A channel's whole answer is dropped; `leaks` counts the candidates of another scope in it."""

    def __init__(self, reason: str, leaks: int = 0) -> None:
        """Remember why."""
        super().__init__(reason)
        self.reason = reason
        self.leaks = leaks


def checked(found: Retrieved, scope: ScopeKey, depth: int) -> tuple[EvidenceChunk, ...]:
    """Return the first `depth` candidates with credentials masked.

    Raises:
        BadCandidates: `invalid_tool_result`: something is no evidence; `scope_mismatch`: something is of another scope.
    """
    if not all(_is_evidence(each) for each in found.chunks):
        raise BadCandidates("invalid_tool_result")
    leaks = sum(not belongs(each, scope) for each in found.chunks)
    if leaks:
        raise BadCandidates("scope_mismatch", leaks)
    return tuple(_masked(each) for each in found.chunks[:depth])


def _is_evidence(chunk: object) -> bool:
    if type(chunk) is not EvidenceChunk:
        return False
    texts = (chunk.chunk_id, chunk.source_ref, chunk.content)
    scores = (chunk.vector_score, chunk.rerank_score)
    return (
        all(isinstance(each, str) for each in texts)
        and bool(chunk.chunk_id.strip())
        and len(chunk.content) <= MOST_CHARACTERS
        and all(each is None or as_number(each) is not None for each in scores)
    )


def _masked(chunk: EvidenceChunk) -> EvidenceChunk:
    content = mask(chunk.content)
    if content == chunk.content:
        return chunk
    changed: EvidenceChunk = structs.replace(chunk, content=content)
    return changed
