"""From the model's words to a program that compiles, or to what the model is told is wrong with them."""

from msgspec import Struct
from signal_search.errors import Position, ProgramError, Unsupported

from scoring.expression.compiler import compile_program
from scoring.expression.program import Program
from scoring.generation.draft import SUMMARY_PREFIX, BadDraft, Declined, read_draft

_SHORTEST_ECHO = 12  # characters: fewer prove nothing


class Explained(Struct, frozen=True, kw_only=True):
    """A compiled program and the model's sentences about it."""

    program: Program
    summary: str
    warnings: tuple[str, ...]


def read_program(text: str, *, asked: tuple[str, ...] = ()) -> Explained:
    """Return the program in the model's answer.

    Raises:
        BadDraft: no such object, or the program does not compile.
        Unsupported: the model declines, with its reason; `unsupported_requirements` or `clarification`. A reason that
            repeats one of the texts `asked` gives way to a sentence of ours.
    """
    draft = read_draft(text)
    if isinstance(draft, Declined):
        raise _declined(draft, asked)
    try:
        program = compile_program(draft.scorer)
    except ProgramError as error:
        raise BadDraft(_told(error)) from error
    return Explained(
        program=program, summary=SUMMARY_PREFIX + draft.summary, warnings=draft.warnings
    )


def _told(error: ProgramError) -> str:
    where = f" in {error.field}" if error.field else ""
    at = error.position
    if isinstance(at, Position):
        where += f" at line {at.line}, column {at.column}"
    return f"the program does not compile ({error.code}{where}): {error.message}"


_FIXED = {
    "unsupported_requirements": "The model says that these requirements cannot be expressed.",
    "clarification": "The model says that these requirements are not clear enough.",
}


def _declined(said: Declined, asked: tuple[str, ...]) -> Unsupported:
    echoes = any(len(each) >= _SHORTEST_ECHO and each in said.message for each in asked)
    shown = "".join(each if each.isprintable() else " " for each in said.message).strip()
    message = _FIXED[said.status] if echoes or not shown else f"{SUMMARY_PREFIX}{shown}"
    return Unsupported(message, code=said.status)
