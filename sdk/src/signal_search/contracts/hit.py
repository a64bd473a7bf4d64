"""One line of a source's answer, and what becomes of it: a hit, merged with its copies, then scored.

A hit is what a search shows; evidence is a document. A hit may rest on a model's words (`by_model`), evidence may not.
"""

from msgspec import Struct

from signal_search.contracts.document import Author


class Hit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One line of a source's answer.

    published: the date as the source wrote it, "" for none. rank: place in that answer, from 1; 0: not known yet.
    by_model: title and snippet are a model's words, not the page's. citations: as the source counts them.
    """

    url: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    language: str = ""
    source_id: str = ""
    rank: int = 0
    by_model: bool = False
    doi: str = ""
    arxiv_id: str = ""
    authors: tuple[Author, ...] = ()
    container: str = ""
    citations: int | None = None


class MergedHit(Struct, frozen=True, kw_only=True):
    """All hits of one page or work as one.

    url: as the first one wrote it; title, snippet and authors: the best of all. published: ISO year, month or day of
    the earliest date that could be read, "" for none. source_ids: every source that named it, in the order of the
    request.
    """

    key: str
    url: str
    title: str = ""
    snippet: str = ""
    published: str = ""
    language: str = ""
    source_ids: tuple[str, ...] = ()
    rank: int = 0
    by_model: bool = False
    doi: str = ""
    arxiv_id: str = ""
    authors: tuple[Author, ...] = ()
    container: str = ""
    citations: int | None = None


class HitWeights(Struct, frozen=True, kw_only=True):
    """What the three parts of a hit's score count for, each 0..1, together 1."""

    keyword: float
    freshness: float
    authority: float


class HitScore(Struct, frozen=True, kw_only=True):
    """The score of a hit and its parts, each 0..1; four decimals. reasons: one short sentence per part, by its name."""

    score: float
    keyword: float
    freshness: float
    authority: float
    reasons: dict[str, str] = {}


class RankedHit(Struct, frozen=True, kw_only=True):
    """A merged hit and its score by intent; None where nothing was to be scored so.

    order_score: what else ordered it, a formula or a caller's program: any finite number.
    """

    hit: MergedHit
    score: HitScore | None = None
    order_score: float | None = None

    @property
    def shown_score(self) -> float | None:
        """Return the score that its place rests on; None where it has none."""
        return self.order_score if self.score is None else self.score.score
