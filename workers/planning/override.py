"""Which tier the caller ordered: the prefix in the query, then depth, then the constraint, in that order."""

import re

from msgspec import Struct
from signal_search.contracts.query import Depth, Tier

_PREFIX = re.compile(r"^\s*/signal\s+(L[0-3])\s+(?=\S)", re.IGNORECASE)
DEPTH_TIERS: dict[str, Tier] = {"quick": Tier.L1, "standard": Tier.L2, "deep": Tier.L3}


class Override(Struct, frozen=True):
    """The query without its prefix, and the tier that the prefix ordered."""

    query: str
    tier: Tier | None = None


def split_override(text: str) -> Override:
    """Split `/signal Lx question`; a prefix without a question is an ordinary query and stays as it is."""
    found = _PREFIX.match(text)
    if found is None:
        return Override(text.strip())
    return Override(text[found.end() :].strip(), Tier(found[1].upper()))


def ordered_tier(prefix: Tier | None, depth: Depth | None, required: Tier | None) -> Tier | None:
    """Return the tier the caller ordered: prefix, then depth, then required_tier; None when the rules decide."""
    return prefix or DEPTH_TIERS.get(depth or "") or required
