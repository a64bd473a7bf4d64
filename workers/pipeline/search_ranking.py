"""In which order a search's hits are shown: by a program, the fixed formula, the intent, or as the sources gave them.

Pure. All hits that were merged are ordered; what is not shown is cut last.
"""

from collections.abc import Mapping, Sequence
from datetime import date
from typing import Any

import msgspec
from msgspec import UNSET, Struct
from msgspec.structs import replace
from signal_search.contracts.hit import MergedHit, RankedHit
from signal_search.contracts.plan import SearchFrame
from signal_search.contracts.search import SearchRequest
from signal_search.contracts.search_result import Hits, RankingSource, SearchHit, SearchRanking

from scoring.academic import Ranking, rank
from scoring.candidates import Candidate, merge
from scoring.expression.compiler import compile_program
from scoring.hit_rank import HitQuestion, in_source_order, rank_hits
from workers.pipeline.search_hits import names_of

_MOST_HITS = 100
_ABSTRACT_CHARS = 4000


class Order(Struct, frozen=True, kw_only=True):
    """The hits in their order, the same as they were merged, and how the order came about."""

    hits: Hits
    ranking: SearchRanking
    shown: tuple[RankedHit, ...] = ()


def ranking_source(request: SearchRequest, frame: SearchFrame) -> RankingSource:
    """Return what orders the hits of a search.

    A named ranking comes first. An intent scores by its weights, except in mode fused, which has the fixed formula.
    A null ranking asks for the formula too. With neither intent nor ranking hits stay as the sources gave them, without
    scores, as older callers of the search guide expect.
    """
    if frame.plan.mode == "multi":
        return "source_order"
    if request.ranking == "scorer":
        return "scorer"
    if request.ranking == "auto":
        return "auto" if frame.weights is not None else "default"
    if request.intent is not None and frame.plan.mode != "fused":
        return "intent"
    if frame.plan.mode == "fused" or request.ranking is None:
        return "default"
    return "source_order"


def in_order(
    merged: Sequence[MergedHit],
    request: SearchRequest,
    frame: SearchFrame,
    *,
    boost: float,
    top: int | None,
) -> Order:
    """Return the hits in order, at most `top` of them (None: as many as an answer may have).

    Raises:
        ProgramError: the request's program failed on a candidate, or there are too many.
    """
    source, most = ranking_source(request, frame), top or _MOST_HITS
    if source in {"source_order", "intent"}:
        return _by_intent(merged, frame, source, boost, most)
    return by_formula(
        merged,
        query=_words(request),
        as_of_year=int(frame.plan.today[:4]),
        frame=frame,
        request=request,
        top=most,
    )


def _by_intent(
    merged: Sequence[MergedHit], frame: SearchFrame, source: RankingSource, boost: float, top: int
) -> Order:
    plan = frame.plan
    if source == "source_order":
        shown, weights = in_source_order(merged), None
    else:
        question = HitQuestion(
            variants=plan.score_variants,
            weights=plan.weights,
            today=date.fromisoformat(plan.today),
            boost=plan.domain_boost,
            boost_amount=boost,
        )
        shown, weights = rank_hits(merged, question), msgspec.to_builtins(plan.weights)
    kept = shown[:top]
    hits = tuple(_scored(each) for each in kept)
    ranking = SearchRanking(source=source, weights=weights)
    return Order(hits=hits, ranking=ranking, shown=kept)


def _scored(ranked: RankedHit) -> SearchHit:
    hit, score = search_hit(ranked.hit), ranked.score
    if score is None:
        return hit
    parts = {name: getattr(score, name) for name in ("keyword", "freshness", "authority")}
    return replace(hit, score=score.score, score_detail=parts, score_reasons=score.reasons)


def search_hit(merged: MergedHit) -> SearchHit:
    """Return a merged hit as it is shown, without a score."""
    year = merged.published[:4]
    return SearchHit(
        title=merged.title,
        url=merged.url,
        source=", ".join(merged.source_ids),
        sources=merged.source_ids,
        snippet=merged.snippet,
        abstract=merged.snippet if _is_work(merged) else "",
        published_date=merged.published,
        authors=names_of(merged.authors),
        year=int(year) if year.isdigit() else UNSET,
        doi=merged.doi,
        arxiv_id=merged.arxiv_id,
        venue=merged.container,
        citations=merged.citations if merged.citations is not None else UNSET,
        raw_rank=merged.rank or UNSET,
        by_model=merged.by_model,
    )


def _is_work(merged: MergedHit) -> bool:
    return bool(merged.doi or merged.arxiv_id or merged.container)


# --- the scorer guide's ranking ---------------------------------------------------------------------------------------


def by_formula(
    merged: Sequence[MergedHit],
    *,
    query: str,
    as_of_year: int,
    frame: SearchFrame,
    request: SearchRequest | None = None,
    top: int,
) -> Order:
    """Order hits as works by the fixed formula, by it with a model's weights, or by the request's program.

    Raises:
        ProgramError: as `in_order`.
    """
    candidates = merge([_candidate(each) for each in merged])
    program = request.scorer if request is not None and request.ranking == "scorer" else None
    ranked = rank(
        candidates,
        query,
        as_of_year=as_of_year,
        program=compile_program(program) if program is not None else None,
        weights=frame.weights if program is None else None,
        explain=request is not None and request.explain,
        top=top,
    )
    known = {each.url: each for each in reversed(merged)}
    hits = tuple(
        _shown(candidates[at], known, ranked, place) for place, at in enumerate(ranked.order)
    )
    shown = tuple(
        RankedHit(hit=known[hit.url], order_score=score)
        for hit, score in zip(hits, ranked.scores, strict=True)
        if hit.url in known
    )
    return Order(hits=hits, ranking=_used(ranked), shown=shown)


def _candidate(merged: MergedHit) -> Candidate:
    year = merged.published[:4]
    return Candidate(
        title=merged.title,
        abstract=merged.snippet[:_ABSTRACT_CHARS],
        authors=names_of(merged.authors),
        year=int(year) if year.isdigit() else None,
        venue=merged.container,
        citations=merged.citations,
        url=merged.url,
        doi=merged.doi,
        arxiv_id=merged.arxiv_id,
        sources=merged.source_ids,
        raw_rank=merged.rank or None,
    )


def _shown(
    candidate: Candidate, known: Mapping[str, MergedHit], ranked: Ranking, place: int
) -> SearchHit:
    """Return a candidate as it is shown; what candidates do not carry is the first hit's of its address."""
    first = known.get(candidate.url)
    details = ranked.details[place] if ranked.details else None
    more: dict[str, Any] = {}
    if ranked.explanations:
        more["score_explanation"] = ranked.explanations[place]
    return SearchHit(
        title=candidate.title,
        url=candidate.url,
        source=", ".join(candidate.sources),
        sources=candidate.sources,
        snippet=candidate.abstract,
        abstract=candidate.abstract if first is None or _is_work(first) else "",
        published_date=first.published if first is not None else "",
        authors=candidate.authors,
        year=candidate.year if candidate.year is not None else UNSET,
        doi=candidate.doi,
        arxiv_id=candidate.arxiv_id,
        venue=candidate.venue,
        citations=candidate.citations if candidate.citations is not None else UNSET,
        score=ranked.scores[place],
        score_detail=msgspec.to_builtins(details),
        raw_rank=candidate.raw_rank if candidate.raw_rank is not None else UNSET,
        by_model=first is not None and first.by_model,
        **more,
    )


def _used(ranked: Ranking) -> SearchRanking:
    return msgspec.convert(msgspec.to_builtins(ranked.used), SearchRanking)


def _words(request: SearchRequest) -> str:
    """Return what candidates are compared with: words only, since an identifier has none."""
    return (request.query or "").strip() or next(iter(request.queries), "") or request.title or ""
