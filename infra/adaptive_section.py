"""The section `adaptive`: who judges, who is searched, and the bounds of one adaptive search (its guide's figures)."""

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator
from signal_search.contracts.adaptive_plan import ScreenLimits

from infra.endpoint_fields import EndpointAddress, EndpointKey
from infra.sections import Amount


class ScreenFigures(BaseModel):
    """The bounds of one adaptive search, field by field as `ScreenLimits` has them."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    rounds: Annotated[int, Field(ge=1, le=20)]
    searches: Annotated[int, Field(ge=1, le=200)]
    judge_calls: Annotated[int, Field(ge=1, le=1000)]
    http_attempts: Annotated[int, Field(ge=3, le=3000)]
    input_tokens: Annotated[int, Field(ge=1000, le=100_000_000)]
    pool: Annotated[int, Field(ge=1, le=500)]
    least_pool: Annotated[int, Field(ge=1, le=500)]
    total_pool: Annotated[int, Field(ge=1, le=10_000)]
    batch_size: Annotated[int, Field(ge=1, le=24)]
    batch_per_target: Annotated[int, Field(ge=1, le=24)]
    batches: Annotated[int, Field(ge=1, le=64)]
    review_attempts: Annotated[int, Field(ge=1, le=5)]
    idle_rounds: Annotated[int, Field(ge=1, le=10)]
    source_failures: Annotated[int, Field(ge=1, le=10)]


class AdaptivePurse(BaseModel):
    """What one adaptive search may spend on its sources; the judge's part follows from its own bounds."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    tokens: Amount
    calls: Amount
    searches: Amount
    fetches: Amount
    bytes: Amount


class Adaptive(BaseModel):
    """Adaptive search. Without a judge it answers `not_configured` and asks nobody anything."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    judge: Literal["none", "systemone", "openai_chat", "delegate", "rule"]
    judge_base_url: EndpointAddress
    judge_model: Annotated[str, Field(max_length=200)]
    judge_api_key: EndpointKey = SecretStr("")
    judge_timeout_s: Annotated[float, Field(ge=0.1, le=30.0)]
    judge_retries: Annotated[int, Field(ge=0, le=2)]
    judge_max_response_bytes: Annotated[int, Field(ge=1024, le=4_194_304)]
    chat_batch_size: Annotated[int, Field(ge=1, le=24)]
    deadline_s: Annotated[float, Field(gt=0.0, le=600.0)]
    sources: list[str]
    dates_in_questions: bool
    hits_medium: Annotated[int, Field(ge=1, le=100)]
    hits_complex: Annotated[int, Field(ge=1, le=100)]
    page_ttl_s: Annotated[int, Field(ge=60, le=1800)]
    page_sets: Annotated[int, Field(ge=1, le=32)]
    limits: ScreenFigures
    purse: AdaptivePurse

    @field_validator("judge_base_url", mode="after")
    @classmethod
    def _ends_without_a_slash(cls, value: str) -> str:
        return value.rstrip("/")

    @property
    def has_judge_address(self) -> bool:
        """Return whether address, model and key of a judge that speaks the typed protocol are all there."""
        key = self.judge_api_key.get_secret_value()
        return bool(self.judge_base_url and self.judge_model and key)

    @property
    def screen_limits(self) -> ScreenLimits:
        """Return the bounds of a job; a judge that is no typed one is asked less at a time."""
        figures: dict[str, Any] = self.limits.model_dump()
        if self.judge == "openai_chat":
            figures["batch_size"] = min(figures["batch_size"], self.chat_batch_size)
        return ScreenLimits(attempts_per_call=self.judge_retries + 1, **figures)
