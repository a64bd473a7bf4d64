"""A text model out of a folder of this machine: the operator's own, in any language. Nothing is downloaded.

The folder is what sentence-transformers writes: `model.onnx` (or `onnx/model.onnx`) and `tokenizer.json`, and, where
they are there, `1_Pooling/config.json`, `sentence_bert_config.json` and `config_sentence_transformers.json`, which say
how the model wants its texts.
"""

import hashlib
from functools import cache
from pathlib import Path
from typing import Annotated, Final, TypeVar

import msgspec
from msgspec import Meta, Struct
from signal_search.errors import Unsupported

from workers.memory.onnx_model import Form, OnnxModel

_Kind = TypeVar("_Kind")
_MODELS: Final = ("model.onnx", "onnx/model.onnx")
_TOKENIZER: Final = "tokenizer.json"
_MOST_TOKENS: Final = 512  # a passage has about 1,200 characters; attention grows with the square


class _Pooling(Struct):
    pooling_mode_cls_token: bool = False


class _Length(Struct):
    max_seq_length: Annotated[int, Meta(ge=1)] | None = None


class _Said(Struct):
    prompts: dict[str, str] = {}


class _Nothing(Struct):
    pass


@cache
def in_folder(folder: Path) -> OnnxModel:
    """Return the model of a folder, loaded once; its id holds a digest of its files, so that a changed one differs.

    Raises:
        Unsupported: there is no such model, or the extra `vectors` is not installed.
    """
    model = next((folder / each for each in _MODELS if (folder / each).is_file()), None)
    tokenizer = folder / _TOKENIZER
    if model is None or not tokenizer.is_file():
        raise Unsupported("The folder of research.vector_model has no model and tokenizer.")
    form = form_of(folder)
    model_id = f"{folder.name}-{_digest(model, tokenizer, form)}"
    return OnnxModel(model, tokenizer, model_id=model_id, form=form)


def form_of(folder: Path) -> Form:
    """Return how the model of a folder wants its texts.

    Raises:
        Unsupported: a file of the folder is not of its form.
    """
    pooling = _read(folder / "1_Pooling/config.json", _Pooling)
    length = _read(folder / "sentence_bert_config.json", _Length)
    said = _read(folder / "config_sentence_transformers.json", _Said).prompts
    return Form(
        pooling="first" if pooling.pooling_mode_cls_token else "mean",
        max_tokens=min(length.max_seq_length or _MOST_TOKENS, _MOST_TOKENS),
        query_prefix=said.get("query", ""),
        passage_prefix=said.get("passage", said.get("document", "")),
    )


def _read(path: Path, kind: type[_Kind]) -> _Kind:
    if not path.is_file():
        return kind()
    try:
        return msgspec.json.decode(path.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise Unsupported("A file of the model's folder cannot be read.") from error


def _digest(model: Path, tokenizer: Path, form: Form) -> str:
    found = hashlib.blake2b(msgspec.json.encode(form), digest_size=6)
    for path in (model, tokenizer):
        with path.open("rb") as file:
            found.update(hashlib.file_digest(file, "blake2b").digest())
    return found.hexdigest()
