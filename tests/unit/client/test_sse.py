"""Server-Sent Events: line ends, chunks cut anywhere, and what is no event."""

from itertools import pairwise

import msgspec
import pytest
from hypothesis import given
from hypothesis import strategies as st
from signal_search.client import sse
from signal_search.client.sse import EventStream
from signal_search.contracts.trace import Ended, LogEntry
from signal_search.errors import Failed

from tests.fakes.wire_gateway import a_log

END = b'{"type":"ended","at_ms":1,"key":"k","state":"succeeded"}'


def events(*chunks: bytes) -> list[tuple[str, LogEntry]]:
    stream = EventStream()
    lines = [line for chunk in chunks for line in stream.feed(chunk)]
    return [(event_id, entry) for event_id, entry in lines if entry is not None]


@pytest.mark.parametrize("end", [b"\n", b"\r\n", b"\r"])
def test_three_line_ends(end: bytes) -> None:
    raw = b"id: 5-0" + end + b"event: ended" + end + b"data: " + END + end + end
    assert [event_id for event_id, _ in events(raw, b": more\n")] == ["5-0"]


def test_data_over_several_lines_is_joined() -> None:
    head, tail = END[:30], END[30:]
    broken = b"id:1-0\ndata:{\ndata: " + END[1:] + b"\n\n"
    assert head + tail == END
    assert [type(entry) for _, entry in events(broken)] == [Ended]


def test_an_id_stays_until_the_next_and_one_with_nul_is_ignored() -> None:
    one = b"data: " + END + b"\n\n"
    assert [i for i, _ in events(b"id: 7-0\n" + one + one + b"id: 8\0\n" + one)] == ["7-0"] * 3


@pytest.mark.parametrize(
    "raw",
    [b": keep-alive\n\n", b"event: ended\n\n", b"id: 4-0\n\n", b"retry: 100\n\n", b"data: ", b""],
)
def test_what_completes_no_event_is_a_sign_of_life(raw: bytes) -> None:
    assert list(EventStream().feed(raw)) == [("", None)]


def test_an_unknown_or_broken_entry_keeps_its_id() -> None:
    raw = b'id: 1-0\ndata: {"type":"dreamt"}\n\nid: 2-0\ndata: \xff{\n\n'
    assert list(EventStream().feed(raw)) == [("1-0", None), ("2-0", None)]


def test_an_endless_line_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sse, "_MOST_BYTES", 10)
    stream = EventStream()
    list(stream.feed(b"data: abc"))
    with pytest.raises(Failed) as caught:
        list(stream.feed(b"defg"))
    assert caught.value.code == "gateway_bad_reply"


WHOLE = b"".join(
    b"id: %d-0\r\ndata: %s\r\n\r\n" % (n, msgspec.json.encode(e)) for n, e in enumerate(a_log())
)


@given(st.lists(st.integers(0, len(WHOLE)), max_size=12))
def test_it_does_not_matter_where_chunks_are_cut(cuts: list[int]) -> None:
    edges = [0, *sorted(cuts), len(WHOLE)]
    chunks = [WHOLE[a:b] for a, b in pairwise(edges)]
    assert events(*chunks) == [(f"{n}-0", entry) for n, entry in enumerate(a_log())]
