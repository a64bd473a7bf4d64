"""Bundles: what goes in comes out; what is none, or too large, is refused."""

import msgspec
import pytest
import zstandard
from signal_search.contracts.trace import LogEntry, Submitted
from signal_search.errors import Invalid, TooLarge

from infra import bundle
from infra.bundle import VERSION, pack, unpack
from tests.fakes.builders import NOW_MS, a_document, a_job

ENTRIES: list[tuple[str, LogEntry]] = [
    ("1-0", Submitted(at_ms=NOW_MS, key="submitted", job=a_job()))
]


def test_what_goes_in_comes_out():
    documents = [a_document(doc_id="d2", text="中文"), a_document()]
    found = unpack(pack(a_job(), ENTRIES, documents, b"{}"))
    assert (found.version, found.spec, found.result) == (VERSION, a_job(), b"{}")
    assert list(found.entries) == ENTRIES
    assert [each.doc_id for each in found.documents] == ["d1", "d2"]
    assert found.documents[1].text == "中文"


def test_the_same_job_gives_the_same_bytes():
    documents = [a_document(doc_id="d2"), a_document()]
    assert pack(a_job(), ENTRIES, documents, b"") == pack(a_job(), ENTRIES, documents[::-1], b"")


@pytest.mark.parametrize(
    "raw", [b"", b"not a bundle", zstandard.compress(b"\xc1"), zstandard.compress(b"\x80")]
)
def test_what_is_no_bundle_is_refused(raw: bytes):
    with pytest.raises(Invalid):
        unpack(raw)


def test_a_bundle_of_another_version_is_refused():
    plain = msgspec.msgpack.decode(zstandard.decompress(pack(a_job(), ENTRIES, [], b"")))
    plain["version"] = VERSION + 1
    with pytest.raises(Invalid, match="version"):
        unpack(zstandard.compress(msgspec.msgpack.encode(plain)))


def test_a_bomb_is_refused_before_it_is_unpacked(monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(bundle, "_MAX_BYTES", 1000)
    with pytest.raises(TooLarge):
        unpack(zstandard.compress(b"\0" * 1001))
    hidden = zstandard.ZstdCompressor(write_content_size=False).compress(b"\0" * 1001)
    with pytest.raises((Invalid, TooLarge)):
        unpack(hidden)
