"""Roots of English words, cut harder than for retrieval: the guards look at everything else."""

from functools import lru_cache

_LONG_ENDINGS = "ational iveness fulness ously ingly ation ments ment ness"  # codespell:ignore ment
_ENDINGS = f"{_LONG_ENDINGS} ings edly ies ied ing ers ed er es ly s"
_STEM_ENDINGS = tuple(_ENDINGS.split())


@lru_cache(maxsize=65_536)
def root(word: str) -> str:
    """Return the root of an English word for comparison, cut harder than for retrieval: guards look at the rest."""
    if len(word) <= 4 or not word.isascii():
        return word
    for ending in _STEM_ENDINGS:
        if word.endswith(ending) and len(word) - len(ending) >= 3:
            return _cut(word, ending)
    return word.rstrip("e")


def _cut(word: str, ending: str) -> str:
    rest = word[: -len(ending)] + ("y" if ending in {"ies", "ied"} else "")
    if len(rest) > 3 and rest[-1] == rest[-2] and rest[-1] not in "lsz":
        rest = rest[:-1]
    return rest.rstrip("e") if len(rest) > 4 else rest
