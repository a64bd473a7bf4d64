"""What adapters of web search services share: from hits to evidence. Pure.

A hit is a title, an address and an excerpt. The excerpt is evidence of its own (signal `snippet`); the pages behind the
best hits are asked for, and obey robots.txt and pace like any page.
"""

from collections.abc import Callable, Sequence
from typing import Final
from urllib.parse import urlsplit

from msgspec import structs
from signal_search.contracts.document import Document
from signal_search.contracts.hit import Hit
from signal_search.contracts.source import Parsed, Reply, SourceQuery

from scoring.stated_dates import stated_date
from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import page
from workers.records import Shape, language, left_out, line, lines, readable

_MAX_PAGES: Final = 5
_MAX_URL_CHARS: Final = 2048
_MAX_SNIPPET_CHARS: Final = 4000
_MAX_TITLE_CHARS: Final = 500


def question_of(ask: SourceQuery, *, chars: int, words: int = 400) -> str:
    """Return what to search for: the question itself, its search words if it is too long, cut to what fits."""
    whole, terms = _tidy(ask.text), _tidy(" ".join(ask.terms))
    fits = len(whole) <= chars and len(whole.split()) <= words
    chosen = whole if whole and (fits or not terms) else terms
    return " ".join(chosen.split()[:words])[:chars].rstrip()


def _tidy(text: str) -> str:
    return " ".join(text.encode("utf-8", "replace").decode().split())


def hits_among(
    items: Sequence[object], shape: type[Shape], as_hit: Callable[[Shape], Hit]
) -> tuple[list[Hit], str]:
    """Return the items that have the shape as hits, in order, and a note that counts the others; "" for none."""
    found = readable(items, shape)
    return [as_hit(each) for each in found], left_out(len(items), len(found))


def evidence(
    config: SourceConfig,
    adapter: str,
    reply: Reply,
    hits: Sequence[Hit],
    *,
    note: str = "",
    quotes: bool = True,
) -> Parsed:
    """Return hits as documents of their excerpts, in order, and requests for the pages of the first five.

    Hits without a plain web address are left out and counted. quotes: whether the excerpts are the pages' own words; if
    a model wrote them they are no evidence: they stay hits, and the pages are asked for.
    """
    usable = [hit for hit in hits if _is_web_address(hit.url)]
    first = {hit.url: hit for hit in reversed(usable)}
    kept = [first[url] for url in dict.fromkeys(hit.url for hit in usable)]
    quoted = [hit for hit in kept if quotes and line(hit.snippet)]
    bare = [
        _bare(hit, rank, by_model=not quotes)
        for rank, hit in enumerate(kept, 1)
        if not quotes or not line(hit.snippet)
    ]
    notes = (note, left_out(len(hits), len(usable), "without a web address"))
    return Parsed(
        documents=tuple(_document(config, reply, hit) for hit in quoted),
        hits=tuple(bare),
        requests=tuple(page(config, adapter, hit.url) for hit in kept[:_MAX_PAGES]),
        note="; ".join(filter(None, notes)),
        total=None if hits else 0,
    )


def with_answer(parsed: Parsed, answer: str | None) -> Parsed:
    """Return what was parsed with the service's own answer, in the form it is kept in."""
    return structs.replace(parsed, answer=lines(answer)[:_MAX_SNIPPET_CHARS])


def _bare(hit: Hit, rank: int, *, by_model: bool) -> Hit:
    """Return a hit that is no evidence, in the form it is kept in."""
    return Hit(
        url=hit.url,
        title=line(hit.title)[:_MAX_TITLE_CHARS],
        snippet=lines(hit.snippet)[:_MAX_SNIPPET_CHARS],
        published=stated_date(hit.published),
        language=language(hit.language),
        rank=rank,
        by_model=by_model,
    )


def _document(config: SourceConfig, reply: Reply, hit: Hit) -> Document:
    published = stated_date(hit.published)
    title = line(hit.title)
    return make_document(
        url=hit.url,
        title=title,
        text="\n\n".join(filter(None, (title, lines(hit.snippet)[:_MAX_SNIPPET_CHARS]))),
        source_id=config.id,
        fetched_at_ms=reply.fetched_at_ms,
        facts=DocumentFacts(
            language=language(hit.language),
            published=published,
            date_kind="record" if published else "none",
            source_type=config.source_type,
            record=False,
            signals=("snippet",),
        ),
    )


def hits_of(
    source_id: str, documents: Sequence[Document], others: Sequence[Hit] = ()
) -> tuple[Hit, ...]:
    """Return what one answer names as hits, in its order: its documents, and among them what is no evidence.

    others: `Parsed.hits`, each at its rank where it has one, else behind the documents. Ranks are counted anew, from 1.
    """
    placed = {each.rank: each for each in others if each.rank}
    rest = iter([*map(hit_of, documents), *(each for each in others if not each.rank)])
    found: list[Hit] = []
    while (hit := placed.pop(len(found) + 1, None) or next(rest, None)) is not None:
        found.append(hit)
    found += [placed[rank] for rank in sorted(placed)]
    return tuple(
        structs.replace(each, source_id=source_id, rank=rank) for rank, each in enumerate(found, 1)
    )


def hit_of(document: Document) -> Hit:
    """Return a document as a hit: its text is the snippet, without the title where that stands above it."""
    return Hit(
        url=document.url,
        title=document.title,
        snippet=_untitled(document).strip(),
        published=document.published,
        language=document.language,
        doi=document.doi,
        arxiv_id=document.arxiv_id,
        authors=document.authors,
        container=document.container,
        citations=document.citations,
    )


def _untitled(document: Document) -> str:
    """Return the text without its title; a title that the first sentence begins with is part of it."""
    rest = document.text.removeprefix(document.title)
    is_heading = not rest.strip() or rest.lstrip(" ")[:1] in {"\n", ".", "。"}
    return rest.lstrip(" \n.。") if is_heading else document.text


def _is_web_address(url: str) -> bool:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    plain = len(url) <= _MAX_URL_CHARS and url.isprintable() and " " not in url
    return (
        plain
        and parts.scheme in {"http", "https"}
        and bool(parts.hostname)
        and "@" not in parts.netloc
    )
