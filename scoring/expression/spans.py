"""An expression as it is judged: trimmed, with the field it stands in, so that errors can point into it."""

from typing import ClassVar

from msgspec import Struct
from signal_search.errors import Position, ProgramError

# Nothing else is space: what Python would strip besides is an error wherever it stands.
SPACE = " \t\r\n"


class Expression(Struct, frozen=True):
    """The text of one field (`filter` or `score`) without surrounding space."""

    field: str
    text: str

    of_filter: ClassVar[str] = "filter"
    of_score: ClassVar[str] = "score"

    def position(self, start: int, end: int) -> Position:
        """Return the place of the characters [start, end)."""
        line, column = self._place(start)
        end_line, end_column = self._place(end)
        return Position(line=line, column=column, end_line=end_line, end_column=end_column)

    def _place(self, at: int) -> tuple[int, int]:
        before = self.text[:at]
        return before.count("\n") + 1, at - (before.rfind("\n") + 1) + 1

    def error(self, code: str, message: str, start: int, end: int) -> ProgramError:
        """Return an error about the characters [start, end)."""
        return ProgramError(
            message, code=code, field=self.field, position=self.position(start, end)
        )


def trimmed(field: str, text: str) -> Expression:
    """Return the expression of a field as submitted."""
    return Expression(field, text.strip(SPACE))
