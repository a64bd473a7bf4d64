"""A job in one file: specification, log, documents and result, for replay without network or Redis.

A bundle may come from a stranger: its size is checked before it is unpacked, its version before it is believed.
"""

from collections.abc import Iterable, Sequence

import msgspec
import zstandard
from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.job import AnySpec
from signal_search.contracts.trace import LogEntry
from signal_search.errors import Invalid, TooLarge

from infra.job_log import Located

VERSION = 1
MEDIA_TYPE = "application/zstd"
_MAX_BYTES = 1 << 30
_LEVEL = 10  # written once, kept for long


class Bundle(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """What a bundle holds. Entries keep their stream ids; `result` is the encoded result, empty for none."""

    version: int
    spec: AnySpec
    entries: tuple[tuple[str, LogEntry], ...]
    documents: tuple[Document, ...]
    result: bytes = b""


_DECODER = msgspec.msgpack.Decoder(Bundle)


def pack(
    spec: AnySpec, entries: Sequence[Located], documents: Iterable[Document], result: bytes
) -> bytes:
    """Return a zstd archive. The same job gives the same bytes: documents are ordered by id."""
    bundle = Bundle(
        version=VERSION,
        spec=spec,
        entries=tuple(entries),
        documents=tuple(sorted(documents, key=lambda each: each.doc_id)),
        result=result,
    )
    return zstandard.compress(msgspec.msgpack.encode(bundle), _LEVEL)


def unpack(raw: bytes) -> Bundle:
    """Return the bundle in `raw`.

    Raises:
        TooLarge: it would unpack to more than 1 GiB.
        Invalid: it is not a bundle, or of another version.
    """
    try:
        if zstandard.frame_content_size(raw) > _MAX_BYTES:
            raise TooLarge("The bundle is larger than the limit.")
        bundle = _DECODER.decode(zstandard.decompress(raw, max_output_size=_MAX_BYTES))
    except (zstandard.ZstdError, msgspec.DecodeError, UnicodeDecodeError) as error:
        raise Invalid("This file is not a bundle.") from error
    if bundle.version != VERSION:
        raise Invalid("This bundle is of another version.")
    return bundle
