"""The section `research`: where the memories and indexes of this deployment are, how much is looked at, and by whom."""

from pathlib import PurePath
from typing import Annotated, Literal

from pydantic import BaseModel, ConfigDict, Field, SecretStr, field_validator

from infra.sections import Count, Seconds

_MODELS = ("all-MiniLM-L6-v2", "multilingual-e5-small")
_Name = Annotated[str, Field(min_length=1, max_length=200)]


class ResearchRoot(BaseModel):
    """The folder of a scope: what grep reads, and what the index is made of where no other folder is named."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    path: str
    team_id: _Name
    project_id: _Name
    repository: _Name
    branch: _Name
    experiment_environment: _Name


class Research(BaseModel):
    """Research memory and its router. The model is off unless switched on, and only at one of `llm_endpoints`."""

    model_config = ConfigDict(extra="forbid", frozen=True, allow_inf_nan=False)

    folder: str
    roots: list[ResearchRoot]
    deadline_s: Seconds
    max_calls: Annotated[int, Field(ge=1, le=12)]
    max_index_age_s: Seconds
    channel_depth: Annotated[int, Field(ge=1, le=1000)]
    grep_results: Annotated[int, Field(ge=1, le=1000)]
    grep_files: Count
    grep_file_bytes: Annotated[int, Field(ge=1, le=100_000_000)]
    grep_profile: Literal["strict", "balanced", "masked"]
    index_files: Count
    index_file_bytes: Annotated[int, Field(ge=1, le=100_000_000)]
    index_profile: Literal["strict", "balanced", "masked"]
    vectors: Literal["auto", "off"]
    vector_model: Annotated[str, Field(max_length=1000)]
    llm_enabled: bool
    llm_endpoints: Annotated[list[str], Field(min_length=1, max_length=10)]
    llm_base_url: str
    llm_model: Annotated[str, Field(max_length=200)]
    llm_timeout_s: Annotated[float, Field(gt=0, le=120)]
    llm_tokens: Annotated[int, Field(ge=1, le=10_000_000)]
    rerank: Literal["off", "rule", "llm", "hybrid"]
    llm_api_key: SecretStr = SecretStr("")

    @field_validator("vector_model", mode="after")
    @classmethod
    def _is_known(cls, value: str) -> str:
        if value not in _MODELS and not PurePath(value).is_absolute():
            msg = f"must be one of {', '.join(_MODELS)} or the absolute path of a folder"
            raise ValueError(msg)
        return value

    @field_validator("llm_endpoints", mode="after")
    @classmethod
    def _are_https(cls, value: list[str]) -> list[str]:
        if any(not each.startswith("https://") or each.endswith("/") for each in value):
            msg = "must be https addresses without a last slash"
            raise ValueError(msg)
        return value
