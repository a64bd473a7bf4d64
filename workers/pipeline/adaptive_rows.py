"""What a fused search brought, from the log: the answers of its sources as one list, and who answered. Pure."""

from collections.abc import Iterator, Mapping, Sequence
from urllib.parse import urlsplit

from msgspec.structs import replace
from signal_search.contracts.document import Document
from signal_search.contracts.hit import Hit

from scoring.fusion import fuse
from scoring.screening.dates import published_day
from scoring.screening.url_key import url_key
from scoring.stated_dates import stated_date
from workers.pipeline.search_decide import has_answered
from workers.pipeline.search_hits import hits_by_question
from workers.pipeline.state import CallView, JobView
from workers.screening.actions import Found, Row, Search, SourceStats
from workers.screening.texts import EXCERPT_CHARS, count_words

_ENDS = ".:|\n\r。："  # after a title that stands by itself
_OF_A_SITE = 2  # rows in the first pass over each source's answer (adaptive search guide)


def calls_of(view: JobView, search: Search) -> list[CallView]:
    """Return the calls of a search that were opened."""
    names = (call_id(search, each) for each in search.sources)
    return [view.calls[each] for each in names if each in view.calls]


def call_id(search: Search, source_id: str) -> str:
    """Return the id of the call that asks one source of a search."""
    return f"{search.id}.{source_id}"


def found_of(view: JobView, search: Search, documents: Mapping[str, Document]) -> Found:
    """Return what a search brought so far; hits that a model wrote are no material."""
    calls = calls_of(view, search)
    texts = {each.url: each.text for each in documents.values()}
    hits = [
        replace(each, snippet=_whole(each, texts.get(each.url, "")))
        for each in hits_by_question(view, documents).get(search.id, ())
        if not each.by_model
    ]
    lists = [[each for each in hits if each.source_id == name] for name in search.sources]
    stats = {each.call.source_id: _stats(each) for each in calls}
    is_lost = bool(stats) and not any(each.successes for each in stats.values())
    return Found(
        rows=tuple(_rows(lists, min(search.quota, search.most))),
        stats=stats,
        error="no_source_answered" if is_lost else "",
    )


def _whole(hit: Hit, text: str) -> str:
    """Return a hit's excerpt, with the title in front again where the first sentence began with it."""
    after = text[len(hit.title) :] if hit.title and text.startswith(hit.title) else ""
    is_sentence = bool(after) and after.lstrip(" ") == hit.snippet and after[0] not in _ENDS
    return text if is_sentence else hit.snippet


def _stats(call: CallView) -> SourceStats:
    is_answered = has_answered(call)
    return SourceStats(successes=int(is_answered), errors=int(not is_answered))


def _rows(lists: Sequence[Sequence[Hit]], most: int) -> Iterator[Row]:
    """Yield one row for each address, in turn from each source; two of a site at first, then the rest."""
    by_key: dict[str, list[Hit]] = {}
    for hits in lists:
        for each in hits:
            by_key.setdefault(url_key(each.url), []).append(each)
    scores = {
        each.key: each.score for each in fuse([[url_key(e.url) for e in hits] for hits in lists])
    }
    for key in list(_in_turn(lists))[:most]:
        yield _row(by_key[key], scores[key])


def _in_turn(lists: Sequence[Sequence[Hit]]) -> Iterator[str]:
    """Yield keys round-robin over each source's own order."""
    seen: set[str] = set()
    for limit in (_OF_A_SITE, None):
        kept = [list(_of_pass(hits, limit)) for hits in lists]
        for at in range(max(map(len, kept), default=0)):
            for keys in kept:
                if at < len(keys) and keys[at] and keys[at] not in seen:
                    seen.add(keys[at])
                    yield keys[at]


def _of_pass(hits: Sequence[Hit], limit: int | None) -> Iterator[str]:
    counts: dict[str, int] = {}
    for each in hits:
        site = urlsplit(each.url).hostname or ""
        counts[site] = counts.get(site, 0) + 1
        if limit is None or counts[site] <= limit:
            yield url_key(each.url)


def _row(hits: Sequence[Hit], score: float) -> Row:
    """Return all hits of one address as one: the first known title and date, the text that says most."""
    snippet = max((each.snippet for each in hits), key=count_words)
    return Row(
        url=hits[0].url,
        title=next((each.title for each in hits if each.title), ""),
        snippet=snippet,
        content=snippet if len(snippet) > EXCERPT_CHARS else "",
        published=next((day for each in hits if (day := _published(each.published))), ""),
        score=score,
    )


def _published(stated: str) -> str:
    """Return a date that a window can be held against; one that is only a year or a month says nothing there."""
    return stated if published_day(stated) else stated_date(stated)
