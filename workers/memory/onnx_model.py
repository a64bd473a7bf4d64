"""A text model in the ONNX form with its tokenizer, on one thread of this machine: nothing is downloaded.

onnxruntime and tokenizers are of the optional extra `vectors`.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import Any, Final, Literal

import msgspec
import numpy as np
from msgspec import Struct
from signal_search.errors import Unsupported

from workers.memory.vector import Matrix

_BATCH: Final = 4  # larger ones take a gigabyte and are no faster on a processor
_SHORTEST: Final = 1e-12


class Form(Struct, frozen=True, kw_only=True):
    """How a model wants its texts, and how its vectors of tokens become one.

    pooling: `mean` of all tokens, or the `first` one. max_tokens: what is longer is cut. The prefixes are put before
    each query and passage.
    """

    pooling: Literal["mean", "first"] = "mean"
    max_tokens: int = 256
    query_prefix: str = ""
    passage_prefix: str = ""


class OnnxModel:
    """`Embedder` over two files; threads may share it."""

    def __init__(self, model: Path, tokenizer: Path, *, model_id: str, form: Form) -> None:
        """Load both files and try the model once.

        Raises:
            Unsupported: the extra is not installed, or the files are no such model.
        """
        self.model_id = model_id
        self._form = form
        self._session, self._tokenizer = _loaded(model, tokenizer, form)
        self._inputs = {each.name for each in self._session.get_inputs()}
        try:
            self.dimensions = len(self._embed(["a"])[0])
        except (RuntimeError, ValueError, TypeError, KeyError, IndexError) as error:
            raise Unsupported("The model gives no vectors of texts.") from error

    def embed_query(self, query: str) -> Matrix:
        """Return the vector of a query."""
        vector: Matrix = self._embed([self._form.query_prefix + query])[0]
        return vector

    def embed_passages(self, passages: Sequence[str]) -> Matrix:
        """Return the vectors of passages as rows, in their order; texts of one length go together."""
        order = sorted(range(len(passages)), key=lambda at: len(passages[at]))
        rows = np.zeros((len(passages), self.dimensions), dtype=np.float32)
        for at in range(0, len(order), _BATCH):
            part = order[at : at + _BATCH]
            rows[part] = self._embed([self._form.passage_prefix + passages[each] for each in part])
        return rows

    def _embed(self, texts: Sequence[str]) -> Matrix:
        coded = self._tokenizer.encode_batch(list(texts))
        mask = np.array([each.attention_mask for each in coded], dtype=np.int64)
        given = {
            "input_ids": np.array([each.ids for each in coded], dtype=np.int64),
            "attention_mask": mask,
            "token_type_ids": np.array([each.type_ids for each in coded], dtype=np.int64),
        }
        made = self._session.run(None, {name: given[name] for name in self._inputs})[0]
        if made.ndim == 3:  # one vector for each token
            made = made[:, 0] if self._form.pooling == "first" else _mean(made, mask)
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        return np.asarray(made / np.maximum(lengths, _SHORTEST), dtype=np.float32)


def _mean(made: Any, mask: Any) -> Any:
    return (made * mask[..., None]).sum(1) / np.maximum(mask.sum(1)[:, None], 1)


def _loaded(model: Path, tokenizer: Path, form: Form) -> tuple[Any, Any]:
    try:
        import onnxruntime  # noqa: PLC0415
        from onnxruntime.capi import onnxruntime_pybind11_state as codes  # noqa: PLC0415
        from tokenizers import Tokenizer  # noqa: PLC0415
    except ImportError as error:
        raise Unsupported("The vector channel needs the extra `vectors`.") from error
    options = onnxruntime.SessionOptions()
    options.intra_op_num_threads = 1
    broken = (codes.Fail, codes.InvalidArgument, codes.InvalidGraph, codes.InvalidProtobuf)
    try:
        msgspec.json.decode(tokenizer.read_bytes())  # the library has no class for what is no JSON
        session = onnxruntime.InferenceSession(str(model), options, ["CPUExecutionProvider"])
    except (*broken, codes.NotImplemented, OSError, msgspec.DecodeError) as error:
        raise Unsupported("The model's files cannot be read.") from error
    coder = Tokenizer.from_file(str(tokenizer))
    coder.enable_truncation(form.max_tokens)
    coder.enable_padding()
    return session, coder
