"""What research memory found, as documents of a job: each with an address that leads back to where it stands.

`memory://local/records/ID` is a memory; `memory://local/files/PATH#line:3-9` are lines of a file of the scope's folder.
The host is the same for all, so that one's own notes and files are one voice beside the sites of the web, however many
of them say the same.
"""

from collections.abc import Iterable
from typing import Final
from urllib.parse import quote

from msgspec import structs
from signal_search.contracts.document import Document
from signal_search.contracts.query import MEMORY_SOURCE
from signal_search.contracts.research import EvidenceChunk

from workers.adapter import DocumentFacts, make_document
from workers.memory.dates import date_of

ADDRESS: Final = "memory://local/"
_RECORD: Final = "research_memory:"  # what the channel of memories puts before an id
# The search guide has no row for what an organisation keeps for itself, and so it counts as unknown: whoever wrote it
# down is known to the reader but not to this program, and a note is no better witness than a page.
_FACTS: Final = DocumentFacts(source_type="internal", record=False)


def documents_of(evidence: Iterable[EvidenceChunk], fetched_at_ms: int) -> tuple[Document, ...]:
    """Return a document for each piece of evidence, in order; read at `fetched_at_ms` (epoch milliseconds)."""
    return tuple(
        make_document(
            url=address_of(each),
            title=_title(each),
            text=each.content,
            source_id=MEMORY_SOURCE,
            fetched_at_ms=fetched_at_ms,
            facts=_facts(each, fetched_at_ms),
        )
        for each in evidence
    )


def _facts(chunk: EvidenceChunk, now_ms: int) -> DocumentFacts:
    published, kind = date_of(chunk, now_ms)
    return structs.replace(_FACTS, published=published, date_kind=kind)


def address_of(chunk: EvidenceChunk) -> str:
    """Return where a piece of evidence stands; the same for the same place, whenever and however it was found."""
    place = f"#{quote(chunk.locator, safe=':-/')}" if chunk.locator else ""
    if chunk.source_ref.startswith(_RECORD):
        return f"{ADDRESS}records/{quote(chunk.source_ref.removeprefix(_RECORD), safe='')}{place}"
    return f"{ADDRESS}files/{quote(chunk.source_ref)}{place}"


def _title(chunk: EvidenceChunk) -> str:
    """Return the title of a memory, which is its first line; the path of a file."""
    if chunk.source_ref.startswith(_RECORD):
        return chunk.content.partition("\n")[0]
    return chunk.source_ref
