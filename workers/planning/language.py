"""Which language a question is in, decided from its script alone: planning must not load a model."""

import re

_HAN = re.compile(r"[\u3400-\u9fff\uf900-\ufaff]")
_KANA = re.compile(r"[\u3040-\u30ff]")
_LATIN_WORD = re.compile(r"[A-Za-z]+")

# One Chinese character carries about as much as half an English word.
HAN_PER_WORD = 2.0


def language_of(text: str, wanted: str | None = None) -> str:
    """Return `zh`, `ja` or `en`; a caller's own choice wins (its primary subtag).

    Latin product names inside a Chinese question do not make it English: "Redis 与 Memcached" is Chinese.
    """
    if wanted:
        return wanted.split("-", maxsplit=1)[0].lower()
    if _KANA.search(text):
        return "ja"
    han, words = len(_HAN.findall(text)), len(_LATIN_WORD.findall(text))
    return "zh" if han and han >= words / HAN_PER_WORD else "en"


def has_han(text: str) -> bool:
    """Say whether a text contains a Chinese character."""
    return bool(_HAN.search(text))
