"""Text to tokens: ASCII alone, numbers in one spelling, and brackets counted before anything recurses.

Python's own parser is not used: it folds full-width letters, and takes hexadecimal, underscores, comments and more that
the language does not have. Possessive quantifiers keep every match linear.
"""

import math
import re

from scoring.expression.limits import MAX_NESTING
from scoring.expression.spans import Expression
from scoring.expression.tokens import KEYWORDS, Token, TokenKind

_TOKEN = re.compile(
    r"""(?P<space>[ \t\r\n]++)
    |(?P<number>(?:(?:0|[1-9][0-9]*+)(?:\.[0-9]*+)?+|\.[0-9]++)(?:[eE][+-]?+[0-9]++)?+)
    |(?P<name>[A-Za-z_][A-Za-z0-9_]*+)
    |(?P<sign>[<>=!]=|[-+*/<>(),])""",
    re.VERBOSE | re.ASCII,
)
_GOES_ON = re.compile(r"[A-Za-z0-9_.]")


def tokens_of(expression: Expression) -> list[Token]:
    """Return the tokens of an expression, the end last.

    Raises:
        ProgramError: `syntax`, `number` (not finite) or `nesting_limit`.
    """
    found: list[Token] = []
    text, at = expression.text, 0
    while at < len(text):
        match = _TOKEN.match(text, at)
        if match is None:
            raise expression.error("syntax", "Unexpected character", at, at + 1)
        if match.lastgroup != "space":
            found.append(_token(expression, match))
        at = match.end()
    _check_brackets(expression, found)
    return [*found, Token(TokenKind.END, "", at, at)]


def _token(expression: Expression, match: re.Match[str]) -> Token:
    start, end = match.span()
    word = match.group()
    if match.lastgroup == "number":
        return Token(TokenKind.NUMBER, word, start, end, _number(expression, word, start, end))
    if match.lastgroup == "name":
        return Token(TokenKind.KEYWORD if word in KEYWORDS else TokenKind.NAME, word, start, end)
    return Token(TokenKind.SIGN, word, start, end)


def _number(expression: Expression, word: str, start: int, end: int) -> float:
    if _GOES_ON.match(expression.text, end):
        raise expression.error("syntax", "Not a decimal number", start, end + 1)
    value = float(word)
    if not math.isfinite(value):
        raise expression.error("number", "The number is too large", start, end)
    return value


def _check_brackets(expression: Expression, found: list[Token]) -> None:
    open_at: list[Token] = []
    for token in found:
        if token.text == "(":
            open_at.append(token)
            if len(open_at) > MAX_NESTING:
                message = f"Brackets are nested deeper than {MAX_NESTING}"
                raise expression.error("nesting_limit", message, token.start, token.end)
        elif token.text == ")":
            if not open_at:
                raise expression.error("syntax", "No bracket is open here", token.start, token.end)
            open_at.pop()
    if open_at:
        raise expression.error(
            "syntax", "The bracket is not closed", open_at[-1].start, open_at[-1].end
        )
