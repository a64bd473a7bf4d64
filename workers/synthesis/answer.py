"""The answer as Markdown, answer first: what was found, where it stands, what disagrees, what is not verified."""

from collections.abc import Sequence

from signal_search.contracts.finding import Conflict, Finding, Uncertainty
from signal_search.contracts.result import CitedSource

from workers.synthesis.markup import escape
from workers.synthesis.wording import PLAIN_FROM, Language, language_of, say

_MAX_UNCERTAINTIES = 8


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
    first = findings[0]
    parts = [_lead(first, sources, words, confidence)]
    parts += _others(findings[1:], words)
    parts += _conflicts(conflicts, sources, words)
    parts += _unverified(uncertainties, words)
    parts.append(f"{say('confidence', words)}: {confidence:.2f}")
    return "\n\n".join(parts)


def _lead(
    finding: Finding, sources: Sequence[CitedSource], words: Language, confidence: float
) -> str:
    text = f"{escape(finding.text)} {_marks(finding.citations)}"
    if confidence < PLAIN_FROM:
        title = escape(_source(sources, finding.citations[0]).title)
        text = f"{say('according_to', words, title=title)}: {text}"
    return f"**{say('answer', words)}**: {text}"


def _others(findings: Sequence[Finding], words: Language) -> list[str]:
    lines = []
    for finding in findings:
        label = f"*{say('opposing', words)}* — " if finding.label == "opposing" else ""
        lines.append(f"- {label}{escape(finding.text)} {_marks(finding.citations)}")
    return ["\n".join(lines)] if lines else []


def _conflicts(
    conflicts: Sequence[Conflict], sources: Sequence[CitedSource], words: Language
) -> list[str]:
    numbers = {each.doc_id: each.number for each in sources}
    lines = []
    for each in conflicts:
        stronger = f"{escape(each.stronger.quote)} [{numbers.get(each.stronger.doc_id, '?')}]"
        weaker = f"{escape(each.weaker.quote)} [{numbers.get(each.weaker.doc_id, '?')}]"
        lines.append(f"- {stronger} ↔ {weaker}")
    return [f"**{say('conflict', words)}**:\n" + "\n".join(lines)] if lines else []


def _unverified(uncertainties: Sequence[Uncertainty], words: Language) -> list[str]:
    lines = [f"- {escape(each.text)}" for each in uncertainties[:_MAX_UNCERTAINTIES]]
    return [f"**{say('unverified', words)}**:\n" + "\n".join(lines)] if lines else []


def _marks(citations: Sequence[int]) -> str:
    return "".join(f"[{number}]" for number in citations)


def _source(sources: Sequence[CitedSource], number: int) -> CitedSource:
    return next(each for each in sources if each.number == number)
