"""The order of a search's hits: w_keyword x keyword + w_freshness x freshness + w_authority x authority.

Search guide, phase 4; four decimals. Equal scores keep the order of merging, which is that of sources and ranks and
never that of arrival.
"""

from collections.abc import Sequence
from datetime import date

from msgspec import Struct
from signal_search.contracts.hit import HitScore, HitWeights, MergedHit, RankedHit

from scoring.hit_freshness import freshness_score
from scoring.hit_keyword import keyword_match
from scoring.site_authority import boosted, site_authority

DECIMALS = 4


class HitQuestion(Struct, frozen=True, kw_only=True):
    """What hits are scored for.

    variants: the query and its other forms; today: the day of the search, UTC; boost: sites the caller prefers, each
    counted once with `boost_amount`, authority never above 1.
    """

    variants: tuple[str, ...]
    weights: HitWeights
    today: date
    boost: tuple[str, ...] = ()
    boost_amount: float = 0.2


def rank_hits(hits: Sequence[MergedHit], question: HitQuestion) -> tuple[RankedHit, ...]:
    """Return the hits with their scores, best first; equal ones in the order given."""
    scored = [RankedHit(hit=each, score=score_hit(each, question)) for each in hits]
    return tuple(sorted(scored, key=lambda each: -each.score.score if each.score else 0.0))


def in_source_order(hits: Sequence[MergedHit]) -> tuple[RankedHit, ...]:
    """Return the hits without scores, in the order of merging: for who named no intent and no ranking."""
    return tuple(RankedHit(hit=each) for each in hits)


def score_hit(hit: MergedHit, question: HitQuestion) -> HitScore:
    """Score one hit."""
    keyword = keyword_match(question.variants, hit.title, hit.snippet)
    fresh, fresh_reason = freshness_score(hit.published, hit.snippet, question.today)
    standing, standing_reason = site_authority(hit.url)
    authority = boosted(standing, hit.url, question.boost, question.boost_amount)
    weights = question.weights
    total = weights.keyword * keyword + weights.freshness * fresh + weights.authority * authority
    return HitScore(
        score=round(total, DECIMALS),
        keyword=round(keyword, DECIMALS),
        freshness=round(fresh, DECIMALS),
        authority=round(authority, DECIMALS),
        reasons={
            "keyword": f"{keyword:.0%} of the query's words",
            "freshness": fresh_reason,
            "authority": standing_reason
            + (" + preferred by the caller" if authority > standing else ""),
        },
    )
