"""Citation keys: ASCII, unique within a result, and the same at every export of it.

A key is family name (or site), year and first word of the title. Where these have no ASCII letters, as in most
Chinese titles, six hex digits of the work's identity stand in: two works by one family must not share a key.
"""

import re
import unicodedata
from collections import Counter
from collections.abc import Sequence
from hashlib import blake2b

from signal_search.citations.names import authors_of, split_particle
from signal_search.citations.works import date_parts, doi_of
from signal_search.contracts.result import CitedSource

_WORD = re.compile(r"[A-Za-z0-9]+")
_SKIPPED = frozenset(
    {"a", "an", "and", "for", "from", "how", "in", "is", "of", "on", "the", "to", "what", "why"}
)
_LONGEST_WORD = 20


def citation_keys(sources: Sequence[CitedSource]) -> tuple[str, ...]:
    """Return one key per source, in order; equal ones get a, b, c ... in that order."""
    stems = [_stem(source) for source in sources]
    total = Counter(stems)
    taken = {stem for stem, count in total.items() if count == 1}
    seen: Counter[str] = Counter()
    return tuple(_unique(stem, total, taken, seen) for stem in stems)


def _unique(stem: str, total: Counter[str], taken: set[str], seen: Counter[str]) -> str:
    if total[stem] == 1:
        return stem
    while True:
        key = stem + _letters(seen[stem])
        seen[stem] += 1
        if key not in taken:
            taken.add(key)
            return key


def _letters(index: int) -> str:
    """Return a ... z, aa, ab ... for 0, 1, 2 ..."""
    letters = ""
    while index >= 0:
        index, digit = divmod(index, 26)
        letters = chr(ord("a") + digit) + letters
        index -= 1
    return letters


def _stem(source: CitedSource) -> str:
    year = "".join(str(part) for part in date_parts(source.published)[:1])
    word = _title_word(source.title) or _identity(source)
    return f"{_author_word(source) or _site_word(source)}{year}{word}"


def _author_word(source: CitedSource) -> str:
    for author in authors_of(source.authors)[:1]:
        _, family = split_particle(author.family or author.literal or author.given)
        return "".join(_words(family))[:_LONGEST_WORD]
    return ""


def _site_word(source: CitedSource) -> str:
    return next(iter(_words(source.site.removeprefix("www."))), "source")


def _title_word(title: str) -> str:
    # A word of one letter, or one out of a Chinese title, would say nothing about the work.
    if sum(not each.isascii() for each in title) * 2 > len(title):
        return ""
    fitting = (word for word in _words(title) if len(word) > 1 and word not in _SKIPPED)
    return next(fitting, "")[:_LONGEST_WORD]


def _identity(source: CitedSource) -> str:
    identity = doi_of(source) or source.url or source.title
    return blake2b(identity.encode("utf-8", "replace"), digest_size=3).hexdigest()


def _words(text: str) -> list[str]:
    plain = unicodedata.normalize("NFKD", text).encode("ascii", "ignore").decode()
    return [word.lower() for word in _WORD.findall(plain)]
