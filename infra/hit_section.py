"""The figures of the search layer in the section `search`: who is asked, what counts how much, when it ends."""

from typing import Annotated, Self

from pydantic import BaseModel, ConfigDict, Field, model_validator
from signal_search.contracts.search_plan import SearchIntent

from infra.sections import Share, SpendingLimits

_ROUNDING = 1e-9


class SearchWeights(BaseModel):
    """What the parts of a hit's score count for: together 1, so that a score stays between 0 and 1."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    keyword: Share
    freshness: Share
    authority: Share

    @model_validator(mode="after")
    def _add_up(self) -> Self:
        if abs(self.keyword + self.freshness + self.authority - 1.0) > _ROUNDING:
            msg = "keyword, freshness and authority must add up to 1"
            raise ValueError(msg)
        return self


class HitFigures(BaseModel):
    """Figures of the search layer. Weights by intent; what is not given for one stays as in the defaults."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    deadline_s: Annotated[float, Field(gt=0.0, le=600.0)]
    survey_deadline_s: Annotated[float, Field(gt=0.0, le=600.0)]
    max_results: Annotated[int, Field(ge=1, le=100)]
    joining: list[str]
    survey_sources: list[str]
    limits: SpendingLimits
    per_source: Annotated[int, Field(ge=1, le=100)]
    domain_boost: Share
    weights: dict[SearchIntent, SearchWeights]
