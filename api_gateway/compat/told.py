"""What the faces' answers have in common: hits of wanted sites, and what is missing, in words. Pure."""

from collections.abc import Iterator, Sequence
from urllib.parse import urlsplit

from msgspec import UNSET
from signal_search.contracts.result import StopReason
from signal_search.contracts.search_result import Hits, SearchHit, SearchResult
from signal_search.errors import Failed


def refuse_unreached(result: SearchResult) -> None:
    """Refuse to tell a search as empty that reached nobody.

    Raises:
        Failed: no source answered; "nothing was found" would be untrue.
    """
    if result.stop.reason is StopReason.NO_SOURCE_REACHED:
        raise Failed("No source could be reached.")


def of_sites(hits: Hits, *, wanted: Sequence[str] = (), unwanted: Sequence[str] = ()) -> Hits:
    """Return the hits of the wanted sites (none named: of all) without those of the unwanted ones.

    Sites are named by domain; their subdomains belong to them. What is no address belongs to none.
    """
    return tuple(
        each for each in hits if (not wanted or _is_of(each, wanted)) and not _is_of(each, unwanted)
    )


def _is_of(hit: SearchHit, names: Sequence[str]) -> bool:
    try:
        host = (urlsplit(hit.url).hostname or "").lower()
    except ValueError:  # a source may call anything an address
        return False
    return any(host == each or host.endswith(f".{each}") for each in names)


def shares(hits: Hits) -> dict[str, float]:
    """Return the score of each hit by its address, 0..1 with four decimals; 0 for one without.

    The fixed formula goes beyond 1: then all are told as shares of the best one's.
    """
    scores = {each.url: each.score for each in hits if each.score is not UNSET}
    best = max(1.0, *scores.values(), 1.0)
    return {each.url: round(max(0.0, scores.get(each.url, 0.0)) / best, 4) for each in hits}


def warnings(result: SearchResult) -> tuple[str, ...]:
    """Return what a reader of the hits alone would not know: silent sources, hits kept back, retracted works."""
    missing = (f"{name}: {reason}" for name, reason in result.errors.items())
    return (*missing, *notes(result))


def notes(result: SearchResult) -> tuple[str, ...]:
    """Return the warnings without the silent sources, for a face that has a place of its own for them."""
    return tuple(_notes(result))


def _notes(result: SearchResult) -> Iterator[str]:
    if result.freshness_filter is not UNSET and (result.stale or result.undated):
        kept = f"only hits of {result.freshness_filter} are shown"
        yield f"{kept}; left out: {result.stale} older, {len(result.undated)} without a date"
    yield from result.warnings


def searches(result: SearchResult) -> int:
    """Return how many requests to search services a search was: what a face tells as credits."""
    return result.usage.searches
