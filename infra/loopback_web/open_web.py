"""The pages of the plain sites as a search engine sees them: what the emulated search services find."""

import re
from functools import lru_cache
from typing import Final

from msgspec import Struct

from infra.loopback_web import corpus
from infra.loopback_web.search import Index, terms

_MIN_SHARE: Final = 0.34  # of the question's words; engines do not insist on all of them
_SENTENCE = re.compile(r"(?<=[.!?])\s+")
_EXCERPT_SENTENCES: Final = 2


class Found(Struct, frozen=True, kw_only=True):
    """A page of the open web; `published` is an ISO day, empty for pages that do not say."""

    url: str
    title: str
    text: str
    published: str = ""


@lru_cache(maxsize=1)
def _pages() -> tuple[Found, ...]:
    """Return what may be found: robots.txt keeps the private pages out of every index."""
    harbour = [
        Found(url=f"http://harbour.test{page.path}", title=page.title, text=page.text)
        for page in corpus.pages("harbour")
        if not page.private and not page.path.startswith("/private/")
    ]
    news = [
        Found(
            url=f"http://news.test{story.path}",
            title=story.title,
            text=f"{story.summary}\n{story.text}",
            published=story.published[:10],
        )
        for story in corpus.stories()
    ]
    return (*harbour, *news)


@lru_cache(maxsize=1)
def _index() -> Index:
    return Index([(page.title, page.text) for page in _pages()])


def find(query: str, *, first: str = "", last: str = "") -> list[Found]:
    """Return the pages for a question, best first; a span of ISO days leaves out what has no date."""
    ranked = [_pages()[number] for number in _index().rank(query, share=_MIN_SHARE)]
    if not first and not last:
        return ranked
    return [page for page in ranked if page.published and first <= page.published <= (last or "9")]


def excerpts(page: Found, query: str) -> list[str]:
    """Return the sentences of a page that hold most of the question's words, at most two, in the order of the page."""
    sentences = [each for each in _SENTENCE.split(" ".join(page.text.split())) if each]
    wanted = set(terms(query))
    hits = [len(wanted.intersection(terms(each))) for each in sentences]
    best = sorted(range(len(sentences)), key=lambda at: (-hits[at], at))[:_EXCERPT_SENTENCES]
    return [sentences[at] for at in sorted(best)]
