"""Number words: what English and Chinese numerals are worth."""

from scoring.claims.roots import root

_ONES = (
    "zero one two three four five six seven eight nine ten eleven twelve thirteen fourteen fifteen"
)
_TEENS = "sixteen seventeen eighteen nineteen"
_TENS = "twenty thirty forty fifty sixty seventy eighty ninety"
_ORDINALS = "first second third fourth fifth sixth seventh eighth ninth tenth eleventh twelfth"
_MONTHS = "january february march april may june july august september october november december"

ENGLISH = {
    **{word: value for value, word in enumerate(f"{_ONES} {_TEENS}".split())},
    **{word: 20 + 10 * place for place, word in enumerate(_TENS.split())},
}
ORDINALS = {word: place for place, word in enumerate(_ORDINALS.split(), 1)}
MONTHS = {word: place for place, word in enumerate(_MONTHS.split(), 1)}
SCALES = {
    "hundred": 1e2,
    "thousand": 1e3,
    "million": 1e6,
    "billion": 1e9,
    "trillion": 1e12,
    "dozen": 12.0,
    "crore": 1e7,
    "lakh": 1e5,
    "bn": 1e9,
}
CHINESE_SCALES = {"百": 1e2, "千": 1e3, "万": 1e4, "亿": 1e8, "万亿": 1e12}

_DIGITS = {each: place for place, each in enumerate("零一二三四五六七八九")} | {"〇": 0, "两": 2}
_SMALL = {"十": 10, "百": 100, "千": 1000}
_LARGE = {"万": 10**4, "亿": 10**8}

KEYS = (
    frozenset(root(word) for word in (*ENGLISH, *ORDINALS, *SCALES))
    | _DIGITS.keys()
    | _SMALL.keys()
    | _LARGE.keys()
)


def chinese_value(numeral: str) -> int:
    """Return the value of a Chinese numeral: positional (一九九〇) or named (三万五千); it must hold nothing else."""
    if all(each in _DIGITS for each in numeral):
        return int("".join(str(_DIGITS[each]) for each in numeral))
    total = section = digit = 0
    for each in numeral:
        if each in _DIGITS:
            digit = _DIGITS[each]
        elif each in _SMALL:
            section, digit = section + (digit or 1) * _SMALL[each], 0
        else:
            total, section, digit = (total + section + digit) * _LARGE[each], 0, 0
    return total + section + digit
