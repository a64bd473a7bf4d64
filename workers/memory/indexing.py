"""A folder into the index of a scope: what is new or changed is read, what is gone leaves, the rest stays as it is.

The new state becomes visible as a whole, in one transaction; until then every question is answered from the old one.
"""

import hashlib
from collections.abc import Sequence
from pathlib import Path
from typing import Final

from msgspec import Struct, structs

from infra.clock import Clock
from workers.memory.credentials import Profile
from workers.memory.grep import readable
from workers.memory.index_file import IndexFile
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


class Synced(Struct, frozen=True, kw_only=True):
    """What an indexing came to. skipped: files left out on purpose."""

    files: int
    lines: int
    passages: int
    added: int
    removed: int
    skipped: int
    version: int


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
) -> Synced:
    """Make the index of `file` the state of the files below `root`, and return what changed.

    anew: every file is read into it again, with the vectors of this model whatever they were before.

    Raises:
        Invalid: the root is no folder.
        ToolFailed: the file is no index of its scope; `embedding_model_mismatch`: its vectors are another model's.
    """
    chosen = limits or IndexLimits()
    texts, skipped = _texts(root, chosen)
    digests = {path: content_digest(text) for path, text in texts.items()}
    known = _known(file)
    stale = [path for path, digest in known.items() if anew or digests.get(path) != digest]
    fresh = [path for path, digest in digests.items() if anew or known.get(path) != digest]
    passages = [each for path in fresh for each in passages_of(path, texts[path])]
    passages = _with_vectors(passages, embedder)
    return structs.replace(
        _write(file, clock, stale, passages, {path: digests[path] for path in fresh}, embedder),
        files=len(texts),
        lines=sum(text.count("\n") + 1 for text in texts.values()),
        skipped=skipped,
    )


def _texts(root: Path, limits: IndexLimits) -> tuple[dict[str, str], int]:
    texts: dict[str, str] = {}
    skipped = 0
    with opened(root) as folder:
        found = walk(folder, most_files=limits.max_files, most_bytes=limits.max_file_bytes)
        for each in found:
            text = readable(each.path, each.body, limits.profile)
            if text is None:
                skipped += 1
            else:
                texts[each.path] = text
    return texts, skipped


def _known(file: IndexFile) -> dict[str, bytes]:
    try:
        with file.reading() as (db, _header):
            return dict(db.execute("SELECT source_ref, digest FROM sources").fetchall())
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


def _write(
    file: IndexFile,
    clock: Clock,
    stale: Sequence[str],
    passages: Sequence[Passage],
    digests: dict[str, bytes],
    embedder: Embedder | None,
) -> Synced:
    with file.writing() as (db, header):
        sql = "SELECT chunk_id FROM chunks WHERE source_ref = ?"
        gone = [row[0] for path in stale for row in db.execute(sql, (path,)).fetchall()]
        left = remove(db, header, gone)
        kept = header.model_id if left.documents else ""
        model = embedder.model_id if embedder else kept
        if left.documents and header.model_id != model:
            raise ToolFailed("embedding_model_mismatch")
        grown = add(db, left, passages)
        tidy(db)
        db.executemany("DELETE FROM sources WHERE source_ref = ?", [(path,) for path in stale])
        db.executemany("INSERT OR REPLACE INTO sources VALUES (?, ?)", list(digests.items()))
        written = changed(db, grown, built_at_ms=clock.now_ms(), model_id=model)
    return Synced(
        files=0,
        lines=0,
        passages=written.documents,
        added=len(passages),
        removed=header.documents - left.documents,
        skipped=0,
        version=written.version,
    )
