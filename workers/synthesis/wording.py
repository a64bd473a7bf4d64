"""The words around the evidence, Chinese and English in one table: how sure we sound follows how sure we are."""

from typing import Literal

Language = Literal["zh", "en"]

TEXTS: dict[str, dict[Language, str]] = {
    "answer": {"en": "Answer", "zh": "先答"},
    "according_to": {"en": "According to {title}", "zh": "据《{title}》"},
    "by_question": {"en": "By sub-question", "zh": "分项"},
    "opposing": {
        "en": "An opposing view exists (weaker source)",
        "zh": "存在相反观点（低可信源）",
    },
    "conflict": {"en": "Sources disagree", "zh": "来源不一致"},
    "unverified": {"en": "Not verified", "zh": "待核实"},
    "confidence": {"en": "Confidence", "zh": "置信度"},
    "nothing": {
        "en": "No evidence was found; no answer is given.",
        "zh": "未找到证据，不作回答。",
    },
}

# From here on an answer is stated plainly; below it is attributed to its source.
PLAIN_FROM = 0.7


def language_of(code: str) -> Language:
    """Return the language whose words are used: Chinese for zh, English for everything else."""
    return "zh" if code.split("-", 1)[0] == "zh" else "en"


def say(key: str, language: Language, **parts: str) -> str:
    """Return a text of the table, filled in."""
    return TEXTS[key][language].format(**parts)
