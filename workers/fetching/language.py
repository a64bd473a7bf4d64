"""The language of a text: Chinese, Japanese and Korean by their script, the rest by a trained classifier.

The classifier's model takes a second to load and 100 MB, so it is loaded at first use, in the parsing process.
"""

import re

_SAMPLE_CHARS = 2000
_MIN_LETTERS = 20
_CJK_SHARE = 0.3
_KANA = re.compile("[\u3040-\u30ff\uff66-\uff9f]")
_HAN = re.compile("[\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff]")
_HANGUL = re.compile("[\uac00-\ud7a3\u1100-\u11ff\u3130-\u318f]")
_KANA_SHARE = 0.05  # of Japanese; Chinese quotes a stray kana at most
_TAG = re.compile(r"[a-z]{2,3}(?=$|[-_])", re.IGNORECASE)


def language_of(text: str, declared: str = "") -> str:
    """Return a two-letter code; `declared` (an HTML lang attribute) decides for texts too short to tell."""
    sample = text[:_SAMPLE_CHARS]
    letters = sum(map(str.isalpha, sample))
    by_script = _by_script(sample, letters)
    if by_script:
        return by_script
    if letters < _MIN_LETTERS:
        found = _TAG.match(declared.strip())
        return found[0].lower() if found else ""
    return _by_words(sample)


def _by_script(sample: str, letters: int) -> str:
    kana, han, hangul = (len(each.findall(sample)) for each in (_KANA, _HAN, _HANGUL))
    if kana + han + hangul < max(2, letters * _CJK_SHARE):
        return ""
    if hangul >= kana + han:
        return "ko"
    return "ja" if kana >= (kana + han) * _KANA_SHARE else "zh"


def _by_words(sample: str) -> str:
    from py3langid import classify  # noqa: PLC0415 - loads numpy and a large model

    language, _ = classify(sample)
    return str(language)
