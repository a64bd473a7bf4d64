"""Writing an index: chunks in, chunks out, and the postings with them, always exact.

Added chunks become a segment; sixteen segments of one size become one of the next, so that a term is in few rows
however the index grew. Chunks that leave are taken out of the rows of their segment: nothing dead is ever counted.
"""

import hashlib
import sqlite3
from array import array
from collections import Counter, defaultdict
from collections.abc import Iterable, Sequence
from typing import Final

from msgspec import Struct, structs

from workers.memory.index_file import Header, write_header
from workers.memory.words import ANALYSERS

_MOST_PER_LEVEL: Final = 16
_SMALL: Final = 64  # chunks of a segment that is joined at once; larger ones wait for the next comparison with a folder
_MOST_COUNT: Final = 65_535  # of one word in one chunk: what its place in the row holds
_ROWS_AT_A_TIME: Final = 500


class Passage(Struct, frozen=True, kw_only=True):
    """A piece of a source as it goes into an index. `vector` is 32-bit floats, empty without a vector channel."""

    chunk_id: str
    source_ref: str
    content: str
    locator: str | None = None
    vector: bytes = b""


def content_digest(content: str) -> bytes:
    """Return the BLAKE2b-128 digest of a text."""
    return hashlib.blake2b(content.encode("utf-8", "surrogatepass"), digest_size=16).digest()


def add(db: sqlite3.Connection, header: Header, passages: Sequence[Passage]) -> Header:
    """Add passages inside the caller's transaction, in place of those with the same id; return the new header."""
    newest = {each.chunk_id: each for each in passages}
    header = remove(db, header, list(newest))
    if not newest:
        return header
    segment = db.execute("SELECT coalesce(max(id), 0) + 1 FROM segments").fetchone()[0]
    db.execute("INSERT INTO segments VALUES (?, ?)", (segment, len(newest)))
    # Numbers are never used again: whoever keeps lengths or vectors by number needs no word of what has left.
    highest = db.execute("SELECT coalesce(max(id), 0) FROM chunks").fetchone()[0]
    first = max(header.last_id, highest) + 1
    ids: defaultdict[str, array[int]] = defaultdict(lambda: array("I"))
    counts: defaultdict[str, array[int]] = defaultdict(lambda: array("H"))
    total = 0
    for number, passage in enumerate(newest.values(), first):
        found = Counter(ANALYSERS[header.analyser](passage.content))
        length = sum(found.values())
        total += length
        _insert(db, number, segment, passage, length)
        for term, count in found.items():
            ids[term].append(number)
            counts[term].append(min(count, _MOST_COUNT))
    rows = ((term, segment, ids[term].tobytes(), counts[term].tobytes()) for term in ids)
    db.executemany("INSERT INTO postings VALUES (?, ?, ?, ?)", rows)
    tidy(db, largest=_SMALL)
    return changed(
        db,
        header,
        documents=header.documents + len(newest),
        words=header.words + total,
        last_id=first + len(newest) - 1,
    )


def changed(db: sqlite3.Connection, header: Header, **figures: int | str) -> Header:
    """Write the header with new figures and the next version; return it."""
    new: Header = structs.replace(header, version=header.version + 1, **figures)
    write_header(db, new)
    return new


def _insert(
    db: sqlite3.Connection, number: int, segment: int, passage: Passage, length: int
) -> None:
    db.execute(
        "INSERT INTO chunks VALUES (?, ?, ?, ?, ?, ?, ?, ?)",
        (
            *(number, passage.chunk_id, segment, length, passage.source_ref, passage.locator),
            *(passage.content, content_digest(passage.content)),
        ),
    )
    if passage.vector:
        db.execute("INSERT INTO vectors VALUES (?, ?)", (number, passage.vector))


def remove(db: sqlite3.Connection, header: Header, chunk_ids: Sequence[str]) -> Header:
    """Take chunks out inside the caller's transaction; unknown ids are nothing to take. Return the new header."""
    gone = [row for part in _parts(chunk_ids) for row in _rows(db, part)]
    if not gone:
        return header
    affected: defaultdict[tuple[str, int], set[int]] = defaultdict(set)
    for number, segment, content in gone:
        for term in set(ANALYSERS[header.analyser](content)):
            affected[term, segment].add(number)
    for (term, segment), numbers in affected.items():
        _take_out(db, term, segment, numbers)
    words = 0
    for number, segment, _content in gone:
        db.execute("UPDATE segments SET chunks = chunks - 1 WHERE id = ?", (segment,))
        words += db.execute("SELECT length FROM chunks WHERE id = ?", (number,)).fetchone()[0]
        db.execute("DELETE FROM chunks WHERE id = ?", (number,))
    db.execute("DELETE FROM segments WHERE chunks = 0")
    return changed(
        db,
        header,
        documents=header.documents - len(gone),
        words=header.words - words,
        deletions=header.deletions + len(gone),
    )


def _parts(ids: Sequence[str]) -> Iterable[Sequence[str]]:
    return (ids[at : at + _ROWS_AT_A_TIME] for at in range(0, len(ids), _ROWS_AT_A_TIME))


def _rows(db: sqlite3.Connection, chunk_ids: Sequence[str]) -> list[tuple[int, int, str]]:
    marks = ", ".join("?" * len(chunk_ids))
    sql = f"SELECT id, segment, content FROM chunks WHERE chunk_id IN ({marks})"  # noqa: S608
    return db.execute(sql, chunk_ids).fetchall()


def _take_out(db: sqlite3.Connection, term: str, segment: int, numbers: set[int]) -> None:
    where = (term, segment)
    row = db.execute("SELECT ids, counts FROM postings WHERE term = ? AND segment = ?", where)
    ids, counts = unpacked(*row.fetchone())
    kept = [
        (number, count) for number, count in zip(ids, counts, strict=True) if number not in numbers
    ]
    if not kept:
        db.execute("DELETE FROM postings WHERE term = ? AND segment = ?", where)
        return
    packed = array("I", [each[0] for each in kept]), array("H", [each[1] for each in kept])
    db.execute(
        "UPDATE postings SET ids = ?, counts = ? WHERE term = ? AND segment = ?",
        (packed[0].tobytes(), packed[1].tobytes(), *where),
    )


def unpacked(ids: bytes, counts: bytes) -> "tuple[array[int], array[int]]":
    """Return a row's numbers of chunks and how often each has the term.

    Raises:
        ValueError: the row is damaged.
    """
    numbers, times = array("I"), array("H")
    numbers.frombytes(ids)
    times.frombytes(counts)
    if len(numbers) != len(times):
        msg = "a row of postings has two lengths"
        raise ValueError(msg)
    return numbers, times


def tidy(db: sqlite3.Connection, *, largest: int | None = None) -> None:
    """Make one segment of sixteen of about one size, as long as there are so many, inside the caller's transaction.

    largest: chunks of the segments that are joined; without it all sizes are, which takes a second for ten thousand.
    """
    while True:
        found = db.execute("SELECT id, chunks FROM segments").fetchall()
        levels: defaultdict[int, list[int]] = defaultdict(list)
        for segment, count in sorted(found):
            if largest is None or count <= largest:
                levels[_level(count)].append(segment)
        full = next((each for each in levels.values() if len(each) >= _MOST_PER_LEVEL), None)
        if full is None:
            return
        _join(db, full[:_MOST_PER_LEVEL])


def _level(count: int) -> int:
    """Return the size of a segment as a power of sixteen."""
    return (count.bit_length() - 1) // 4


def _join(db: sqlite3.Connection, segments: Sequence[int]) -> None:
    target, *others = segments
    marks = ", ".join("?" * len(others))
    joined: dict[str, tuple[bytes, bytes]] = {}
    within = ", ".join("?" * len(segments))
    terms = f"SELECT DISTINCT term FROM postings WHERE segment IN ({marks})"  # noqa: S608
    sql = (
        f"SELECT term, ids, counts FROM postings WHERE segment IN ({within}) AND term IN ({terms})"  # noqa: S608
        " ORDER BY segment"
    )
    for term, ids, counts in db.execute(sql, (*segments, *others)):
        before = joined.get(term, (b"", b""))
        joined[term] = before[0] + ids, before[1] + counts
    db.execute(f"DELETE FROM postings WHERE segment IN ({marks})", others)  # noqa: S608
    rows = ((term, target, *each) for term, each in joined.items())
    db.executemany("INSERT OR REPLACE INTO postings VALUES (?, ?, ?, ?)", rows)
    db.execute(f"UPDATE chunks SET segment = ? WHERE segment IN ({marks})", (target, *others))  # noqa: S608
    size = f"SELECT sum(chunks) FROM segments WHERE id IN ({within})"  # noqa: S608
    db.execute(f"UPDATE segments SET chunks = ({size}) WHERE id = ?", (*segments, target))  # noqa: S608
    db.execute(f"DELETE FROM segments WHERE id IN ({marks})", others)  # noqa: S608
