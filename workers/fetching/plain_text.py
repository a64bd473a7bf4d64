"""The one form in which texts are stored, so that byte offsets into them stay what they were."""

import re
import unicodedata

_BAD = re.compile(r"[\x00-\x08\x0b-\x1f\x7f\ufeff\ufffe\uffff]")
_LINE_ENDS = re.compile(r"\r\n?|[\x0b\x0c\x85\u2028\u2029]")
_TRAILING = re.compile(r"[^\S\n]+(?=\n)")
_BLANK_LINES = re.compile(r"\n{3,}")


def plain_text(text: str) -> str:
    """Return text in NFC, lines ended by LF, without control characters and trailing blanks, one empty line at most.

    Idempotent. Lone surrogates, which UTF-8 cannot hold, become U+FFFD.
    """
    whole = text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    lines = _BAD.sub("", _LINE_ENDS.sub("\n", whole))
    trimmed = _BLANK_LINES.sub("\n\n", _TRAILING.sub("", f"{lines}\n"))
    return unicodedata.normalize("NFC", trimmed).strip()


def one_line(text: str, limit: int) -> str:
    """Return text on one line, every run of white space one blank, at most `limit` characters."""
    return " ".join(plain_text(text[: limit * 8]).split())[:limit].rstrip()
