"""What can be wrong with an answer, checked without the product's own judgement: against the files it was drawn from.

Pages are read with lxml here and not with the product's extraction; letters are compared without white space.
"""

import re
from collections.abc import Callable, Mapping, Sequence
from urllib.parse import urlsplit

from signal_search.contracts.finding import Claim, Verdict
from signal_search.contracts.result import Result

PageText = Callable[[str], str]
"""The whole text of a page without white space, by its address; "" when there is no such page."""

_BLANK = re.compile(r"\s+")
_NUMBER = re.compile(r"\d+(?:[.,]\d+)*")
_WORD = re.compile(r"[A-Za-z]{4,}|[\u4e00-\u9fff]")
# A statement is drawn from its page word by word, less the words that make a clause a sentence of its own.
_SHARE_OF_WORDS = 0.8


def fabricated_citations(result: Result, requested: frozenset[str], page: PageText) -> list[str]:
    """Return what a citation claims and is not so.

    A number without a source, a source that no finding cites, an address that was not requested or has no page, a DOI
    that is not on its page.
    """
    cited = {number for finding in result.findings for number in finding.citations}
    known = {each.number for each in result.sources}
    wrong = [f"[{number}] has no source" for number in sorted(cited - known)]
    wrong += [f"[{number}] is not cited" for number in sorted(known - cited)]
    for each in result.sources:
        if urlsplit(each.url).path not in requested or not page(each.url):
            wrong.append(f"{each.url} was not fetched")
        elif each.doi and each.doi.lower() not in page(each.url).lower():
            wrong.append(f"{each.url} does not have {each.doi}")
    marks = {int(each) for each in re.findall(r"(?<!\\)\[(\d+)\]", result.answer)}
    wrong += [f"the answer names [{number}]" for number in sorted(marks - known)]
    return wrong


def false_quotes(result: Result, page: PageText) -> list[str]:
    """Return the quotes that do not stand in the page they name."""
    spans = [
        span
        for finding in result.findings
        for claim in finding.claims
        for span in (*claim.supporting, *claim.contradicting)
    ]
    spans += [span for each in result.conflicts for span in (each.stronger, each.weaker)]
    return [span.quote for span in spans if plain(span.quote) not in page(span.url)]


def unsupported_claims(result: Result, page: PageText) -> list[str]:
    """Return the claims that are shown as supported and are not.

    Those called TRUE that their quotes do not carry, and those not called TRUE that no list names as open.
    """
    claims = [claim for finding in result.findings for claim in finding.claims]
    named = {each.text for each in result.uncertainties}
    wrong = [
        each.text for each in claims if each.verdict is Verdict.TRUE and not _stands(each, page)
    ]
    return wrong + [
        each.text for each in claims if each.verdict is Verdict.UNCERTAIN and each.text not in named
    ]


def _stands(claim: Claim, page: PageText) -> bool:
    quotes = [span for span in claim.supporting if plain(span.quote) in page(span.url)]
    if not quotes:
        return False
    said = " ".join(span.quote for span in quotes)
    words = set(_WORD.findall(claim.text.lower()))
    held = words & set(_WORD.findall(said.lower()))
    numbers = set(_NUMBER.findall(claim.text))
    is_carried = not words or len(held) >= _SHARE_OF_WORDS * len(words)
    return is_carried and numbers <= set(_NUMBER.findall(said))


def plain(text: str) -> str:
    """Return a text without white space."""
    return _BLANK.sub("", text)


def totals(rows: Sequence[Mapping[str, object]]) -> dict[str, object]:
    """Add up the figures of the questions: numbers are summed, lists counted."""
    names = [name for name in rows[0] if name != "question"] if rows else []
    return {"n": len(rows)} | {name: sum(_amount(row[name]) for row in rows) for name in names}


def _amount(value: object) -> float:
    return len(value) if isinstance(value, list) else float(value)  # type: ignore[arg-type]
