"""What the adaptive loop asks of the world, and what comes back. The loop itself touches nothing."""

from msgspec import Struct
from signal_search.contracts.judging import Judgements, JudgeRequest


class Begin(Struct, frozen=True, kw_only=True):
    """A round begins: the moment to look at the clock. Nothing comes back."""

    round: int


class Search(Struct, frozen=True, kw_only=True):
    """One query to several sources, fused. Never repeated for a source; quota: rows wanted, most: rows ever taken."""

    id: str
    target: str
    query: str
    depth: str
    sources: tuple[str, ...]
    quota: int
    most: int
    recency: str = ""


class Searches(Struct, frozen=True, kw_only=True):
    """The searches of a round, all at once. Comes back: a `Found` for each, in this order."""

    searches: tuple[Search, ...]


class Judge(Struct, frozen=True, kw_only=True):
    """One logical request, reserved already; tokens: its estimated input. Comes back: `Judgements`."""

    number: int
    request: JudgeRequest
    tokens: int


class Row(Struct, frozen=True, kw_only=True):
    """A line of a fused answer. content: a longer text that the source gave with it. score: of the fusion."""

    url: str
    title: str = ""
    snippet: str = ""
    content: str = ""
    published: str = ""
    score: float = 0.0


class SourceStats(Struct, frozen=True, kw_only=True):
    """How often a source was asked for one search, and what came of it. An answer from the cache is no attempt."""

    attempts: int = 1
    successes: int = 1
    errors: int = 0


class Found(Struct, frozen=True, kw_only=True):
    """What a search brought. error: the code of why it brought nothing at all."""

    rows: tuple[Row, ...] = ()
    stats: dict[str, SourceStats] = {}
    error: str = ""


Action = Begin | Searches | Judge
Reply = tuple[Found, ...] | Judgements | None


class Remark(Struct, frozen=True, kw_only=True):
    """A warning: its kind, and a sentence for the reader."""

    kind: str
    text: str
