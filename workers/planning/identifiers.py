"""Identifiers that a question names: they are searched exactly as written, never split into words.

Each pattern is anchored by its own scheme's form; a number that merely looks like one is left alone.
"""

import re

from msgspec import Struct

_PATTERNS: tuple[tuple[str, re.Pattern[str]], ...] = (
    # ISO 26324 leaves the suffix open; sentence punctuation and closing brackets do not end a DOI in practice.
    ("doi", re.compile(r"(?<![\w.])10\.\d{4,9}/[^\s\"'<>，。；、（）]+", re.IGNORECASE)),
    ("cve", re.compile(r"(?<![\w-])CVE-\d{4}-\d{4,7}(?!\w)", re.IGNORECASE)),
    ("rfc", re.compile(r"(?<!\w)RFC[ -]?\d{1,5}(?!\w)", re.IGNORECASE)),
    (
        "arxiv",
        re.compile(
            r"(?:(?<=arxiv:)|(?<=arxiv: )|(?<=arxiv )|(?<=abs/)|(?<=pdf/))"
            r"(?:\d{4}\.\d{4,5}|[a-z-]+(?:\.[A-Z]{2})?/\d{7})(?:v\d+)?(?!\d)",
            re.IGNORECASE,
        ),
    ),
    ("arxiv", re.compile(r"(?<![\w./])\d{2}(?:0[1-9]|1[0-2])\.\d{5}(?:v\d+)?(?![\w.]*\d)")),
    (
        "isbn",
        re.compile(
            r"(?:(?<=ISBN )|(?<=ISBN:)|(?<=ISBN))(?:97[89][- ]?)?(?:\d[- ]?){9}[\dXx](?!\d)"
        ),
    ),
    ("isbn", re.compile(r"(?<!\d)97[89][- ]?(?:\d[- ]?){9}\d(?!\d)")),
    ("patent", re.compile(r"(?<!\w)(?:US|EP|CN|WO|JP|DE|GB)[- ]?\d{6,13}[- ]?[A-C]\d?(?!\w)")),
    ("package", re.compile(r"(?<=pip install )[A-Za-z0-9][\w.-]*|(?<=npm install )[@\w][\w./-]*")),
    ("package", re.compile(r"(?<=cargo add )[\w-]+|(?<=go get )[\w./-]+|pkg:[a-z]+/[\w./@-]+")),
)
_TRAILING = ".,;:!?)]}"


class Identifier(Struct, frozen=True):
    """An identifier's scheme and its text as searched."""

    scheme: str
    value: str


def find_identifiers(text: str) -> tuple[Identifier, ...]:
    """Return the identifiers of a text in order of appearance, each once.

    Schemes: doi arxiv cve rfc isbn patent package. An ISBN counts only with a right check digit.
    """
    found: dict[Identifier, int] = {}
    taken: list[tuple[int, int]] = []
    for scheme, pattern in _PATTERNS:
        for match in pattern.finditer(text):
            if not _overlaps(match.span(), taken) and _is_valid(scheme, match[0]):
                taken.append(match.span())
                found.setdefault(Identifier(scheme, _normal(scheme, match[0])), match.start())
    return tuple(sorted(found, key=found.__getitem__))


def _overlaps(span: tuple[int, int], taken: list[tuple[int, int]]) -> bool:
    return any(span[0] < end and start < span[1] for start, end in taken)


def _is_valid(scheme: str, value: str) -> bool:
    return scheme != "isbn" or is_isbn(value)


def is_isbn(value: str) -> bool:
    """Check an ISBN-10 or ISBN-13 by its check digit (ISO 2108, annex A)."""
    digits = [10 if each in "Xx" else int(each) for each in value if each.isalnum()]
    if len(digits) == 10:
        return sum((10 - i) * each for i, each in enumerate(digits)) % 11 == 0
    if len(digits) == 13 and 10 not in digits:
        return sum(each * (3 if i % 2 else 1) for i, each in enumerate(digits)) % 10 == 0
    return False


def _normal(scheme: str, value: str) -> str:
    value = value.rstrip(_TRAILING) if scheme in {"doi", "package"} else value
    if scheme == "doi":
        return value.lower()
    if scheme in {"cve", "patent"}:
        return value.upper().replace(" ", "")
    if scheme == "rfc":
        return "RFC " + value[3:].lstrip(" -").lstrip("0")
    return value.replace("-", "").replace(" ", "") if scheme == "isbn" else value
