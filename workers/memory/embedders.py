"""Which model makes the vectors, by its name in the settings."""

from collections.abc import Sequence
from pathlib import Path
from typing import Final

from signal_search.errors import Unsupported

from workers.memory import e5, minilm
from workers.memory.model_folder import in_folder
from workers.memory.vector import Embedder, Matrix

ENGLISH: Final = "all-MiniLM-L6-v2"
MULTILINGUAL: Final = "multilingual-e5-small"


class Missing:
    """An `Embedder` that is not here: the channel says so in each answer, and the other channels go on."""

    model_id = "missing"
    dimensions = 1

    def embed_query(self, query: str) -> Matrix:
        """Fail, so that the channel reports `embedding_error`."""
        msg = "the model is not here"
        raise OSError(msg)

    def embed_passages(self, passages: Sequence[str]) -> Matrix:
        """Fail too; nothing is indexed with it."""
        return self.embed_query("")


def embedder_of(name: str) -> Embedder | None:
    """Return the model of a setting: ENGLISH, MULTILINGUAL, or an absolute path of a folder with a model.

    The English one is what is used without a choice, so it may be missing: then there is no vector channel.

    Raises:
        Unsupported: what was chosen is not installed, or is no model.
    """
    if name == ENGLISH:
        return minilm.installed()
    if name == MULTILINGUAL:
        found = e5.installed()
        if found is None:
            raise Unsupported("research.vector_model needs the extra `vectors-multilingual`.")
        return found
    return in_folder(Path(name))
