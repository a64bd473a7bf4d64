"""The root of the error tree in `signal_search.errors`, which is where everyone imports it from."""

from typing import ClassVar, Literal

from msgspec import Struct

Retry = Literal["no", "later", "after"]


class Position(Struct, frozen=True, kw_only=True):
    """A span of a scoring expression: lines and columns from 1, in characters; the end is not part of it."""

    line: int
    column: int
    end_line: int
    end_column: int


class SignalSearchError(Exception):
    """Base of all: `code` is stable and public, `status` is HTTP's, `retry` says when to try again."""

    code: str = "internal"
    status: ClassVar[int] = 500
    retry: ClassVar[Retry] = "no"
    candidate_index: int | None = None  # of a ProgramError: which candidate, from 0 in merge order

    def __init__(
        self,
        message: str = "",
        *,
        code: str | None = None,
        field: str | None = None,
        position: int | Position | None = None,
        retry_after_s: float | None = None,
    ) -> None:
        """Carry what the reader needs: the field at fault, the position in it, when to come back."""
        super().__init__(message or (self.__doc__ or "").split("\n", maxsplit=1)[0])
        if code is not None:
            self.code = code
        self.field = field
        self.position = position
        self.retry_after_s = retry_after_s

    @property
    def message(self) -> str:
        """Return the sentence for the reader."""
        return str(self.args[0])
