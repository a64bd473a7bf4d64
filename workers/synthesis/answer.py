"""The answer as Markdown, answer first: what was found, where it stands, what disagrees, what is not verified.

How sure it sounds follows how sure it is: several sources and high confidence are stated plainly, a single source or an
old one is named with its year, and where sources disagree both sides follow at once, the weaker one labelled.
"""

from collections.abc import Iterable, Sequence

from signal_search.contracts.finding import Conflict, Finding, Uncertainty
from signal_search.contracts.result import CitedSource

from workers.synthesis.markup import escape
from workers.synthesis.wording import PLAIN_FROM, Language, language_of, say

_MAX_UNCERTAINTIES = 8
_LABELS = {"opposing": "opposing", "other_time": "other_time"}


def write_answer(
    findings: Sequence[Finding],
    conflicts: Sequence[Conflict],
    uncertainties: Sequence[Uncertainty],
    sources: Sequence[CitedSource],
    *,
    language: str,
    confidence: float,
) -> str:
    """Return the answer; '' when there is no evidence: empty is empty, never text.

    Quotes are escaped, so that a page cannot put markup or links into an answer.
    """
    if not findings:
        return ""
    words = language_of(language)
    first, rest = findings[0], findings[1:]
    disputed = [each for each in conflicts if _concerns(each, first)]
    others = [each for each in conflicts if each not in disputed]
    parts = [
        _lead(first, sources, words, confidence),
        *_conflicts(disputed, sources, words),
        *_others(rest, first, words),
        *_conflicts(others, sources, words),
        *_retracted(sources, words),
        *_unverified(uncertainties, words),
        f"{say('confidence', words)}: {confidence:.2f}",
    ]
    return "\n\n".join(parts)


def _lead(
    finding: Finding, sources: Sequence[CitedSource], words: Language, confidence: float
) -> str:
    text = f"{escape(finding.text)} {_marks(finding.citations)}"
    if confidence < PLAIN_FROM or len(finding.citations) == 1:
        said_by = say("according_to", words, title=_named(finding, sources, words))
        text = f"{said_by}: {text}" if words == "en" else f"{said_by}：{text}"
    label = _label(finding, words) if finding.label == "other_time" else ""
    return f"**{say('answer', words)}**: {label}{text}"


def _named(finding: Finding, sources: Sequence[CitedSource], words: Language) -> str:
    """Return the source's title with its year, where that is known: the reader sees how old it is."""
    source = next(each for each in sources if each.number == finding.citations[0])
    title, year = escape(source.title), source.published[:4]
    return (
        say("dated", words, title=title, year=year) if year else say("titled", words, title=title)
    )


def _others(findings: Sequence[Finding], first: Finding, words: Language) -> list[str]:
    """Return the other findings: below their sub-questions when there are several of these."""
    if not findings:
        return []
    by_question: dict[str, list[Finding]] = {}
    for each in findings:
        by_question.setdefault(each.question_id, []).append(each)
    if set(by_question) == {first.question_id}:
        return ["\n".join(_line(each, words) for each in findings)]
    lines = [f"**{say('by_question', words)}**:"]
    for members in by_question.values():
        lines.append(f"- {escape(members[0].question)}")
        lines += [f"  {_line(each, words)}" for each in members]
    return ["\n".join(lines)]


def _line(finding: Finding, words: Language) -> str:
    return f"- {_label(finding, words)}{escape(finding.text)} {_marks(finding.citations)}"


def _label(finding: Finding, words: Language) -> str:
    """Return what the reader has to know of a finding: that it is the weaker side, or of another time than asked."""
    key = _LABELS.get(finding.label)
    return f"*{say(key, words)}* — " if key else ""


def _concerns(conflict: Conflict, finding: Finding) -> bool:
    sides = (conflict.stronger.quote.strip(), conflict.weaker.quote.strip())
    return any(each and each in finding.text for each in sides)


def _conflicts(
    conflicts: Sequence[Conflict], sources: Sequence[CitedSource], words: Language
) -> list[str]:
    """Return both sides of each conflict, the heavier first; what weighs less says so, sides of one weight do not."""
    numbers = {each.doc_id: each.number for each in sources}
    lines = []
    for each in conflicts:
        stronger = f"{escape(each.stronger.quote)} [{numbers.get(each.stronger.doc_id, '?')}]"
        weaker = f"{escape(each.weaker.quote)} [{numbers.get(each.weaker.doc_id, '?')}]"
        is_weaker = each.weaker_weight < each.stronger_weight
        label = f"*{say('opposing', words)}* — " if is_weaker else ""
        lines.append(f"- {stronger} ↔ {label}{weaker}")
    return [_listed("conflict", lines, words)] if lines else []


def _retracted(sources: Sequence[CitedSource], words: Language) -> list[str]:
    lines = [f"- {escape(each.title)} [{each.number}]" for each in sources if each.retracted]
    return [_listed("retracted", lines, words)] if lines else []


def _unverified(uncertainties: Sequence[Uncertainty], words: Language) -> list[str]:
    lines = [f"- {escape(each.text)}" for each in uncertainties[:_MAX_UNCERTAINTIES]]
    return [_listed("unverified", lines, words)] if lines else []


def _listed(heading: str, lines: Iterable[str], words: Language) -> str:
    return f"**{say(heading, words)}**:\n" + "\n".join(lines)


def _marks(citations: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in citations)
