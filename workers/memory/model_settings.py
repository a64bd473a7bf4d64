"""Whether a model may be asked, by the variables of the memory guide: read from what the caller hands in. Pure.

The endpoint is one of a fixed list, exactly: nobody can have evidence sent elsewhere by a variable.
"""

import math
from collections.abc import Mapping
from typing import Final

from msgspec import Struct
from typing_extensions import override

ENDPOINT: Final = "https://api.siliconflow.cn/v1"  # memory guide
DEFAULT_TIMEOUT_S: Final = 5.0  # memory guide
_ON: Final = frozenset({"1", "true", "yes"})


class ModelSettings(Struct, frozen=True, kw_only=True):
    """What is needed to ask. refusal: why no model is asked, empty when one may be. The key is in no repr."""

    base_url: str = ENDPOINT
    model: str = ""
    timeout_s: float = DEFAULT_TIMEOUT_S
    refusal: str = ""
    key: str = ""

    @override
    def __repr__(self) -> str:
        """Return everything but the key."""
        return f"ModelSettings(model={self.model!r}, refusal={self.refusal!r})"


def read_model_settings(
    variables: Mapping[str, str], endpoints: tuple[str, ...] = (ENDPOINT,)
) -> ModelSettings:
    """Return the settings; where the switch is off, nothing else is kept."""
    if variables.get("ARR_LLM_ENABLED", "").strip().casefold() not in _ON:
        return ModelSettings(refusal="llm_disabled")
    base_url = variables.get("ARR_LLM_BASE_URL", ENDPOINT).strip()
    model = variables.get("ARR_LLM_MODEL", "").strip()
    key = variables.get("ARR_SILICONFLOW_API_KEY", "").strip()
    checks = (
        (bool(base_url), "llm_missing_base_url"),
        (bool(model), "llm_missing_model"),
        (bool(key), "llm_missing_api_key"),
        (is_allowed(base_url, endpoints), "llm_invalid_base_url"),
    )
    return ModelSettings(
        base_url=base_url,
        model=model,
        key=key,
        timeout_s=_timeout(variables.get("ARR_LLM_TIMEOUT_SECONDS", "")),
        refusal=next((code for holds, code in checks if not holds), ""),
    )


def _timeout(text: str) -> float:
    """Return the seconds; what is no positive number is the default."""
    try:
        seconds = float(text)
    except ValueError:
        return DEFAULT_TIMEOUT_S
    return seconds if math.isfinite(seconds) and seconds > 0 else DEFAULT_TIMEOUT_S


def is_allowed(url: str, endpoints: tuple[str, ...] = (ENDPOINT,)) -> bool:
    """Tell whether an address is exactly one of these: host in any case, a last slash or none, and nothing besides."""
    scheme, _, rest = url.partition("://")
    host, slash, path = rest.partition("/")
    plain = f"{scheme.lower()}://{host.lower()}{slash}{path.removesuffix('/')}"
    return plain in endpoints
