"""Tokens to a tree, by the grammar of the scorer guide; what binds tighter stands further down.

    or     := and ("or" and)*                 sum   := term (("+" | "-") term)*
    and    := not ("and" not)*                term  := unary (("*" | "/") unary)*
    not    := "not" not | comparison          unary := ("+" | "-") unary | atom
    comparison := sum (sign sum)?             atom  := number | true | false | name | call | "(" or ")"

Recursion goes through brackets alone, which are counted before; runs of signs and of `not` are loops.
"""

from collections.abc import Callable

from msgspec import structs
from signal_search.errors import ProgramError

from scoring.expression.lexer import tokens_of
from scoring.expression.limits import MAX_DEPTH
from scoring.expression.spans import Expression
from scoring.expression.syntax import ROOT, Syntax, SyntaxKind, counted
from scoring.expression.tokens import COMPARISONS, Token, TokenKind


def parse(expression: Expression) -> Syntax:
    """Return the tree of an expression.

    Raises:
        ProgramError: `syntax`, `number`, `chained_comparison`, `nesting_limit` or `depth_limit`.
    """
    return _Parser(expression).whole()


class _Parser:
    def __init__(self, expression: Expression) -> None:
        self._expression = expression
        self._tokens = tokens_of(expression)
        self._at = 0

    def whole(self) -> Syntax:
        found = self._or()
        if self._next.kind is not TokenKind.END:
            raise self._error("syntax", "The expression ends before this", self._next)
        return found

    @property
    def _next(self) -> Token:
        return self._tokens[self._at]

    def _take(self) -> Token:
        token = self._next
        self._at += 1
        return token

    def _sees(self, *words: str) -> bool:
        token = self._next
        return token.text in words and token.kind in {TokenKind.SIGN, TokenKind.KEYWORD}

    def _error(self, code: str, message: str, token: Token) -> ProgramError:
        return self._expression.error(code, message, token.start, token.end)

    def _made(
        self,
        kind: SyntaxKind,
        word: str,
        span: tuple[int, int],
        *args: Syntax,
        value: float = 0.0,
    ) -> Syntax:
        made = counted(kind, word, span, *args, value=value)
        if made.depth + ROOT > MAX_DEPTH:
            message = f"The expression is deeper than {MAX_DEPTH}"
            raise self._expression.error("depth_limit", message, *span)
        return made

    # --- operators ----------------------------------------------------------------------------------------------------

    def _or(self) -> Syntax:
        return self._logic("or", self._and)

    def _and(self) -> Syntax:
        return self._logic("and", self._not)

    def _logic(self, word: str, operand: Callable[[], Syntax]) -> Syntax:
        args = [operand()]
        while self._sees(word):
            self._take()
            args.append(operand())
        if len(args) == 1:
            return args[0]
        return self._made(SyntaxKind.LOGIC, word, (args[0].start, args[-1].end), *args)

    def _not(self) -> Syntax:
        return self._prefixed(("not",), self._comparison)

    def _unary(self) -> Syntax:
        return self._prefixed(("+", "-"), self._atom)

    def _prefixed(self, words: tuple[str, ...], operand: Callable[[], Syntax]) -> Syntax:
        run: list[Token] = []
        while self._sees(*words):
            run.append(self._take())
        found = operand()
        for token in reversed(run):
            found = self._made(SyntaxKind.UNARY, token.text, (token.start, found.end), found)
        return found

    def _comparison(self) -> Syntax:
        left = self._sum()
        if not self._sees(*COMPARISONS):
            return left
        sign = self._take().text
        right = self._sum()
        if self._sees(*COMPARISONS):
            message = "Comparisons are not chained; join two with and"
            raise self._error("chained_comparison", message, self._next)
        return self._made(SyntaxKind.COMPARISON, sign, (left.start, right.end), left, right)

    def _sum(self) -> Syntax:
        return self._binary(("+", "-"), self._term)

    def _term(self) -> Syntax:
        return self._binary(("*", "/"), self._unary)

    def _binary(self, signs: tuple[str, ...], operand: Callable[[], Syntax]) -> Syntax:
        found = operand()
        while self._sees(*signs):
            sign = self._take().text
            right = operand()
            found = self._made(SyntaxKind.BINARY, sign, (found.start, right.end), found, right)
        return found

    # --- atoms --------------------------------------------------------------------------------------------------------

    def _atom(self) -> Syntax:
        token = self._take()
        span = (token.start, token.end)
        if token.kind is TokenKind.NUMBER:
            return self._made(SyntaxKind.NUMBER, token.text, span, value=token.value)
        if token.kind is TokenKind.NAME:
            return (
                self._call(token)
                if self._sees("(")
                else self._made(SyntaxKind.NAME, token.text, span)
            )
        if token.text in {"true", "false"}:
            return self._made(SyntaxKind.TRUTH, token.text, span)
        if token.text == "(":
            return self._bracketed(token)
        raise self._error("syntax", "Expected a number, a name or a bracket", token)

    def _bracketed(self, opening: Token) -> Syntax:
        inner = self._or()
        closing = self._closed()
        return structs.replace(inner, start=opening.start, end=closing.end)

    def _closed(self) -> Token:
        if not self._sees(")"):
            raise self._error("syntax", "Expected a closing bracket", self._next)
        return self._take()

    def _call(self, name: Token) -> Syntax:
        self._take()
        args = [self._or()]
        while self._sees(","):
            self._take()
            args.append(self._or())
        return self._made(SyntaxKind.CALL, name.text, (name.start, self._closed().end), *args)
