"""Channels put together: reciprocal rank fusion of what several found, the channel's own order where one did. Pure."""

from collections.abc import Sequence

from msgspec import Struct, structs
from signal_search.contracts.research import EvidenceChunk, ScopeKey

from scoring.fusion import fuse

Identity = tuple[str, str | None, ScopeKey, str]


class FusedChunks(Struct, frozen=True):
    """Chunks in order, and whether some were dropped because two channels meant different texts by one id."""

    chunks: tuple[EvidenceChunk, ...]
    has_conflict: bool = False


def identity(chunk: EvidenceChunk) -> Identity:
    """Return what makes two chunks of one id the same: source, place, scope and text."""
    return (chunk.source_ref, chunk.locator, chunk.scope, chunk.content)


def fuse_channels(channels: Sequence[Sequence[EvidenceChunk]]) -> FusedChunks:
    """Return the chunks of all channels, best first, each once.

    Two or more channels with something: the sum of 1 / (60 + rank), ties by source, place and id, the score in
    `metadata.rrf_score`. One: its own order, no score. A chunk that two channels describe differently is dropped, as
    neither can be trusted; the others stay.
    """
    conflicts = _conflicts(channels)
    lists = [_once(each, conflicts) for each in channels]
    lists = [each for each in lists if each]
    if len(lists) < 2:
        only = tuple(_without_score(each) for each in (lists[0] if lists else ()))
        return FusedChunks(only, bool(conflicts))
    first: dict[str, EvidenceChunk] = {}
    for each in lists:
        for chunk in each:
            first.setdefault(chunk.chunk_id, chunk)
    fused = fuse([[chunk.chunk_id for chunk in each] for each in lists])
    scored = [_with_score(first[each.key], each.score) for each in fused]
    return FusedChunks(tuple(sorted(scored, key=_by_score)), bool(conflicts))


def _conflicts(channels: Sequence[Sequence[EvidenceChunk]]) -> frozenset[str]:
    seen: dict[str, Identity] = {}
    return frozenset(
        chunk.chunk_id
        for each in channels
        for chunk in each
        if seen.setdefault(chunk.chunk_id, identity(chunk)) != identity(chunk)
    )


def _once(channel: Sequence[EvidenceChunk], conflicts: frozenset[str]) -> list[EvidenceChunk]:
    found: dict[str, EvidenceChunk] = {}
    for chunk in channel:
        if chunk.chunk_id not in conflicts:
            found.setdefault(chunk.chunk_id, chunk)
    return list(found.values())


def _with_score(chunk: EvidenceChunk, score: float) -> EvidenceChunk:
    changed: EvidenceChunk = structs.replace(chunk, metadata={**chunk.metadata, "rrf_score": score})
    return changed


def _without_score(chunk: EvidenceChunk) -> EvidenceChunk:
    if "rrf_score" not in chunk.metadata:
        return chunk
    rest = {key: value for key, value in chunk.metadata.items() if key != "rrf_score"}
    changed: EvidenceChunk = structs.replace(chunk, metadata=rest)
    return changed


def _by_score(chunk: EvidenceChunk) -> tuple[float, str, str, str]:
    return (-chunk.metadata["rrf_score"], *place(chunk))


def place(chunk: EvidenceChunk) -> tuple[str, str, str]:
    """Return what ties go by: source, place, id."""
    return (chunk.source_ref, chunk.locator or "", chunk.chunk_id)
