"""A text model in the ONNX form, written by hand: a table of vectors, one for each token. No library is needed."""

import json
import struct
from collections.abc import Sequence
from pathlib import Path

_INT64, _FLOAT = 7, 1


def _number(value: int) -> bytes:
    found = bytearray()
    while value > 0x7F:
        found.append(value & 0x7F | 0x80)
        value >>= 7
    return bytes((*found, value))


def _whole(field: int, value: int) -> bytes:
    return _number(field << 3) + _number(value)


def _bytes(field: int, value: bytes | str) -> bytes:
    raw = value.encode() if isinstance(value, str) else value
    return _number(field << 3 | 2) + _number(len(raw)) + raw


def _value(name: str, kind: int, sizes: Sequence[str]) -> bytes:
    shape = b"".join(_bytes(1, _bytes(2, size)) for size in sizes)
    return _bytes(1, name) + _bytes(2, _bytes(1, _whole(1, kind) + _bytes(2, shape)))


def onnx_table(rows: Sequence[Sequence[float]]) -> bytes:
    """Return a model `input_ids` -> `last_hidden_state` that looks each token up in a table (operator Gather)."""
    flat = b"".join(struct.pack("<f", each) for row in rows for each in row)
    sizes = _whole(1, len(rows)) + _whole(1, len(rows[0]))
    table = sizes + _whole(2, _FLOAT) + _bytes(8, "table") + _bytes(9, flat)
    node = _bytes(1, "table") + _bytes(1, "input_ids") + _bytes(2, "last_hidden_state")
    graph = (
        _bytes(1, node + _bytes(4, "Gather"))
        + _bytes(2, "words")
        + _bytes(5, table)
        + _bytes(11, _value("input_ids", _INT64, ["batch", "tokens"]))
        + _bytes(12, _value("last_hidden_state", _FLOAT, ["batch", "tokens", "width"]))
    )
    return _whole(1, 8) + _bytes(7, graph) + _bytes(8, _whole(2, 13))


def write_model(folder: Path, words: Sequence[str], rows: Sequence[Sequence[float]]) -> None:
    """Write `model.onnx` and `tokenizer.json`: `words` by their places, the first for padding, the second for others."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "model.onnx").write_bytes(onnx_table(rows))
    vocabulary = {word: at for at, word in enumerate(words)}
    tokenizer = {
        "version": "1.0",
        "added_tokens": [],
        "pre_tokenizer": {"type": "WhitespaceSplit"},
        "model": {"type": "WordLevel", "vocab": vocabulary, "unk_token": words[1]},
    }
    (folder / "tokenizer.json").write_text(json.dumps(tokenizer))
