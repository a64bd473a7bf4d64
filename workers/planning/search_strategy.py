"""What an intent means for a search: mode and freshness (search guide, phase 1). The weights are settings."""

from msgspec import Struct
from signal_search.contracts.search_plan import SearchIntent, SearchMode


class SearchStrategy(Struct, frozen=True, kw_only=True):
    """How to search for an intent. freshness: the choices, best first; empty: any age will do."""

    mode: SearchMode
    freshness: tuple[str, ...] = ()


STRATEGIES: dict[SearchIntent, SearchStrategy] = {
    SearchIntent.FACTUAL: SearchStrategy(mode="answer"),
    SearchIntent.STATUS: SearchStrategy(mode="deep", freshness=("pw", "pm")),
    SearchIntent.COMPARISON: SearchStrategy(mode="deep", freshness=("py",)),
    SearchIntent.TUTORIAL: SearchStrategy(mode="answer", freshness=("py",)),
    SearchIntent.EXPLORATORY: SearchStrategy(mode="deep"),
    SearchIntent.NEWS: SearchStrategy(mode="deep", freshness=("pd", "pw")),
    SearchIntent.RESOURCE: SearchStrategy(mode="fast"),
}
# Two things compared "as of now": what was written in the last month, then the intent's own year.
_NEW_COMPARISON = ("pm", "py")


def strategy_for(intent: SearchIntent, *, wants_new: bool = False) -> SearchStrategy:
    """Return how to search for an intent; wants_new: the words ask for something new besides."""
    plain = STRATEGIES[intent]
    if intent == SearchIntent.COMPARISON and wants_new:
        return SearchStrategy(mode=plain.mode, freshness=_NEW_COMPARISON)
    return plain
