"""A job's append-only log and its documents in Redis, for writers, readers and those who wait.

Appending is idempotent by the entry's key and refused once the job has ended. Documents are content-addressed,
compressed, and live beside the log.
"""

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import cast

import msgspec
import zstandard
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from signal_search.contracts.document import Document
from signal_search.contracts.trace import LogEntry

from infra import keys
from infra.redis import store_errors
from infra.scripts import load

_SCRIPTS = load(Path(__file__).with_name("lua"), "job_append")
_ENTRY = msgspec.json.Decoder(LogEntry)
_DOCUMENT = msgspec.msgpack.Decoder(Document)
_MAX_DOCUMENT_BYTES = 64 * 1024 * 1024

START = "0-0"
Located = tuple[str, LogEntry]


def encode_entry(entry: LogEntry) -> bytes:
    """Return an entry as JSON, the form it has in the log, in events and in bundles."""
    return msgspec.json.encode(entry)


def decode_entry(raw: bytes) -> LogEntry:
    """Return the entry in `raw`."""
    return _ENTRY.decode(raw)


def pack_document(document: Document) -> bytes:
    """Return a document compressed."""
    return zstandard.compress(msgspec.msgpack.encode(document))


def unpack_document(raw: bytes) -> Document:
    """Return the document in `raw`."""
    return _DOCUMENT.decode(zstandard.decompress(raw, max_output_size=_MAX_DOCUMENT_BYTES))


class JobLog:
    """The synchronous side: tasks write, the reducer reads. Raises StoreFailed when the store does not answer."""

    def __init__(self, redis: Redis) -> None:
        """Work on `redis`."""
        self._redis = redis

    def append(self, job_id: str, *entries: LogEntry) -> list[str]:
        """Append entries in order; return their stream ids, '' for one that the ended or unknown job refused."""
        if not entries:
            return []
        args: list[str | bytes] = []
        for entry in entries:
            args += [entry.key, encode_entry(entry)]
        names = [keys.job(job_id), keys.job_log(job_id), keys.job_once(job_id)]
        with store_errors():
            ids = cast("list[bytes]", _SCRIPTS["job_append"](self._redis, names, args))
        return [each.decode() for each in ids]

    def read(self, job_id: str, *, after: str = START) -> list[Located]:
        """Return all entries after a stream id, oldest first."""
        with store_errors():
            rows = self._redis.xrange(keys.job_log(job_id), min=f"({after}")
        return located(cast("list[Row]", rows))

    def wait(self, job_id: str, *, after: str, timeout_ms: int) -> list[Located]:
        """Return entries after a stream id, waiting for the first one up to `timeout_ms`."""
        with store_errors():
            answer = self._redis.xread({keys.job_log(job_id): after}, block=max(1, timeout_ms))
        return _rows(answer)

    def put_documents(self, job_id: str, documents: Iterable[Document], *, ttl_ms: int) -> None:
        """Store documents by their id; storing one again changes nothing."""
        packed: dict[str | bytes, bytes] = {each.doc_id: pack_document(each) for each in documents}
        if not packed:
            return
        name = keys.job_documents(job_id)
        # Both or nothing: texts without a life time would stay for ever when their job is gone.
        with store_errors(), self._redis.pipeline(transaction=True) as pipe:
            pipe.hset(name, mapping=packed)  # type: ignore[arg-type]
            pipe.pexpire(name, ttl_ms)
            pipe.execute()

    def documents(self, job_id: str, doc_ids: Sequence[str]) -> dict[str, Document]:
        """Return the stored documents among `doc_ids` by id."""
        if not doc_ids:
            return {}
        with store_errors():
            rows = self._redis.hmget(keys.job_documents(job_id), list(doc_ids))
        found = zip(doc_ids, cast("list[bytes | None]", rows), strict=True)
        return {doc_id: unpack_document(raw) for doc_id, raw in found if raw is not None}


class AsyncJobLog:
    """The asyncio side, for those who wait on many logs in one process."""

    def __init__(self, redis: AsyncRedis) -> None:
        """Work on `redis`."""
        self._redis = redis

    async def wait(self, job_id: str, *, after: str, timeout_ms: int) -> list[Located]:
        """Return entries after a stream id, waiting for the first one up to `timeout_ms`."""
        with store_errors():
            answer = await self._redis.xread(
                {keys.job_log(job_id): after}, block=max(1, timeout_ms)
            )
        return _rows(answer)


Row = tuple[bytes, dict[bytes, bytes]]


def located(rows: Iterable[Row]) -> list[Located]:
    """Return the entries in rows of the store."""
    return [(row[0].decode(), decode_entry(row[1][b"e"])) for row in rows]


def _rows(answer: object) -> list[Located]:
    # redis-py answers with a mapping (RESP3) or a list of pairs (RESP2).
    if not answer:
        return []
    if isinstance(answer, dict):
        nested = cast("dict[bytes, list[list[Row]]]", answer)
        return located(row for lists in nested.values() for rows in lists for row in rows)
    pairs = cast("list[tuple[bytes, list[Row]]]", answer)
    return located(row for _name, rows in pairs for row in rows)
