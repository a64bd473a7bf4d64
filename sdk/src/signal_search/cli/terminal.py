"""Both ends of a terminal: the result goes to stdout, everything else to stderr.

What comes from the web may hold escape sequences that repaint or rename a terminal, so control characters never
reach it, and nothing is read as markup.
"""

import unicodedata
from typing import NamedTuple

from rich.console import Console
from rich.text import Text

from signal_search.citations.works import one_line
from signal_search.cli.texts import Texts
from signal_search.errors import Invalid, ModeConflict, ProgramError, SignalSearchError

ANSWERED = 0
FAILED = 1
USAGE = 2
EXHAUSTED = 3
UNREACHED = 4
INTERRUPTED = 130


class Line(NamedTuple):
    """A line of output and its rich style."""

    text: str
    style: str = ""


class Terminal:
    """Where a command writes; colours only on a terminal and without NO_COLOR (rich sees to both)."""

    def __init__(self, lang: str = "en") -> None:
        """Speak the language of this locale."""
        self.texts = Texts(lang)
        self.out = Console(soft_wrap=True, highlight=False, markup=False, emoji=False)
        self.err = Console(stderr=True, highlight=False, markup=False, emoji=False)

    def say(self, line: Line | str) -> None:
        """Write a line of the result."""
        text, style = line if isinstance(line, Line) else (line, "")
        self.out.print(Text(printable(text), style=style), soft_wrap=True)

    def note(self, text: str, style: str = "") -> None:
        """Write a line about the work."""
        self.err.print(Text(printable(text), style=style), soft_wrap=True)

    def complain(self, error: SignalSearchError) -> None:
        """Say what went wrong, where, and when to try again."""
        text = self.texts.lookup(f"error.{error.code}", one_line(error.message))
        extra = []
        if error.field:
            extra.append(self.texts("field", name=one_line(error.field)))
        if error.retry_after_s is not None:
            extra.append(self.texts("again_in", seconds=round(error.retry_after_s)))
        self.note(f"signal-search: {text}" + (f" ({', '.join(extra)})" if extra else ""), "red")


def exit_code(error: SignalSearchError) -> int:
    """Return the exit code of an error: 2 for a request that was not valid, 4 when no source was reached, else 1."""
    if error.code == "no_source_reached":
        return UNREACHED
    return USAGE if isinstance(error, Invalid | ModeConflict | ProgramError) else FAILED


def printable(text: str) -> str:
    """Return the text without control characters; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        each for each in text if each in "\n\t" or unicodedata.category(each) not in {"Cc", "Cs"}
    )
