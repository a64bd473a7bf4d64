"""The figures of the search layer, as settings give them: what counts how much, by intent."""

from msgspec import Struct
from signal_search.contracts.hit import HitWeights


class HitRules(Struct, frozen=True, kw_only=True):
    """The section `search` of the settings as far as plans and scores depend on it.

    weights: by intent; domain_boost: what a site named by the caller gains in authority; per_source: hits that a source
    is asked for with each sub-query.
    """

    weights: dict[str, HitWeights]
    domain_boost: float = 0.2
    per_source: int = 5
