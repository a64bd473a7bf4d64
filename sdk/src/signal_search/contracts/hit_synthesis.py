"""What a search's hits say together: the answer first, then topics, disagreements and the text to show.

Hits are named by their position in the result, from 1.
"""

from typing import Literal

from msgspec import Struct

HitLayout = Literal["empty", "list", "topics", "overview"]
"""By the number of hits: none; at most five, one by one; six to fourteen, by topic; fifteen and more, from above."""

Certainty = Literal["stated", "attributed", "disputed"]
"""stated: several sites agree and it is not old; attributed: one site, or old; disputed: sites disagree."""


class HitStatement(Struct, frozen=True, kw_only=True):
    """A sentence that hits say, word for word, and how sure it may sound. hits: those that say it, the quoted first."""

    text: str
    hits: tuple[int, ...]
    certainty: Certainty


class HitTopic(Struct, frozen=True, kw_only=True):
    """Hits that share a word beyond the query; label: that word, "" for those that share none. Best hit first."""

    label: str
    hits: tuple[int, ...]


class HitDisagreement(Struct, frozen=True, kw_only=True):
    """Two hits of different sites whose sentences differ in one thing; kind: number, negation or antonym."""

    topic: str
    kind: str
    one: HitStatement
    other: HitStatement


class HitSynthesis(Struct, frozen=True, kw_only=True):
    """The whole. text: Markdown in `language` (zh or en), answer first; model_answer: a source's own, labelled so."""

    layout: HitLayout
    language: str
    text: str
    answer: HitStatement | None = None
    topics: tuple[HitTopic, ...] = ()
    top: tuple[int, ...] = ()
    disagreements: tuple[HitDisagreement, ...] = ()
    model_answer: str = ""
