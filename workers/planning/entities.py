"""Splitting an enumeration into its members: "A、B 和 C", "A/B/C", "X vs Y", "X, Y and Z".

A conjunction counts only where the dictionary cuts it off as a word, so that 及时雨, 和平 or 与会 stay whole.
"""

import re

from scoring.text import chinese_words

_MARKS = re.compile(
    r"\s*[、，,/／;；|]\s*|\s+(?:vs\.?|versus|and|or|&)\s+|\s+(?:和|与|及|以及|跟|或|还是)\s+",
    re.IGNORECASE,
)
_HAN_RUN = re.compile(r"([\u4e00-\u9fff]+)")
_CONJUNCTIONS = frozenset({"和", "与", "及", "以及", "跟", "或", "还是"})
_LEADING = re.compile(r"^(?:and|or|the|和|与|以及|及)\s+", re.IGNORECASE)
_COUNTING = re.compile(r"\s*[两二三四五六七八九十几\d]+\s*(?:家|者|个|种|款|类|方)$")
_EDGES = " \t\"'“”「」《》()（）?？。.!！:："
_CUT = "\0"


def split_entities(text: str) -> tuple[str, ...]:
    """Return the members of an enumeration in order, each once."""
    parts = [_trim(each) for each in _MARKS.split(_mark_conjunctions(text).replace(_CUT, "、"))]
    return tuple(dict.fromkeys(each for each in parts if each))


def _trim(part: str) -> str:
    return _COUNTING.sub("", _LEADING.sub("", part.strip(_EDGES))).strip(_EDGES)


def _mark_conjunctions(text: str) -> str:
    return "".join(_mark(run) for run in _HAN_RUN.split(text))


def _mark(run: str) -> str:
    if not _HAN_RUN.fullmatch(run):
        return run
    return "".join(_CUT if word in _CONJUNCTIONS else word for word in chinese_words(run))
