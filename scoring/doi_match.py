"""Is this the DOI of that work? Only when the title and the authors that are registered with it are those we have."""

import re
import unicodedata
from collections.abc import Sequence

# The form that DOI handbooks recommend for modern names: a prefix of the directory 10 and a suffix without blanks.
_DOI = re.compile(r"10\.\d{4,9}(?:\.\d+)*/[^\s\"<>]+")
_PREFIX = re.compile(r"^(?:https?://(?:dx\.)?doi\.org/|doi:\s*)", re.IGNORECASE)
_LEAST_SHARED = 0.5  # of the work's authors; registers cut long lists


def plain_doi(text: str) -> str:
    """Return a DOI in lower case without an address before it, '' when it is none."""
    bare = _PREFIX.sub("", text.strip()).lower()
    return bare if _DOI.fullmatch(bare) else ""


def is_same_work(
    title: str, authors: Sequence[str], other_title: str, other_authors: Sequence[str]
) -> bool:
    """Return whether two records are of one work: the same title letter for letter, and enough family names.

    Case, accents and punctuation do not count. A record without a title or without authors is no record of anything.
    """
    own, others = _names(authors), _names(other_authors)
    if not (_folded(title) and own and others) or _folded(title) != _folded(other_title):
        return False
    return len(own & others) >= _LEAST_SHARED * len(own)


def _names(authors: Sequence[str]) -> set[str]:
    return {name for each in authors if (name := _folded(each))}


def _folded(text: str) -> str:
    plain = unicodedata.normalize("NFKD", text).casefold()
    return "".join(each for each in plain if each.isalnum())
