"""Numbers in English text: digits and words, percentages, years, decades, ordinals, money."""

import re
from collections.abc import Iterator

from scoring.claims import numerals
from scoring.claims.quantity import Comparator, Kind, Quantity, measured, rounding_of

_SCALE = "hundred|thousand|million|billion|trillion|dozen|crore|lakh|bn"
_DIGITS = r"\d{1,3}(?:,\d{3})+(?:\.\d+)?|\d+(?:\.\d+)?|\.\d+"
_WORDS = "|".join([*numerals.ENGLISH, *numerals.ORDINALS])
_ENGLISH = re.compile(
    rf"(?<![A-Za-z0-9.])(?<!(?-i:[A-Z])-)(?P<money>[$€£¥])?(?P<digits>{_DIGITS})(?P<suffix>(?:st|[nr]d|th|s)\b)?"
    rf"(?P<percent>\s*%|\s*percent|\s*per cent)?(?:\s*[-–]?\s*(?P<scale>{_SCALE})\b)?"
    rf"|\b(?P<word>{_WORDS})\b(?:[- ](?P<one>one|two|three|four|five|six|seven|eight|nine)\b)?"
    rf"(?:\s+(?P<times>{_SCALE})\b)?(?P<share>\s*percent\b|\s*per cent\b)?",
    re.IGNORECASE,
)
_PREFIX = r"\s*(?:of\s*)?[$€£¥]?\s*$"
_MORE = re.compile(
    r"(?:more than|over|above|at least|exceed(?:s|ed|ing)?|greater than|higher than|after|upwards of|surpass(?:ed|ing)?"
    rf"|no (?:less|fewer) than|since|later than){_PREFIX}",
    re.IGNORECASE,
)
_LESS = re.compile(
    r"(?:less than|fewer than|under|below|at most|up to|before|no more than|lower than|earlier than|prior to)"
    + _PREFIX,
    re.IGNORECASE,
)
_ABOUT = re.compile(
    r"(?:about|around|approximately|roughly|nearly|almost|some|circa|c\.|estimated|close to)"
    + _PREFIX,
    re.IGNORECASE,
)
_NEXT_WORD = re.compile(r"[\s-]*([A-Za-z]+)")
_LAST_WORD = re.compile(r"([A-Za-z]+)\.?\s*$")


def english_quantities(text: str) -> Iterator[Quantity]:
    """Yield the numbers of an English sentence in order."""
    for match in _ENGLISH.finditer(text):
        found = _from_digits(text, match) if match["digits"] else _from_words(text, match)
        if found is not None:
            yield found


def _from_digits(text: str, match: "re.Match[str]") -> Quantity:
    raw, scale = (
        match["digits"].replace(",", ""),
        numerals.SCALES.get((match["scale"] or "").lower(), 1.0),
    )
    value = float(raw) * scale
    unit = (
        "$€£¥"["$€£¥".index(match["money"])] if match["money"] else _unit_after(text, match.end())
    )
    kind = _digit_kind(text, match, value)
    return measured(
        value, kind, unit, _comparator(text, match.start()), rounding_of(raw, scale), match.start()
    )


def _digit_kind(text: str, match: "re.Match[str]", value: float) -> Kind:
    suffix = (match["suffix"] or "").lower()
    if match["percent"]:
        return Kind.PERCENT
    if value <= 31 and _beside_month(text, match):
        return Kind.DAY
    if suffix not in {"", "s"}:
        return Kind.ORDINAL
    bare = match["digits"].isdigit() and not match["scale"] and not match["money"]
    if bare and 1000 <= value <= 2100:
        return Kind.DECADE if suffix == "s" else Kind.YEAR
    return Kind.NUMBER


def _beside_month(text: str, match: "re.Match[str]") -> bool:
    before = _LAST_WORD.search(text[max(0, match.start() - 12) : match.start()])
    after = _unit_after(text, match.end()).removeprefix("of ")
    return after in numerals.MONTHS or bool(before and before[1].lower() in numerals.MONTHS)


def _from_words(text: str, match: "re.Match[str]") -> Quantity | None:
    word, times = match["word"].lower(), match["times"]
    if word in {"one", "second"} and not times and not match["one"]:
        return None  # "no one", "a second": seldom a count
    if word in numerals.ORDINALS:
        return Quantity(float(numerals.ORDINALS[word]), Kind.ORDINAL, at=match.start())
    scale = numerals.SCALES[times.lower()] if times else 1.0
    value = (numerals.ENGLISH[word] + numerals.ENGLISH.get((match["one"] or "").lower(), 0)) * scale
    kind = Kind.PERCENT if match["share"] else Kind.NUMBER
    return measured(
        value,
        kind,
        _unit_after(text, match.end()),
        _comparator(text, match.start()),
        0.0,
        match.start(),
    )


def _unit_after(text: str, at: int) -> str:
    found = _NEXT_WORD.match(text, at, at + 20)
    return found[1].lower() if found else ""


def _comparator(text: str, at: int) -> Comparator:
    before = text[max(0, at - 20) : at]
    for pattern, meaning in (
        (_MORE, Comparator.MORE),
        (_LESS, Comparator.LESS),
        (_ABOUT, Comparator.ABOUT),
    ):
        if pattern.search(before):
            return meaning
    return Comparator.EXACT
