"""All hits of one page or work as one, in an order that no reply's arrival changes.

Hits come source by source in the order of the request, each source's in its own order. The first hit of a page gives
its place and the address that is shown; the others fill and better what it says.
"""

from collections.abc import Iterable, Sequence

from signal_search.contracts.hit import Hit, MergedHit

from scoring.disjoint_sets import groups_of
from scoring.hit_identity import hit_keys
from scoring.stated_dates import stated_date

# Longer titles are whole paragraphs, or have the site's slogan in them.
_LONGEST_GOOD_TITLE = 120
_CUT = ("...", "…")


def merge_hits(answers: Sequence[Sequence[Hit]]) -> tuple[MergedHit, ...]:
    """Merge the answers of sources, given in the order of the request; hits without an address or id are left out."""
    hits = [each for answer in answers for each in answer]
    keyed = [(each, keys) for each in hits if (keys := hit_keys(each))]
    groups = groups_of([keys for _hit, keys in keyed])
    return tuple(_merged([keyed[at][0] for at in group], keyed[group[0]][1][0]) for group in groups)


def _merged(hits: Sequence[Hit], key: str) -> MergedHit:
    words = [each for each in hits if not each.by_model] or hits
    dates = sorted(filter(None, (stated_date(each.published) for each in hits)), key=_ends)
    return MergedHit(
        key=key,
        url=next((each.url for each in hits if each.url), ""),
        title=_best_title(words) or _best_title(hits),
        snippet=_longest(each.snippet for each in words) or _longest(each.snippet for each in hits),
        published=dates[0] if dates else "",
        language=_first(each.language for each in hits),
        source_ids=tuple(dict.fromkeys(each.source_id for each in hits if each.source_id)),
        rank=min((each.rank for each in hits if each.rank), default=0),
        by_model=all(each.by_model for each in hits),
        doi=_first(each.doi for each in hits),
        arxiv_id=_first(each.arxiv_id for each in hits),
        authors=max((each.authors for each in hits), key=len),
        container=_first(each.container for each in hits),
        citations=max(
            (each.citations for each in hits if each.citations is not None), default=None
        ),
    )


def _best_title(hits: Sequence[Hit]) -> str:
    """Return the fullest title that was not cut off, the first of equals."""
    return max((each.title.strip() for each in hits), key=_goodness, default="")


def _goodness(title: str) -> tuple[bool, bool, int]:
    is_long = len(title) > _LONGEST_GOOD_TITLE
    size = -len(title) if is_long else len(title)
    return bool(title), not title.endswith(_CUT) and not is_long, size


def _longest(texts: Iterable[str]) -> str:
    return max((each.strip() for each in texts), key=len, default="")


def _first(texts: Iterable[str]) -> str:
    return next(filter(None, texts), "")


def _ends(published: str) -> str:
    """Return what to order ISO dates by: a year or month lies after every day in it, so the exact day is kept."""
    return published.ljust(10, "~")
