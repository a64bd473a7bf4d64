"""Words that a caller's model or person gave: without the characters that a request is refused for."""

import unicodedata

_LAYOUT = frozenset("\n\t")


def plain(text: str) -> str:
    """Return the text without control characters and lone surrogates; line ends and tabs stay."""
    if text.isascii() and text.isprintable():
        return text
    return "".join(
        each for each in text if each in _LAYOUT or unicodedata.category(each) not in {"Cc", "Cs"}
    )
