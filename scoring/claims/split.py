"""A text's statements one by one: the sentence is the unit, and it is parted only where both parts stand alone.

Splitting finer multiplies errors (every part must hold), so clauses are cut only at safe places: before a finite verb
that shares the subject, around a relative clause on the subject, in a closing list of names; in Chinese before a verb.
A clause that opens with a pronoun, or whose subject is not plain, stays where it is.
"""

import re
from collections.abc import Iterator

from msgspec import Struct

from scoring.text import Sentence, is_chinese, sentences


class Statement(Struct, frozen=True):
    """One atomic statement: its text (subject repeated), the bytes [start, end) it stands on, and its sentence."""

    text: str
    start: int
    end: int
    sentence: Sentence


_VERB = (
    "is|are|was|were|has|have|had|can|could|will|would|may|might|must|should|does|do|did|became|become|becomes"
    "|includes|included|contains|contained|began|begins|won|wins|wrote|made|makes|served|founded|died|released|located|played|plays"
    "|received|directed|produced|created|developed|published|led|held|gave|took|went|came|uses|allows|provides|requires"
    "|helps|causes|means|refers|covers|supports|offers|runs|grew|fell|rose"
)
_SUBJECT = re.compile(rf"(?P<subject>[^,;:()]{{2,80}}?)\s+(?:{_VERB})\b")
_PRONOUN = re.compile(r"(?:he|she|it|they|we|i|you|this|that|these|those|there)\b", re.IGNORECASE)
_SHARED = re.compile(rf"(?:;\s+|,\s+(?:and|but)\s+)(?=(?:{_VERB})\b)")
_OWN = re.compile(
    rf";\s+|,\s+but\s+(?=[^,;]{{2,60}}?\s(?:{_VERB})\b)|,\s+and\s+(?=[^,;]{{2,60}}?\s(?:{_VERB})\b)"
)
_RELATIVE = re.compile(
    rf"(?P<subject>[^,;:()]{{2,80}}), (?:which|who) (?P<aside>(?:{_VERB})\b[^,;]+), (?P<main>(?:{_VERB})\b.+)"
)
_NAME = r"[A-Z][\w'’-]*(?: [A-Z][\w'’-]*)*"
_LIST = re.compile(
    rf"(?P<lead>.*?\b(?:{_VERB})\b.*? )(?P<names>{_NAME}(?:, {_NAME})+,? and {_NAME})[.]?$"
)
_JOINED = re.compile(r"\b(?:between|among|both|of|from|either|neither|not|no) $")
_MANY_WORDS = 8
_FEW_WORDS = 3

_CHINESE_VERB = (
    "是|为|在|于|位于|有|由|将|被|成立于|成立|出生于|出生|毕业于|获得|担任|现任|曾任"
    "|发布|宣布|表示|达到|达|增长|下降|包括|属于|拥有"
)
_CHINESE_SUBJECT = re.compile(rf"(?P<subject>[^，,；;：:（）()]{{2,14}}?)(?:{_CHINESE_VERB}|\d)")
_CHINESE_CUT = re.compile(rf"[，,；;](?=(?:并|也)?(?:{_CHINESE_VERB}))")
_CHINESE_LINK = re.compile("^[并也]")
_CHINESE_PRONOUN = re.compile("[他她它其该此这那]")


def statements(text: str) -> tuple[Statement, ...]:
    """Return the statements of a text in order; offsets are UTF-8 bytes into it."""
    return tuple(each for sentence in sentences(text) for each in _of_sentence(sentence))


def _of_sentence(sentence: Sentence) -> Iterator[Statement]:
    parts = (
        _chinese_parts(sentence.text)
        if is_chinese(sentence.text)
        else _english_parts(sentence.text)
    )
    for text, start, end in parts:
        at = sentence.start + len(sentence.text[:start].encode())
        yield Statement(text, at, at + len(sentence.text[start:end].encode()), sentence)


# A part: its statement, and the characters of the sentence that it stands on.
_Part = tuple[str, int, int]


def _english_parts(text: str) -> list[_Part]:
    relative = _RELATIVE.fullmatch(text)
    if relative is not None and not _PRONOUN.match(text):
        return [
            (f"{relative['subject']} {relative['main']}", *relative.span("main")),
            (f"{relative['subject']} {relative['aside']}", *relative.span("aside")),
        ]
    return [item for part in _english_clauses(text) for item in _listed(part)]


def _english_clauses(text: str) -> list[_Part]:
    subject = _plain_subject(text)
    cuts = [(match.end(), match.start(), subject) for match in _SHARED.finditer(text) if subject]
    shared = {end for end, _, _ in cuts}
    cuts += [
        (match.end(), match.start(), "")
        for match in _OWN.finditer(text)
        if match.end() not in shared
    ]
    return _cut(
        text, sorted(cut for cut in cuts if not _PRONOUN.match(text, cut[0])), " ", _FEW_WORDS
    )


def _plain_subject(text: str) -> str:
    opening = _SUBJECT.match(text)
    if opening is None or _PRONOUN.match(text):
        return ""
    return opening["subject"] if len(opening["subject"].split()) <= _MANY_WORDS else ""


def _cut(text: str, cuts: list[tuple[int, int, str]], joint: str, fewest: int) -> list[_Part]:
    """Cut at (start of the next part, end of this one, subject to repeat); too short a part undoes it all."""
    parts: list[_Part] = []
    start, subject = 0, ""
    for begin, end, next_subject in [*cuts, (len(text), len(text), "")]:
        body = text[start:end]
        parts.append(
            (f"{subject}{joint}{_CHINESE_LINK.sub('', body)}" if subject else body, start, end)
        )
        start, subject = begin, next_subject
    enough = all(len(body.split() if joint else body) >= fewest for body, _, _ in parts)
    return parts if enough else [(text, 0, len(text))]


def _listed(part: _Part) -> list[_Part]:
    text, start, end = part
    match = _LIST.match(text)
    if match is None or _JOINED.search(match["lead"]):
        return [part]
    # Offsets of a name are those of the text as it stands; a repeated subject has moved them to the right.
    shift = end - len(text)
    names = re.finditer(_NAME, match["names"])
    at = match.start("names") + shift
    return [
        (match["lead"] + name.group(), max(start, at + name.start()), at + name.end())
        for name in names
    ]


def _chinese_parts(text: str) -> list[_Part]:
    opening = _CHINESE_SUBJECT.match(text)
    subject = opening["subject"] if opening else ""
    if not subject or _CHINESE_PRONOUN.match(subject):
        return [(text, 0, len(text))]
    cuts = [(match.end(), match.start(), subject) for match in _CHINESE_CUT.finditer(text)]
    return _cut(text, cuts, "", 4)
