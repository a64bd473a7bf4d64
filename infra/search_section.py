"""The section `search`: figures of the search layer, the operator's model, generation of scorers, requests at a time.

Names, defaults and bounds are those of the scorer guide; a nested table `agent` is read as the three flat names.
"""

from typing import Annotated, Any, Literal

from pydantic import ConfigDict, Field, SecretStr, field_validator, model_validator

from infra.endpoint_fields import EndpointAddress, EndpointKey
from infra.hit_section import HitFigures

_NESTED = ("base_url", "api_key", "model")


class Search(HitFigures):
    """Search and its model. Generation is off unless switched on, whatever `agent_enabled` says."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    agent_enabled: bool
    agent_base_url: EndpointAddress
    agent_model: Annotated[str, Field(max_length=200)]
    agent_api_key: EndpointKey = SecretStr("")
    agent_timeout_s: Annotated[float, Field(ge=1.0, le=120.0)]
    agent_max_tokens: Annotated[int, Field(ge=64, le=4096)]

    scorer_generation_enabled: bool
    scorer_generation_max_concurrency: Annotated[int, Field(ge=1, le=32)]
    scorer_search_max_concurrency: Annotated[int, Field(ge=1, le=64)]
    scorer_generation_timeout: Annotated[float, Field(ge=1.0, le=120.0)]
    scorer_generation_max_tokens: Annotated[int, Field(ge=64, le=4096)]
    scorer_generation_total_tokens: Annotated[int, Field(ge=1024, le=65_536)]
    scorer_generation_max_response_bytes: Annotated[int, Field(ge=1024, le=262_144)]

    @model_validator(mode="before")
    @classmethod
    def _flatten(cls, value: Any) -> Any:
        """Read a nested `agent` table as the flat names; a flat name that is set wins."""
        nested = value.get("agent") if isinstance(value, dict) else None
        if not isinstance(nested, dict) or not set(nested) <= set(_NESTED):
            return value
        rest = {name: each for name, each in value.items() if name != "agent"}
        named = {f"agent_{name}": each for name, each in nested.items()}
        return {**rest, **{name: each for name, each in named.items() if not rest.get(name)}}

    @field_validator("agent_model", mode="after")
    @classmethod
    def _is_trimmed(cls, value: str) -> str:
        return value.strip()

    @property
    def has_model(self) -> bool:
        """Return whether address, key and name of a model are all there."""
        return bool(
            self.agent_base_url and self.agent_model and self.agent_api_key.get_secret_value()
        )

    @property
    def generates(self) -> bool:
        """Return whether scorers can be generated here; whether the model answers is another question."""
        return self.scorer_generation_enabled and self.has_model

    def concurrency(self, kind: Literal["generate", "search"]) -> int:
        """Return how many requests of a kind may be at work at a time, per process and in the deployment."""
        if kind == "generate":
            return self.scorer_generation_max_concurrency
        return self.scorer_search_max_concurrency
