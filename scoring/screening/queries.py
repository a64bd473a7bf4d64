"""The texts that may be searched for a target. The caller's intent is never in them: it is for the judge alone."""

import re
from collections.abc import Sequence
from typing import Final

from scoring.screening.dates import Window, iso_dates

DEPTHS: Final = ("medium", "complex")
"""How deep a query is searched, one after the other."""

_ISO_DATE = re.compile(r"(?<![0-9])[0-9]{4}-[0-9]{2}-[0-9]{2}(?![0-9])")
_DOTTED = re.compile(
    r"(?<![0-9.])(?:(?<![a-z])v)?([0-9]+(?:\.[0-9]+)+)(?![0-9])", re.ASCII | re.IGNORECASE
)
_YEAR = re.compile(r"(?<![0-9.])((?:19|20)[0-9]{2})(?![0-9.])")
_PRODUCTS = (
    "android|angular|chrome|debian|django|docker|dotnet|fedora|firefox|go|gpt|ios|java|kotlin|kubernetes|laravel|llama"
    "|macos|mysql|node|nodejs|php|postgres|postgresql|python|rails|react|redis|release|ruby|rust|safari|spring|swift"
    "|typescript|ubuntu|version|vue|windows|版本"
)
_NUMBERED = re.compile(
    rf"(?<![a-z0-9.])(?:{_PRODUCTS})\s*v?([0-9]+)(?![0-9]|\.[0-9])", re.ASCII | re.IGNORECASE
)
_LEAST_CHARS = 2


def explicit_tokens(text: str) -> list[str]:
    """Return what a query must not lose: dotted versions without their v, years, numbers of known products."""
    without_dates = _ISO_DATE.sub(" ", text)
    found = [token for each in (_DOTTED, _YEAR, _NUMBERED) for token in each.findall(without_dates)]
    return [each for each in dict.fromkeys(found) if len(each) >= _LEAST_CHARS]


def candidate_queries(
    *,
    text: str,
    context: str,
    acceptance: str,
    keywords: Sequence[str],
    facts: Sequence[str],
    window: Window | None,
) -> list[str]:
    """Return the queries of a target, best first: one for each keyword, then the question itself.

    text: context and question; acceptance: the question of a task's target, "" without one. keywords: those that are
    still open. facts: the questions of the caller's topics.
    """
    anchor = context or text
    asked = [f"{anchor} {each}" for each in keywords] or [text]
    goal = acceptance or text
    if goal != anchor:
        asked.append(f"{anchor} {goal}")
    required = _required("\n".join((text, *facts)), window)
    return list(dict.fromkeys(_with(" ".join(each.split()), required) for each in asked))


def _required(text: str, window: Window | None) -> list[str]:
    days = [window.start, window.end] if window is not None else []
    return list(dict.fromkeys([*iso_dates(text), *explicit_tokens(text), *days]))


def _with(query: str, required: Sequence[str]) -> str:
    for token in required:
        if token not in query:
            query = f"{query} {token}"
    return query
