"""The words around the evidence, Chinese and English in one table: how sure we sound follows how sure we are."""

from typing import Literal

Language = Literal["zh", "en"]

TEXTS: dict[str, dict[Language, str]] = {
    "answer": {"en": "Answer", "zh": "先答"},
    "according_to": {"en": "According to {title}", "zh": "据{title}"},
    "titled": {"en": "{title}", "zh": "《{title}》"},
    "dated": {"en": "{title} ({year})", "zh": "《{title}》（{year} 年）"},
    "by_question": {"en": "By sub-question", "zh": "分项"},
    "opposing": {
        "en": "An opposing view exists (weaker source)",
        "zh": "存在相反观点（低可信源）",
    },
    "other_time": {
        "en": "Not known to be of the time that was asked for",
        "zh": "未能确认属于所问的时间",
    },
    "not_found_for": {
        "en": "Nothing was found for {time}: {question}",
        "zh": "未找到{time}的内容：{question}",
    },
    "conflict": {"en": "Sources disagree", "zh": "来源不一致"},
    "retracted": {
        "en": "Retracted or withdrawn, do not rely on it",
        "zh": "已撤稿或撤回，不可采信",
    },
    "unverified": {"en": "Not verified", "zh": "待核实"},
    "confidence": {"en": "Confidence", "zh": "置信度"},
    "nothing": {
        "en": "No evidence was found; no answer is given.",
        "zh": "未找到证据，不作回答。",
    },
    # A search: how sure a sentence sounds (search guide, phase 5).
    "said_by": {"en": "According to {site}, {text}", "zh": "根据 {site}，{text}"},
    "sides": {"en": "There are different accounts: {sides}", "zh": "存在不同说法：{sides}"},
    "side": {"en": "{site} says “{text}” {marks}", "zh": "{site} 认为“{text}” {marks}"},
    "between_sides": {"en": "; ", "zh": "；"},
    "model_answer": {
        "en": "A source's own answer (a model's words, not checked)",
        "zh": "来源自带的回答（模型生成，未经核实）",
    },
    "by_model": {"en": "a model's words", "zh": "模型转述"},
    "topic": {"en": "{label} ({count})", "zh": "{label}（{count} 条）"},
    "other_topics": {"en": "Other results", "zh": "其他结果"},
    "mostly": {
        "en": "Most of what was found is about {topics}.",
        "zh": "结果主要集中在：{topics}。",
    },
    "between_topics": {"en": ", ", "zh": "、"},
    "top": {"en": "The {count} most relevant results", "zh": "最相关的 {count} 条结果"},
    "covered": {
        "en": "{count} results in all, from {sources}.",
        "zh": "共找到 {count} 条结果，覆盖 {sources}。",
    },
    "deeper": {
        "en": "Which side should be looked into: {topics}?",
        "zh": "需要深入哪个方面：{topics}？",
    },
    "deeper_plain": {"en": "Which side should be looked into?", "zh": "需要深入哪个方面？"},
}

# From here on an answer is stated plainly; below it is attributed to its source.
PLAIN_FROM = 0.7


def language_of(code: str) -> Language:
    """Return the language whose words are used: Chinese for zh, English for everything else."""
    return "zh" if code.split("-", 1)[0] == "zh" else "en"


def say(key: str, language: Language, **parts: str) -> str:
    """Return a text of the table, filled in."""
    return TEXTS[key][language].format(**parts)
