"""What is really searched for: sub-queries by intent (search guide, phase 2).

Each is the subject, which is the query without the words that told the intent, with words that pages of the wanted kind
carry. Chinese subjects get Chinese words, and one English form besides where the dictionary has one.
"""

import re
from datetime import date

from signal_search.contracts.search_plan import SearchIntent

from workers.planning.entities import split_entities
from workers.planning.language import has_han
from workers.planning.search_words import english_variant, with_synonyms

MOST_SUB_QUERIES = 6
_MOST_SIDES = 3

_ENDINGS: dict[SearchIntent, tuple[tuple[str, ...], tuple[str, ...]]] = {
    SearchIntent.FACTUAL: (("explained overview",), ("详解 概述",)),
    SearchIntent.STATUS: (("latest {year}", "update release"), ("最新 {year}", "更新 发布")),
    SearchIntent.COMPARISON: (("advantages",), ("优点",)),
    SearchIntent.TUTORIAL: (("tutorial", "guide step by step"), ("教程", "指南 步骤")),
    SearchIntent.EXPLORATORY: (
        ("overview", "ecosystem", "use cases"),
        ("概述", "生态", "应用场景"),
    ),
    SearchIntent.NEWS: (
        ("news this week {year}", "announcement latest"),
        ("新闻 本周 {year}", "公告 最新"),
    ),
    SearchIntent.RESOURCE: (("official documentation",), ("官方文档",)),
}
# These are asked as the caller put them, too.
_KEEPS_QUERY = frozenset({SearchIntent.FACTUAL, SearchIntent.COMPARISON})
# The subject alone finds such pages.
_SPEAKS_FOR_ITSELF = frozenset({*_KEEPS_QUERY, SearchIntent.EXPLORATORY})

_LEADING = re.compile(
    r"^(?:请问|请|关于|什么是|什么叫|怎么做|怎么|如何|怎样|深入了解|了解|对比|比较|本周|这周|最近|近期|最新的?|目前|现在|下载"
    r"|(?:everything|all) about |what(?:['’]s| is) new (?:with|in) |what(?:['’]s| is| are) (?:the )?"
    r"|who (?:is|was) |how (?:to|do i|do you|can i|should i) |define |(?:the )?(?:definition|meaning) of "
    r"|about |(?:the )?(?:latest|newest) |getting started with |(?:a )?(?:tutorial|guide|introduction) (?:on|to|for) "
    r"|overview of |(?:a )?deep[- ]dive (?:into|on) |(?:latest )?news (?:about|on|of) |updates? on |status of "
    r"|(?:the )?official (?:site|website|docs|documentation) (?:of|for) "
    r"|(?:the )?(?:differences?|comparison) between |compare )\s*",
    re.IGNORECASE | re.ASCII,
)
_TRAILING = re.compile(
    r"(?:\s*的?(?:定义|含义|(?:什么)?意思|区别|差异|差别|对比|比较|最新(?:进展|消息|动态|情况)?|现状|(?:研究)?进展|近况|动态"
    r"|状态|教程|入门|指南|生态(?:系统)?|一切|官网|官方(?:网站|文档)|文档|下载|源码|新闻|大事|资讯|怎么?样了?)"
    r"|\s*是(?:什么|啥)|\s*有(?:什么|哪些)"
    r"|\s+(?:tutorials?|guides?|news|this week|latest|updates?|announcements?|ecosystem|documentation|docs"
    r"|(?:on )?github|repo(?:sitory)?|download|meaning|definition|comparison|official (?:site|website|docs)"
    r"|step by step))[\s?？。!！]*$|[\s?？。!！]+$",
    re.IGNORECASE | re.ASCII,
)


def subject_of_search(query: str) -> str:
    """Return a query without the words that told its intent; the query itself when nothing else is in it."""
    bare = " ".join(query.split())
    while (shorter := _LEADING.sub("", _TRAILING.sub("", bare))) != bare:
        if not shorter.strip():
            break
        bare = shorter
    return bare.strip()


def sub_queries(query: str, intent: SearchIntent, today: date) -> tuple[str, ...]:
    """Return the texts to search for, in order, each once, at most `MOST_SUB_QUERIES`."""
    subject = subject_of_search(query)
    kept = (" ".join(query.split()),) if intent in _KEEPS_QUERY else ()
    texts = (*kept, *_expanded(subject, intent, today))
    return _each_once((*texts, with_synonyms(texts[0]), _in_english(subject, intent, today)))


def variants_to_score(query: str) -> tuple[str, ...]:
    """Return the query and its other forms: a hit is compared with the form it matches best."""
    return _each_once((query, with_synonyms(query), english_variant(subject_of_search(query))))


def _expanded(subject: str, intent: SearchIntent, today: date) -> tuple[str, ...]:
    if intent == SearchIntent.COMPARISON:
        return _sides(subject)
    return _ended(subject, intent, today)


def _sides(subject: str) -> tuple[str, ...]:
    sides = split_entities(subject)
    if len(sides) < 2:
        return ()
    word = _words_for(subject, SearchIntent.COMPARISON)[0]
    return tuple(f"{each} {word}" for each in sides[:_MOST_SIDES])


def _ended(subject: str, intent: SearchIntent, today: date) -> tuple[str, ...]:
    return tuple(
        f"{subject} {each.format(year=today.year)}" for each in _words_for(subject, intent)
    )


def _in_english(subject: str, intent: SearchIntent, today: date) -> str:
    """Return the subject in English, with the first of the intent's words where they are what the search is for."""
    english = english_variant(subject)
    if not english or intent in _SPEAKS_FOR_ITSELF:
        return english
    return _ended(english, intent, today)[0]


def _words_for(subject: str, intent: SearchIntent) -> tuple[str, ...]:
    english, chinese = _ENDINGS[intent]
    return chinese if has_han(subject) else english


def _each_once(texts: tuple[str, ...]) -> tuple[str, ...]:
    first = {each.casefold(): each for each in reversed(texts) if each}
    ordered = dict.fromkeys(each.casefold() for each in texts if each)
    return tuple(first[each] for each in ordered)[:MOST_SUB_QUERIES]
