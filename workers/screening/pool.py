"""What was collected: sources by address, and each of them beside every target. Only grows; texts may get better."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from msgspec.structs import replace
from signal_search.contracts.adaptive_plan import Target

from scoring.screening.judgement import Judgement
from scoring.screening.url_key import url_key
from workers.screening.actions import Row
from workers.screening.texts import (
    LEAST_WORDS,
    RANKS,
    count_words,
    excerpt_of,
    snippet_of,
    version_of,
)


@dataclass
class Source:
    """One address: as it was first seen, its title and date when they were first known, its best place in a fusion."""

    number: int
    key: str
    url: str
    title: str = ""
    published: str = ""
    score: float = 0.0
    content: str = ""


@dataclass
class Association:
    """A source for a target. judgement: of the current version of the text and date, None where there is none.

    attempts: how often each (version, date) was asked; round: in which it was asked last.
    """

    number: int
    target: Target
    source: Source
    text: str = ""
    basis: str = ""
    version: str = ""
    judgement: Judgement | None = None
    attempts: dict[tuple[str, str], int] = field(default_factory=dict)
    round: int = 0

    @property
    def id(self) -> str:
        """Return its name in a judge's questions."""
        return f"e{self.number}"

    @property
    def attempt(self) -> tuple[str, str]:
        """Return what an attempt to judge it is counted for."""
        return self.version, self.source.published

    def offer_text(self, text: str, basis: str) -> None:
        """Take a text that shows more; what was judged of the old one is void."""
        rank, words = RANKS[basis], count_words(text)
        own = RANKS[self.basis]
        is_better = rank > own or (rank == own and words > count_words(self.text))
        if words < LEAST_WORDS or not is_better or text == self.text:
            return
        self.text, self.basis, self.judgement = text, basis, None
        self.version = version_of(text, basis)

    def take(self, said: Judgement) -> None:
        """Take a review of the current text; what an earlier one knew and this one does not say stays known."""
        old = self.judgement
        self.judgement = said if old is None else _merged(old, said)


def _merged(old: Judgement, new: Judgement) -> Judgement:
    names = ("relevance", "reading_value", "injection", "direction_match", "time_match")
    kept = {name: getattr(old, name) for name in names if getattr(new, name) is None}
    return replace(
        new,
        **kept,
        keywords={**old.keywords, **_known(new.keywords)},
        topics={**old.topics, **_known(new.topics)},
    )


def _known(matches: dict[str, float | None]) -> dict[str, float | None]:
    return {name: match for name, match in matches.items() if match is not None}


class Pool:
    """Sources by their key, and associations by number; `most` bounds all sources of a job."""

    def __init__(self, targets: Sequence[Target], most: int) -> None:
        """Begin with nothing."""
        self._targets = targets
        self._most = most
        self._sources: dict[str, Source] = {}
        self._by_source: dict[int, list[Association]] = {}
        self._by_target: dict[str, list[Association]] = {each.id: [] for each in targets}
        self.associations: list[Association] = []
        self.is_full = False

    @property
    def size(self) -> int:
        """Return how many sources there are."""
        return len(self._sources)

    def of(self, target: Target) -> Iterator[Association]:
        """Yield a target's associations in the order of their creation."""
        return iter(self._by_target[target.id])

    def add(self, rows: Sequence[Row], round_keys: set[str], limit: int) -> None:
        """Take the rows of a search, as long as the round's addresses are within `limit`."""
        for row in rows:
            key = url_key(row.url)
            if not key or (key not in round_keys and len(round_keys) >= limit):
                continue
            if key not in self._sources and len(self._sources) >= self._most:
                self.is_full = True
                continue
            round_keys.add(key)
            self._take(row, key)

    def _take(self, row: Row, key: str) -> None:
        source = self._sources.get(key)
        if source is None:
            source = self._sources[key] = Source(len(self._sources) + 1, key, row.url)
            self._attach(source)
        source.title = source.title or row.title
        source.score = max(source.score, row.score)
        if len(row.content) > len(source.content):
            source.content = row.content
        if row.published and not source.published:
            self._date(source, row.published)
        self._texts(source, row)

    def _attach(self, source: Source) -> None:
        """Put a new source beside every target: what one found may serve another."""
        made = [
            Association(len(self.associations) + at, target, source)
            for at, target in enumerate(self._targets, 1)
        ]
        self.associations += made
        self._by_source[source.number] = made
        for each in made:
            self._by_target[each.target.id].append(each)

    def _date(self, source: Source, published: str) -> None:
        source.published = published
        for each in self._by_source[source.number]:
            if each.target.window is not None:
                each.judgement = None

    def _texts(self, source: Source, row: Row) -> None:
        snippet = snippet_of(row.snippet)
        for each in self._by_source[source.number]:
            if snippet:
                each.offer_text(snippet, "snippet")
            if row.content and row.content == source.content:
                each.offer_text(excerpt_of(source.content, each.target), "engine_content")
