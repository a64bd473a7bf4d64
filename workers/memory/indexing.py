"""A folder into the index of a scope: what is new or changed is read, what is gone leaves, the rest stays as it is.

The new state becomes visible as a whole, in one transaction; until then every question is answered from the old one.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, structs
from signal_search.contracts.memory_index import Indexed

from infra.clock import Clock
from workers.memory.credentials import Profile
from workers.memory.grep import readable
from workers.memory.index_file import IndexFile, modified_in
from workers.memory.postings import Passage, add, changed, content_digest, remove, tidy
from workers.memory.rooted import opened, walk
from workers.memory.tool import ToolFailed
from workers.memory.vector import Embedder

_PASSAGE: Final = 1200  # characters at which a passage ends at the next line
_SHORT: Final = 300  # below this a blank line does not end one


class IndexLimits(Struct, frozen=True, kw_only=True):
    """How much of a folder is indexed."""

    max_files: int = 20_000
    max_file_bytes: int = 2_000_000
    profile: Profile = "masked"


class _Source(Struct, frozen=True):
    """A source as it is recorded: the digest of its text, and when it was last changed, None where that is unknown."""

    digest: bytes
    modified_ms: int | None


class _Change(Struct, frozen=True, kw_only=True):
    """What an index is to become: without the sources that are stale, with the passages of the new ones.

    sources: the rows to write; model_id: whose vectors the passages have, empty where they have none.
    """

    stale: list[str]
    passages: list[Passage]
    sources: dict[str, _Source]
    model_id: str


def passages_of(source_ref: str, text: str) -> list[Passage]:
    """Return the passages of a text: whole lines, about 1,200 characters each, ended at blank lines where it goes."""
    found: list[Passage] = []
    lines = text.splitlines()
    start, size = 0, 0
    for number, line in enumerate(lines, 1):
        size += len(line) + 1
        is_end = size >= _PASSAGE or (not line.strip() and size >= _SHORT) or number == len(lines)
        if is_end:
            found += _passage(source_ref, lines, start, number)
            start, size = number, 0
    return found


def _passage(source_ref: str, lines: Sequence[str], start: int, end: int) -> list[Passage]:
    content = "\n".join(lines[start:end]).strip("\n")
    if not content.strip():
        return []
    name = hashlib.sha256(f"{source_ref}:{start + 1}".encode()).hexdigest()
    locator = f"line:{start + 1}-{end}"
    return [
        Passage(chunk_id=f"passage:{name}", source_ref=source_ref, content=content, locator=locator)
    ]


def sync(
    root: Path,
    file: IndexFile,
    clock: Clock,
    *,
    embedder: Embedder | None = None,
    limits: IndexLimits | None = None,
    anew: bool = False,
) -> Indexed:
    """Make the index of `file` the state of the files below `root`, and return what changed.

    anew: every file is read into it again, with the vectors of this model whatever they were before.
    A file whose text stays the same keeps the earliest time that it had: copying or touching it makes it no newer.

    Raises:
        Invalid: the root is no folder.
        ToolFailed: the file is no index of its scope; `embedding_model_mismatch`: its vectors are another model's.
    """
    chosen = limits or IndexLimits()
    texts, found, skipped = _texts(root, chosen)
    known = _known(file)
    same = {path for path, each in found.items() if not anew and _is_same(each, known.get(path))}
    fresh = [path for path in texts if path not in same]
    passages = [each for path in fresh for each in passages_of(path, texts[path])]
    change = _Change(
        stale=[path for path in known if path not in same],
        passages=_with_vectors(passages, embedder),
        sources={path: found[path] for path in fresh} | _older(found, known, same),
        model_id=embedder.model_id if embedder else "",
    )
    return structs.replace(
        _write(file, clock, change),
        files=len(texts),
        lines=sum(text.count("\n") + 1 for text in texts.values()),
        skipped=skipped,
    )


def _is_same(source: _Source, known: _Source | None) -> bool:
    return known is not None and known.digest == source.digest


def _older(
    found: dict[str, _Source], known: dict[str, _Source], same: set[str]
) -> dict[str, _Source]:
    """Return the sources of unchanged text whose time is better known now: at all, or as an earlier one."""
    return {
        path: found[path]
        for path in same
        if (now := found[path].modified_ms) is not None
        and ((before := known[path].modified_ms) is None or now < before)
    }


def _texts(root: Path, limits: IndexLimits) -> tuple[dict[str, str], dict[str, _Source], int]:
    texts: dict[str, str] = {}
    sources: dict[str, _Source] = {}
    skipped = 0
    with opened(root) as folder:
        found = walk(folder, most_files=limits.max_files, most_bytes=limits.max_file_bytes)
        for each in found:
            text = readable(each.path, each.body, limits.profile)
            if text is None:
                skipped += 1
            else:
                texts[each.path] = text
                sources[each.path] = _Source(content_digest(text), each.modified_ms or None)
    return texts, sources, skipped


def _known(file: IndexFile) -> dict[str, _Source]:
    try:
        with file.reading() as (db, header):
            rows = db.execute("SELECT source_ref, digest FROM sources").fetchall()
            dates = modified_in(db, header, (path for path, _digest in rows))
            return {path: _Source(digest, dates.get(path)) for path, digest in rows}
    except ToolFailed as error:
        if error.reason == "index_unavailable":
            return {}
        raise


def _with_vectors(passages: list[Passage], embedder: Embedder | None) -> list[Passage]:
    if embedder is None or not passages:
        return passages
    rows = embedder.embed_passages([each.content for each in passages])
    return [
        structs.replace(each, vector=row.astype("<f4").tobytes())
        for each, row in zip(passages, rows, strict=True)
    ]


def _write(file: IndexFile, clock: Clock, change: _Change) -> Indexed:
    with file.writing() as (db, header):
        sql = "SELECT chunk_id FROM chunks WHERE source_ref = ?"
        gone = [row[0] for path in change.stale for row in db.execute(sql, (path,)).fetchall()]
        left = remove(db, header, gone)
        kept = header.model_id if left.documents else ""
        model = change.model_id or kept
        if left.documents and header.model_id != model:
            raise ToolFailed("embedding_model_mismatch")
        grown = add(db, left, change.passages)
        tidy(db)
        db.executemany(
            "DELETE FROM sources WHERE source_ref = ?", [(path,) for path in change.stale]
        )
        rows = ((path, each.digest, each.modified_ms) for path, each in change.sources.items())
        db.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?, ?)", rows)
        written = changed(db, grown, built_at_ms=clock.now_ms(), model_id=model)
    return Indexed(
        files=0,
        lines=0,
        passages=written.documents,
        added=len(change.passages),
        removed=header.documents - left.documents,
        skipped=0,
        version=written.version,
    )
