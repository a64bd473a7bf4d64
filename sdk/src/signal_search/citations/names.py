"""Names of authors: people with particles, people written in Chinese characters, and bodies.

Nothing is guessed: what arrives as `literal` is kept whole, and only a particle in lower case at the head of a
family name is told apart from it.
"""

import re

from signal_search.citations.works import one_line
from signal_search.contracts.document import Author

# Han, kana, hangul: names in these scripts are written family first, without a blank or a comma.
_CJK = re.compile(
    r"^[\u3005\u3007\u3040-\u30ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\U00020000-\U0003ffff·・]+$"
)
_PARTICLE = re.compile(r"^((?:[a-zà-öø-ÿ][\w'’.]*\s+)+)(?=\S)")

# Behind a given name a lower-case word may be a name ("Ana maria"); these are none (CSL 1.0.2, names).
_KNOWN = "(?:af|av|d'|da|das|de|del|della|den|der|di|do|dos|du|la|le|ten|ter|van|von|zu|zum|zur)"
_DROPPED = re.compile(rf"^(.*?\S) ((?:{_KNOWN} )*{_KNOWN})$")


def is_cjk(text: str) -> bool:
    """Say whether the whole text is written in Han characters, kana or hangul."""
    return bool(_CJK.match(text))


def clean(author: Author) -> Author:
    """Return the author with each part on one line and without a trailing comma or semicolon."""
    return Author(
        family=_trim(author.family), given=_trim(author.given), literal=_trim(author.literal)
    )


def _trim(text: str) -> str:
    return one_line(text).strip(" ,;")


def whole(author: Author) -> str:
    """Return the name that must not be taken apart ("" for a person with separable parts).

    That is a body's name, a name of one part, and a person whose both parts are in Chinese characters.
    """
    if author.literal:
        return author.literal
    if not author.family or not author.given:
        return author.family or author.given
    if is_cjk(author.family) and is_cjk(author.given):
        return author.family + author.given
    return ""


def family_first(author: Author) -> str:
    """Return "Family, Given", or the whole name."""
    return whole(author) or f"{author.family}, {author.given}"


def given_first(author: Author) -> str:
    """Return "Given Family", or the whole name."""
    return whole(author) or f"{author.given} {author.family}"


def split_particle(family: str) -> tuple[str, str]:
    """Return (particle, rest): "van der Berg" gives ("van der", "Berg"), "Van Gogh" gives ("", "Van Gogh")."""
    match = _PARTICLE.match(family)
    return (match[1].strip(), family[match.end() :]) if match else ("", family)


def split_dropped(given: str) -> tuple[str, str]:
    """Return (rest, particle): "Alexander von" gives ("Alexander", "von"); only known particles behind a name count."""
    match = _DROPPED.match(given)
    return (match[1], match[2]) if match else (given, "")


def authors_of(authors: tuple[Author, ...]) -> tuple[Author, ...]:
    """Return the cleaned authors; those without any name are dropped."""
    cleaned = (clean(author) for author in authors)
    return tuple(each for each in cleaned if each.family or each.given or each.literal)
