"""Which tools may run: registered, read-only, on this machine, harmlessly named, fresh. Pure.

A tool states these things about itself and is believed in none: whatever is missing, of another type or raises counts
against it. The list of registered tools is the first line; the names that are refused are the second.
"""

import re
import unicodedata
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from typing import Final

from msgspec import Struct
from signal_search.contracts.research import ScopeKey

from workers.memory.tool import Tool, ToolFailed

# Kinds of tools that are never run here (memory guide), as whole words or written together with a neighbour.
_REFUSED: Final = frozenset({"remote", "websearch", "shell", "command", "write", "exec"})
_WORD: Final = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
# What reading an attribute of a broken tool may raise. An assertion is our own bug and goes on.
TOOL_ERRORS: Final = (
    *(OSError, ArithmeticError, LookupError, RuntimeError),
    *(TypeError, ValueError, AttributeError),
)


Now = Callable[[], datetime]


class Admission(Struct, frozen=True, kw_only=True):
    """The rules of admission. max_age_s: how old a channel's last comparison with its source may be."""

    providers: frozenset[str] = frozenset({"local"})
    max_age_s: float = 86_400.0


def refusal(rules: Admission, tool: Tool, scope: ScopeKey, now: Now) -> str | None:
    """Return the reason code for which a tool may not run, None when it may.

    The time is asked for after the tool has said how fresh it is: one that says "now" is not of the future.

    Raises:
        ToolFailed: the tool said itself why it cannot look.
    """
    if not _is_read_only(tool):
        return "not_read_only"
    if not _is_near(rules, tool):
        return "provider_not_allowed"
    if not _is_harmless(tool):
        return "unsafe_name"
    return None if _is_fresh(rules, tool, scope, now) else "stale_index"


def _is_read_only(tool: Tool) -> bool:
    try:
        return tool.read_only is True
    except TOOL_ERRORS:
        return False


def _is_near(rules: Admission, tool: Tool) -> bool:
    try:
        provider: object = tool.provider
    except TOOL_ERRORS:
        return False
    return isinstance(provider, str) and provider.casefold() in rules.providers


def _is_harmless(tool: Tool) -> bool:
    try:
        name, provider = tool.name, tool.provider
    except TOOL_ERRORS:
        return False
    return is_safe_name(f"{name} {provider}")


def is_safe_name(name: str) -> bool:
    """Tell whether no word of a name, and no two words together, are a refused kind; look-alike letters are refused."""
    plain = unicodedata.normalize("NFKC", name)
    if not plain.isascii():
        return False
    parts = [part.casefold() for part in _WORD.findall(plain)]
    joined = [first + second for first, second in pairwise(parts)]
    whole = [each.casefold() for each in re.findall(r"[A-Za-z]+", plain)]
    return not {*parts, *joined, *whole} & _REFUSED


def _is_fresh(rules: Admission, tool: Tool, scope: ScopeKey, now: Now) -> bool:
    try:
        compared: object = tool.index_updated_at(scope)
    except ToolFailed:
        raise
    except TOOL_ERRORS:
        return False
    if not isinstance(compared, datetime):
        return False
    aware = compared if compared.tzinfo else compared.replace(tzinfo=UTC)
    try:
        age = now() - aware
    except (OverflowError, ValueError):
        return False
    return timedelta() <= age <= timedelta(seconds=rules.max_age_s)
