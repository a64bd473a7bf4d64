"""What the model wrote, read strictly: a program with its explanation, or one of two ways to say no.

A draft that is not as ordered raises `BadDraft` with a sentence for the model, which may mend it once.
"""

import re
from typing import Annotated, Final, Literal, NoReturn

import msgspec
from msgspec import Meta, Struct
from signal_search.contracts.scorer import ScorerProgram

SUMMARY_PREFIX: Final = "Model explanation: "
"""What every sentence of the model begins with, so that nobody takes it for a proof (scorer guide)."""

MAX_SUMMARY_CHARS: Final = 2000
MAX_WARNINGS: Final = 8
MAX_WARNING_CHARS: Final = 500

_FENCED = re.compile(r"```[A-Za-z]{0,10}[ \t]*\r?\n(.*?)\r?\n?[ \t]*```", re.DOTALL)

Refusal = Literal["unsupported_requirements", "clarification"]
_Explained = Annotated[str, Meta(min_length=1, max_length=MAX_SUMMARY_CHARS)]
_Warning = Annotated[str, Meta(min_length=1, max_length=MAX_WARNING_CHARS)]


class BadDraft(Exception):
    """The draft is not as ordered; the message says what is wrong with it, for the model."""


class Draft(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A program and what the model says about it."""

    scorer: ScorerProgram
    summary: _Explained
    warnings: Annotated[tuple[_Warning, ...], Meta(max_length=MAX_WARNINGS)] = ()


class Declined(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """The model says no: it cannot be done, or it is not clear what is meant."""

    status: Refusal
    message: _Explained


def read_draft(text: str) -> Draft | Declined:
    """Return what the model wrote; one fence around it is taken off.

    Raises:
        BadDraft: it is not the JSON object that was ordered.
    """
    raw = _unfenced(text).encode()
    try:
        said = msgspec.json.decode(raw)
    except (msgspec.MsgspecError, RecursionError):
        _refuse("The answer is not one JSON object.")
    if not isinstance(said, dict):
        _refuse("The answer is not one JSON object.")
    kind: type[Draft | Declined] = Declined if "status" in said else Draft
    try:
        read = msgspec.convert(said, type=kind)
    except msgspec.ValidationError:
        _refuse(_ORDER)
    _check_shown(read)
    return read


_ORDER: Final = (
    'The object must have exactly "scorer" (language, filter, score: strings), "summary" (1 to 2000 characters) and '
    '"warnings" (at most 8 strings of 1 to 500 characters), or exactly "status" and "message".'
)


def _check_shown(read: Draft | Declined) -> None:
    texts = (read.message,) if isinstance(read, Declined) else (read.summary, *read.warnings)
    if not all(each.strip() for each in texts):
        _refuse(_ORDER)


def _unfenced(text: str) -> str:
    stripped = text.strip()
    found = _FENCED.fullmatch(stripped)
    return found[1] if found else stripped


def _refuse(message: str) -> NoReturn:
    raise BadDraft(message)
