"""Where personal data and secrets stand in a text: patterns, each confirmed by its checksum or its surroundings.

Python's idea of a word character includes Chinese, so every class here is spelled out. Numbers inside DOIs, arXiv
ids, ISBNs, ORCIDs, PMIDs and CVEs are left alone; e-mail addresses and secrets are found everywhere. Names and postal
addresses are out of scope: without a language model they cannot be told from other words.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple

import phonenumbers
from stdnum import iban, luhn

from workers.fetching.url_guard import is_public

Kind = Literal["EMAIL", "PHONE", "CN_ID", "CARD", "IBAN", "SSN", "IP", "SECRET"]


class Finding(NamedTuple):
    """A span of characters and what it holds."""

    start: int
    end: int
    kind: Kind


SECRET = re.compile(
    r"""
    (?<![A-Za-z0-9])(?:
        (?:AKIA|ASIA)[0-9A-Z]{16}                                  # cloud access keys
      | gh[pousr]_[A-Za-z0-9]{36,255} | github_pat_[A-Za-z0-9_]{22,255}
      | glpat-[A-Za-z0-9_-]{20,255} | xox[abeoprs]-[A-Za-z0-9-]{10,255}
      | AIza[0-9A-Za-z_-]{35} | ya29\.[0-9A-Za-z_-]{20,255}
      | sk-(?:proj-|ant-[a-z0-9]+-)?[A-Za-z0-9_-]{20,255} | [rs]k_(?:live|test)_[0-9a-zA-Z]{16,255}
      | SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,64} | npm_[A-Za-z0-9]{36} | pypi-[A-Za-z0-9_-]{50,255}
      | hf_[A-Za-z0-9]{30,255} | dop_v1_[a-f0-9]{64}
      | eyJ[A-Za-z0-9_-]{10,4096}\.eyJ[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{10,4096}   # JSON web tokens
    )(?![A-Za-z0-9])
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN (?:[A-Z]{2,10} )?PRIVATE KEY(?: BLOCK)?-----[\s\S]{0,8000}?"
    r"-----END (?:[A-Z]{2,10} )?PRIVATE KEY(?: BLOCK)?-----"
)
_CREDENTIALS = re.compile(r"(?<=://)[^\s/?#@\[\]:]{1,128}:[^\s/?#@\[\]]{1,128}(?=@)")
_CONFIDENTIAL = (
    "access_token|refresh_token|id_token|auth_token|token|api_?key|client_secret|secret|password|passwd|pwd"
    "|authorization|auth|jwt|session_?id|jsessionid|phpsessid|sid|sig|signature|x-amz-signature|x-amz-credential"
    "|x-amz-security-token|x-goog-signature"
)
QUERY_SECRET = re.compile(
    rf"(?<=[?&;])({_CONFIDENTIAL})=(?!REDACTED)([^&#\s\[\]]{{4,4096}})", re.IGNORECASE
)
EMAIL = re.compile(
    r"(?<![A-Za-z0-9_.+-])[A-Za-z0-9][A-Za-z0-9._%+'-]{0,63}@"
    r"(?:[A-Za-z0-9](?:[A-Za-z0-9-]{0,61}[A-Za-z0-9])?\.){1,8}[A-Za-z]{2,24}(?![A-Za-z0-9_-])"
    r"(?!(?:\.[A-Za-z0-9-]{1,63}){0,8}:[A-Za-z0-9_.~-]{0,255}/)"  # git@host:team/project is an address of code
)
_CARD = re.compile(r"(?<![0-9.\-/])(?:[0-9][ -]?){11,18}[0-9](?![0-9\-])")
_MAESTRO = ("5018", "5020", "5038", "5893", "6304", "6759", "6761", "6762", "6763", "0604")
_IBAN = re.compile(r"(?<![A-Za-z0-9])[A-Za-z]{2}[0-9]{2}(?: ?[A-Za-z0-9]){11,30}")
_CN_ID = re.compile(
    r"(?<![0-9A-Za-z])[1-9][0-9]{5}(?:18|19|20)[0-9]{2}(?:0[1-9]|1[0-2])"
    r"(?:0[1-9]|[12][0-9]|3[01])[0-9]{3}[0-9Xx](?![0-9A-Za-z])"
)
_CN_ID_WEIGHTS = (7, 9, 10, 5, 8, 4, 2, 1, 6, 3, 7, 9, 10, 5, 8, 4, 2)  # GB 11643-1999
_CN_PHONES = (
    re.compile(
        # Letters before or behind it are those of a hash or a record's number, unless they say what it is.
        r"(?:(?<![0-9A-Za-z.\-/])|(?<=[Tt]el)|(?<=TEL)|(?<=[Pp]hone)|(?<=[Mm]obile))"
        r"(?:\+?86[- ]?)?1[3-9][0-9][- ]?[0-9]{4}[- ]?[0-9]{4}(?![0-9A-Za-z\-]|\.[0-9])"
    ),
    re.compile(r"(?<![0-9.\-/])0[1-9][0-9]{1,2}-[1-9][0-9]{6,7}(?![0-9\-])"),
)
_SSN = re.compile(
    r"(?<![0-9-])(?!000|666|9[0-9]{2})[0-9]{3}-(?!00)[0-9]{2}-(?!0000)[0-9]{4}(?![0-9-])"
)
_IP4 = re.compile(
    r"(?<![A-Za-z0-9_.:/-])(?:[0-9]{1,3}\.){3}[0-9]{1,3}(?![A-Za-z0-9_]|\.[0-9]|-[0-9])"
)
_IP6 = re.compile(
    r"(?<![0-9A-Za-z_:.])(?:(?:[0-9A-Fa-f]{1,4}:){7}[0-9A-Fa-f]{1,4}"
    r"|(?:[0-9A-Fa-f]{1,4}:){1,6}(?::[0-9A-Fa-f]{1,4}){1,6})(?![0-9A-Za-z_:])"
)
_NOT_AN_IP = re.compile(
    r"(?<![A-Za-z])(?:v|ver|version|version number|release|§|section|clause|chapter|no\.?|fig\.?|figure|table"
    r"|linux|python|kernel|java|rfc ?[0-9]{1,5},?|版本|第|图|表|章|节)[\s:：]{0,3}\Z",
    re.IGNORECASE,
)
# A number of what else there is (grants, patents, records) is no telephone's: "number" counts with a word before it.
_PHONE_CUE = re.compile(
    r"(?:(?<![A-Za-z])(?:tel|(?:tele|cell|smart)?phone|mobile|fax|whatsapp|dial"
    r"|(?:tel|(?:tele|cell|smart)?phone|mobile|cell|fax|contact|home|office|work|whatsapp|hotline) (?:number|no\.?))"
    r"|电话|手机|联系|拨打|传真|热线|☎|📞)[^A-Za-z0-9_\[\]]{0,12}\Z",
    re.IGNORECASE,
)
_WEAK_PHONE_CUE = re.compile(
    r"(?<![A-Za-z])(?:reach|cell|call|contact|text me|(?:my|your|his|her|our|their) number)[^A-Za-z0-9_\[\]]{0,12}\Z",
    re.IGNORECASE,
)
_BARE_PHONE_CUE = re.compile(r"(?<![A-Za-z])number[^A-Za-z0-9_\[\]]{0,12}\Z", re.IGNORECASE)
_GROUPED = re.compile(r"\(?[0-9]{3}\)?[-. ]{1,2}[0-9]{3}[-. ][0-9]{4}")
_AMOUNT = re.compile(
    r"[0-9]{1,3}(?: [0-9]{3})+|[0-9]{8}"
)  # "will reach 9 700 000 000", "cell 10023456"
_PHONE_LIKE = re.compile(r"(?<![A-Za-z0-9_.])\(?\+?[0-9][0-9\-. ()/x]{6,20}[0-9](?![A-Za-z0-9_])")
_DIGIT = re.compile(r"[0-9]")
_IDENTIFIERS = re.compile(
    r"""
    10\.[0-9]{4,9}/[!#-;=?-Z\\^-~]{1,256}                               # DOI: ends where Chinese text goes on
  | arxiv[:/ ]\s?(?:abs/|pdf/)?[0-9]{4}\.[0-9]{4,5}(?:v[0-9]+)?
  | ISBN(?:-1[03])?[:\s]{0,3}[0-9][0-9 -]{8,16}[0-9Xx] | (?<![0-9])97[89][- ]?(?:[0-9][- ]?){9}[0-9](?![0-9])
  | (?<![0-9])[0-9]{4}-[0-9]{4}-[0-9]{4}-[0-9]{3}[0-9X](?![0-9])  # ORCID, confirmed below
  | CVE-[0-9]{4}-[0-9]{4,7} | PM(?:ID|C)[:\s]{0,3}[0-9]{1,9} | ISSN[:\s]{0,3}[0-9]{4}-[0-9]{3}[0-9Xx]
    """,
    re.VERBOSE | re.IGNORECASE,
)
_ORCID_LIKE = re.compile(r"(?:[0-9]{4}-){3}[0-9]{3}[0-9Xx]\Z")
_MAX_PHONE_TRIES = 200
_CUE_CHARS = 24


def find_all(text: str) -> list[Finding]:
    """Return every finding in order of its start; spans of different kinds may overlap."""
    secrets = list(_secrets(text))
    found = secrets + _apart(_emails(text), [each[:2] for each in secrets])
    if _DIGIT.search(text):
        found += _apart(_numbers(text), _identifier_spans(text))
    return sorted(found, key=lambda each: (each.start, -each.end))


def _apart(findings: Iterable[Finding], spans: list[tuple[int, int]]) -> list[Finding]:
    """Return the findings that touch none of the spans."""
    ends = sorted(spans)
    return [each for each in findings if not _touches(each, ends)]


def _secrets(text: str) -> Iterator[Finding]:
    patterns = [SECRET, _CREDENTIALS]
    if "PRIVATE KEY" in text and "-----END" in text:
        patterns.append(_PRIVATE_KEY)
    for pattern in patterns:
        yield from (Finding(*each.span(), "SECRET") for each in pattern.finditer(text))
    yield from (Finding(*each.span(2), "SECRET") for each in QUERY_SECRET.finditer(text))


def _emails(text: str) -> Iterator[Finding]:
    if "@" in text:
        yield from (Finding(*each.span(), "EMAIL") for each in EMAIL.finditer(text))


def _numbers(text: str) -> Iterator[Finding]:
    yield from (_found(each, "CN_ID") for each in _CN_ID.finditer(text) if _is_cn_id(each[0]))
    yield from _ibans(text)
    yield from (_found(each, "CARD") for each in _CARD.finditer(text) if _is_card(each[0]))
    yield from (_found(each, "SSN") for each in _SSN.finditer(text))
    yield from _addresses(text)
    yield from _phones(text)


def _found(match: re.Match[str], kind: Kind) -> Finding:
    return Finding(match.start(), match.end(), kind)


def _is_cn_id(value: str) -> bool:
    """Check the GB 11643 check digit; place codes are not checked, tables of them refuse real ids."""
    total = sum(int(digit) * weight for digit, weight in zip(value, _CN_ID_WEIGHTS, strict=False))
    return "10X98765432"[total % 11] == value[17].upper()


def _ibans(text: str) -> Iterator[Finding]:
    """Try the longest reading first and cut at the country's length: the next word may look like a part of it."""
    for match in _IBAN.finditer(text):
        end = match.end()
        while end - match.start() >= 15:
            candidate = text[match.start() : end]
            if text[end : end + 1].isalnum() is False and iban.is_valid(candidate):
                yield Finding(match.start(), end, "IBAN")
                break
            end -= 1


def _is_card(value: str) -> bool:
    digits = re.sub("[^0-9]", "", value)
    return _has_card_shape(digits) and len(set(digits)) > 1 and bool(luhn.is_valid(digits))


def _has_card_shape(digits: str) -> bool:
    if len(digits) == 12:
        return digits.startswith(_MAESTRO)
    if len(digits) == 15 and digits.startswith(("1800", "2131")):
        return True
    return 13 <= len(digits) <= 19 and digits[0] in "23456"


def _addresses(text: str) -> Iterator[Finding]:
    for match in _IP4.finditer(text):
        before = text[max(0, match.start() - _CUE_CHARS) : match.start()]
        if is_public(match[0]) and not _NOT_AN_IP.search(before):
            yield _found(match, "IP")
    yield from (_found(each, "IP") for each in _IP6.finditer(text) if is_public(each[0]))


def _phones(text: str) -> Iterator[Finding]:
    """Find Chinese numbers by form, others with a country code, and any after a word like "phone"."""
    for pattern in _CN_PHONES:
        yield from (_found(each, "PHONE") for each in pattern.finditer(text))
    if "+" in text or "＋" in text:
        matcher = phonenumbers.PhoneNumberMatcher(
            text, "ZZ", leniency=phonenumbers.Leniency.VALID, max_tries=_MAX_PHONE_TRIES
        )
        yield from map(_without_bracket, matcher)
    for match in _PHONE_LIKE.finditer(text):
        if _is_announced(match, text[max(0, match.start() - _CUE_CHARS) : match.start()]):
            yield _found(match, "PHONE")


def _is_announced(match: re.Match[str], before: str) -> bool:
    """Say whether what stands before a number makes it a telephone's; a word like "reach" stands before amounts too."""
    if _PHONE_CUE.search(before):
        return True
    if _WEAK_PHONE_CUE.search(before):
        return not _AMOUNT.fullmatch(match[0])
    return _BARE_PHONE_CUE.search(before) is not None and _GROUPED.fullmatch(match[0]) is not None


def _without_bracket(match: phonenumbers.PhoneNumberMatch) -> Finding:
    """Leave a bracket to the text that opens before the number and closes behind it."""
    opens = match.raw_string[:1] in "([（" and not re.search(r"[)\]）]", match.raw_string)
    return Finding(match.start + opens, match.end, "PHONE")


def _identifier_spans(text: str) -> list[tuple[int, int]]:
    return [
        each.span()
        for each in _IDENTIFIERS.finditer(text)
        if not _ORCID_LIKE.fullmatch(each[0]) or _is_orcid(each[0])
    ]


def _is_orcid(value: str) -> bool:
    """Check ISO 7064 mod 11-2, and the range ORCID uses, which no card number starts with."""
    digits = value.replace("-", "").upper()
    total = 0
    for digit in digits[:15]:
        total = (total + int(digit)) * 2
    check = (12 - total % 11) % 11
    return digits.startswith("0000") and digits[15] == ("X" if check == 10 else str(check))


def _touches(finding: Finding, spans: list[tuple[int, int]]) -> bool:
    """Look at the last span that starts before the finding ends: identifiers do not overlap each other."""
    at = bisect_left(spans, (finding.end, 0))
    return at > 0 and spans[at - 1][1] > finding.start
