"""The words of the language."""

from enum import StrEnum

from msgspec import Struct

KEYWORDS = frozenset({"and", "or", "not", "true", "false"})
COMPARISONS = ("<", "<=", ">", ">=", "==", "!=")


class TokenKind(StrEnum):
    """What a token is; the end of the text is one, so that a parser can always look ahead."""

    NUMBER = "number"
    NAME = "name"
    KEYWORD = "keyword"
    SIGN = "sign"
    END = "end"


class Token(Struct, frozen=True):
    """A word and where it stands: the characters [start, end)."""

    kind: TokenKind
    text: str
    start: int
    end: int
    value: float = 0.0  # of a number
