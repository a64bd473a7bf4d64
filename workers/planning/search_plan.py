"""From a search request to its plan: the one entry of the search layer's planning. Pure, and the same on every run.

Nothing is asked of the caller, of a model or of a source: intent, mode, freshness, words and sources follow from the
words, the options, the day, and what is configured.
"""

import re
from collections.abc import Collection, Sequence
from datetime import UTC, date, datetime
from typing import TypedDict

from msgspec import Struct
from signal_search.contracts.query import FRESHNESS_PATTERN
from signal_search.contracts.search_plan import (
    FreshnessBy,
    SearchCall,
    SearchIntent,
    SearchMode,
    SearchPlan,
    SubQuery,
)
from signal_search.contracts.source import SourceQuery
from signal_search.errors import Invalid

from scoring.hit_rules import HitRules
from workers.planning.expand import own_terms
from workers.planning.language import language_of
from workers.planning.search_intent import SearchReading, classify
from workers.planning.search_modes import TAVILY, WEB_SOURCES, SourceSet, sources_for
from workers.planning.search_queries import sub_queries, variants_to_score
from workers.planning.search_strategy import SearchStrategy, strategy_for

MOST_QUERIES = 10
"""How many queries of its own a caller may bring."""


class SearchOptions(Struct, frozen=True, kw_only=True):
    """What a caller may fix; what is left out follows from the words.

    sources: ask exactly these, in this order; joining: sources without a key that are asked besides; per_source: hits
    from each source and sub-query; expand: False searches for the query as it stands.
    """

    mode: SearchMode | None = None
    intent: SearchIntent | None = None
    freshness: str | None = None
    domain_boost: tuple[str, ...] = ()
    sources: tuple[str, ...] = ()
    joining: tuple[str, ...] = ()
    per_source: int | None = None
    language: str | None = None
    expand: bool = True


PLAIN = SearchOptions()


def plan_search(
    queries: Sequence[str],
    *,
    configured: Collection[str],
    rules: HitRules,
    now_ms: int,
    options: SearchOptions = PLAIN,
) -> SearchPlan:
    """Plan a search for one query, which is expanded by its intent, or for several, which are asked as they are.

    configured: ids of the sources that can be asked here.

    Raises:
        Invalid: no query, a blank one, too many, or a wrong freshness; with the field.
    """
    asked = _checked(queries, options.freshness)
    today = datetime.fromtimestamp(now_ms / 1000, UTC).date()
    reading = _reading(asked[0], options.intent)
    strategy = strategy_for(reading.intent, wants_new=reading.wants_new)
    mode = options.mode or strategy.mode
    chosen = sources_for(mode, configured, wanted=options.sources, joining=options.joining)
    texts = _texts(asked, reading.intent, today, options)
    return SearchPlan(
        queries=asked,
        scored_against=asked[0],
        score_variants=variants_to_score(asked[0]),
        language=language_of(asked[0], options.language),
        intent=reading.intent,
        intent_reason=reading.reason,
        mode=mode,
        sub_queries=texts,
        calls=_calls(texts, chosen, mode, options.joining),
        weights=rules.weights[reading.intent.value],
        domain_boost=options.domain_boost,
        is_scored=options.intent is not None,
        per_source=options.per_source or rules.per_source,
        today=today.isoformat(),
        not_configured=chosen.not_configured,
        **_freshness(options.freshness, strategy),
    )


def ask_of(plan: SearchPlan, call: SearchCall) -> SourceQuery:
    """Return what the source of a call is asked."""
    text = next(each for each in plan.sub_queries if each.id == call.query_id)
    return SourceQuery(
        text=text.text,
        terms=text.terms,
        language=text.language,
        freshness=plan.freshness,
        limit=plan.per_source,
        today=plan.today,
        with_answer=call.with_answer,
        about_news=plan.intent == SearchIntent.NEWS,
    )


# --- what is asked ----------------------------------------------------------------------------------------------------


def _checked(queries: Sequence[str], freshness: str | None) -> tuple[str, ...]:
    found = tuple(" ".join(each.split()) for each in queries)
    if not found:
        raise Invalid("Give a query, or several.", field="query")
    if not all(found):
        raise Invalid("A query must not be blank.", field="query" if len(found) == 1 else "queries")
    if len(found) > MOST_QUERIES:
        raise Invalid(f"At most {MOST_QUERIES} queries.", field="queries")
    if freshness is not None and not re.fullmatch(FRESHNESS_PATTERN, freshness):
        raise Invalid("freshness is pd, pw, pm, py or two days A..B.", field="freshness")
    return tuple(dict.fromkeys(found))


def _reading(query: str, intent: SearchIntent | None) -> SearchReading:
    """Return the caller's intent, else the one the words tell."""
    found = classify(query)
    if intent is None:
        return found
    return SearchReading(intent=intent, reason="named by the caller", wants_new=found.wants_new)


def _texts(
    queries: tuple[str, ...], intent: SearchIntent, today: date, options: SearchOptions
) -> tuple[SubQuery, ...]:
    is_expanded = options.expand and len(queries) == 1
    texts = sub_queries(queries[0], intent, today) if is_expanded else queries
    return tuple(
        SubQuery(
            id=f"q{number}",
            text=each,
            terms=own_terms(each),
            # An English form must not be asked for among Chinese pages.
            language=language_of(each, options.language),
        )
        for number, each in enumerate(texts, 1)
    )


class _Freshness(TypedDict):
    freshness: str | None
    freshness_by: FreshnessBy
    wider_freshness: tuple[str, ...]


def _freshness(wanted: str | None, strategy: SearchStrategy) -> _Freshness:
    if wanted is not None:
        return _Freshness(freshness=wanted, freshness_by="caller", wider_freshness=())
    if not strategy.freshness:
        return _Freshness(freshness=None, freshness_by="", wider_freshness=())
    first, *wider = strategy.freshness
    return _Freshness(freshness=first, freshness_by="intent", wider_freshness=tuple(wider))


# --- who is asked -----------------------------------------------------------------------------------------------------


def _calls(
    texts: Sequence[SubQuery], chosen: SourceSet, mode: SearchMode, joining: Sequence[str]
) -> tuple[SearchCall, ...]:
    """Return the calls, source by source.

    Sources that join are asked the first text only: their hosts rest between requests for longer than a search lasts.
    """
    asked = [
        _call(text, each, mode)
        for each in chosen.asked
        for text in (texts[:1] if each in joining and each not in WEB_SOURCES else texts)
    ]
    stand_ins = [
        _call(text, each, mode, instead_of=missed)
        for each, missed in chosen.instead_of.items()
        for text in texts
    ]
    return (*asked, *stand_ins)


def _call(text: SubQuery, source: str, mode: SearchMode, *, instead_of: str = "") -> SearchCall:
    return SearchCall(
        id=f"{text.id}.{source}",
        source_id=source,
        query_id=text.id,
        with_answer=mode == "answer" and source == TAVILY and text.id == "q1",
        instead_of=instead_of,
    )
