"""A search's hits as Markdown, answer first, Chinese or English: one by one, by topic, or from above.

The numbers in brackets are positions in the result. Everything that came from the web is escaped.
"""

from collections.abc import Sequence

from signal_search.contracts.hit import RankedHit
from signal_search.contracts.hit_synthesis import (
    HitDisagreement,
    HitStatement,
    HitSynthesis,
    HitTopic,
)

from scoring.identity import site_of
from workers.synthesis.markup import escape, link
from workers.synthesis.wording import Language, language_of, say

_SNIPPET_CHARS = 200
_MOST_NAMED = 3  # topics, where they are named in a sentence


def hits_as_text(synthesis: HitSynthesis, hits: Sequence[RankedHit]) -> str:
    """Return the text of a synthesis whose parts are known; "" when there is no hit: empty is empty, never text."""
    if synthesis.layout == "empty":
        return ""
    words = language_of(synthesis.language)
    parts = _lead(synthesis, hits, words)
    if synthesis.layout == "list":
        parts += [_listed(hits, range(1, len(hits) + 1), words, numbered=True)]
    elif synthesis.layout == "topics":
        parts += [_topic(each, hits, words) for each in synthesis.topics]
    else:
        parts += _overview(synthesis, hits, words)
    return "\n\n".join(each for each in parts if each)


# --- the answer -------------------------------------------------------------------------------------------------------


def _lead(synthesis: HitSynthesis, hits: Sequence[RankedHit], words: Language) -> list[str]:
    own = synthesis.model_answer
    told = [each for each in synthesis.disagreements if not _is_answer(each, synthesis.answer)]
    lines = [f"- {_sides(each, hits, words)}" for each in told]
    return [
        _answer(synthesis, hits, words),
        f"**{say('model_answer', words)}**: {escape(own)}" if own else "",
        f"**{say('conflict', words)}**:\n" + "\n".join(lines) if lines else "",
    ]


def _answer(synthesis: HitSynthesis, hits: Sequence[RankedHit], words: Language) -> str:
    answer = synthesis.answer
    if answer is None:
        return ""
    disputed = next((d for d in synthesis.disagreements if _is_answer(d, answer)), None)
    said = f"{escape(answer.text)} {_marks(answer.hits)}"
    if disputed is not None:
        said = _sides(disputed, hits, words)
    elif answer.certainty != "stated":
        said = say("said_by", words, site=_site(answer, hits), text=said)
    return f"**{say('answer', words)}**: {said}"


def _is_answer(disagreement: HitDisagreement, answer: HitStatement | None) -> bool:
    sides = {disagreement.one.text.strip(), disagreement.other.text.strip()}
    return answer is not None and answer.text in sides


def _sides(disagreement: HitDisagreement, hits: Sequence[RankedHit], words: Language) -> str:
    sides = (
        say("side", words, site=_site(each, hits), text=escape(each.text), marks=_marks(each.hits))
        for each in (disagreement.one, disagreement.other)
    )
    return say("sides", words, sides=say("between_sides", words).join(sides))


def _site(statement: HitStatement, hits: Sequence[RankedHit]) -> str:
    hit = hits[statement.hits[0] - 1].hit
    return escape(site_of(hit.url) or hit.key)


def _marks(positions: Sequence[int]) -> str:
    return "".join(f"[{each}]" for each in positions)


# --- the hits ---------------------------------------------------------------------------------------------------------


def _overview(synthesis: HitSynthesis, hits: Sequence[RankedHit], words: Language) -> list[str]:
    named = [each for each in synthesis.topics if each.label][:_MOST_NAMED]
    labels = [say("topic", words, label=escape(t.label), count=str(len(t.hits))) for t in named]
    between = say("between_topics", words)
    offer = say("deeper", words, topics=between.join(escape(each.label) for each in named))
    sources = dict.fromkeys(source for each in hits for source in each.hit.source_ids)
    covered = say("covered", words, count=str(len(hits)), sources=between.join(sources))
    return [
        say("mostly", words, topics=between.join(labels)) if named else "",
        f"**{say('top', words, count=str(len(synthesis.top)))}**:\n"
        + _listed(hits, synthesis.top, words, numbered=True),
        f"{covered} {offer if named else say('deeper_plain', words)}",
    ]


def _topic(topic: HitTopic, hits: Sequence[RankedHit], words: Language) -> str:
    label = escape(topic.label) or say("other_topics", words)
    heading = say("topic", words, label=label, count=str(len(topic.hits)))
    return f"**{heading}**\n" + _listed(hits, topic.hits, words, numbered=False)


def _listed(
    hits: Sequence[RankedHit], positions: Sequence[int], words: Language, *, numbered: bool
) -> str:
    return "\n".join(
        f"{f'{at}.' if numbered else '-'} {_line(hits[at - 1], words)}" for at in positions
    )


def _line(ranked: RankedHit, words: Language) -> str:
    hit = ranked.hit
    snippet = " ".join(hit.snippet.split())
    cut = snippet if len(snippet) <= _SNIPPET_CHARS else f"{snippet[:_SNIPPET_CHARS].rstrip()}…"
    parts = [link(hit.title, hit.url)]
    parts += [f"— {escape(cut)}"] if cut else []
    parts += [f"({say('by_model', words)})"] if hit.by_model else []
    parts += [f"`[{', '.join(hit.source_ids)}]`"] if hit.source_ids else []
    parts += [f"⭐{ranked.shown_score:.2f}"] if ranked.shown_score is not None else []
    return " ".join(parts)
