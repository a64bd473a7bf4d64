"""Reading a chat completion: its text and the tokens it reports, from bytes that nobody vouches for. Pure."""

from collections.abc import Iterable
from typing import Annotated, NoReturn

import msgspec
from msgspec import Meta, Struct
from signal_search.errors import JudgeFailed

_Tokens = Annotated[int, Meta(ge=0, le=10**12)]


class Completion(Struct, frozen=True, kw_only=True):
    """What the model said. tokens: what the endpoint reported; `reports` says whether it reported anything."""

    text: str
    tokens: int = 0
    reports: bool = False


class _Usage(Struct):
    total_tokens: object = None
    prompt_tokens: object = None
    completion_tokens: object = None


class _Reported(Struct):
    usage: object = None


class _Part(Struct):
    type: str
    text: str


class _Said(Struct):
    content: str | list[_Part]


class _Choice(Struct):
    message: _Said


class _Answer(Struct):
    choices: list[_Choice]


def read_reply(body: bytes, *, most_bytes: int, secrets: Iterable[str] = ()) -> Completion:
    """Return the text of the first choice; parts of it are joined.

    Raises:
        JudgeFailed: `model_response_invalid`: not such an answer, no text, or one of `secrets` in it;
            `model_response_too_large`: more than `most_bytes` of UTF-8. Both carry the tokens reported.
    """
    tokens = known_tokens(body)
    known = tokens or 0
    try:
        choices = msgspec.json.decode(body, type=_Answer).choices
        text = _text(choices[0].message.content)
        size = len(text.encode())
    except (msgspec.MsgspecError, UnicodeError, RecursionError, IndexError, ValueError) as error:
        raise _invalid(known) from error
    if size > most_bytes:
        message = "The model's answer is too large."
        raise JudgeFailed(message, code="model_response_too_large", tokens=known)
    if not text.strip() or any(each and each in text for each in secrets):
        _refuse(known)
    return Completion(text=text, tokens=known, reports=tokens is not None)


def _text(content: str | list[_Part]) -> str:
    if isinstance(content, str):
        return content
    if any(each.type != "text" for each in content):
        raise ValueError
    return "".join(each.text for each in content)


def _invalid(tokens: int) -> JudgeFailed:
    message = "The model's answer has not the expected form."
    return JudgeFailed(message, code="model_response_invalid", tokens=tokens)


def _refuse(tokens: int) -> NoReturn:
    raise _invalid(tokens)


def reported_tokens(body: bytes) -> int:
    """Return the tokens that an answer of any kind reports, 0 when it reports none."""
    return known_tokens(body) or 0


def known_tokens(body: bytes) -> int | None:
    """Return `total_tokens`, else what is known of `prompt_tokens` and `completion_tokens`; None when nothing is.

    Only whole numbers from 0 to 10^12 count as reported (scorer guide: nothing is estimated).
    """
    usage = _usage(body)
    if usage is None:
        return None
    total = _as_tokens(usage.total_tokens)
    if total is not None:
        return total
    parts = [_as_tokens(usage.prompt_tokens), _as_tokens(usage.completion_tokens)]
    known = [each for each in parts if each is not None]
    return sum(known) if known else None


def _usage(body: bytes) -> _Usage | None:
    try:
        return msgspec.convert(msgspec.json.decode(body, type=_Reported).usage, type=_Usage)
    except (msgspec.MsgspecError, UnicodeError, RecursionError):
        return None


def _as_tokens(value: object) -> int | None:
    try:
        return msgspec.convert(value, type=_Tokens)
    except msgspec.MsgspecError:
        return None
