"""What an answer to a question must have: its words, the names it is about, and the kind of value it asks for."""

import re
from collections.abc import Sequence
from functools import cache

from msgspec import Struct

from scoring.asked_value import has_value, kind_of
from scoring.relevance import Variants, variants_of
from scoring.text import chinese_words, is_chinese, tokens
from scoring.times.reading import without_times

# The lists of words are made on first use: the first Chinese one reads the dictionary, which takes half a second.


# Words of a question that say what to do with its subject, not what the subject is.
@cache
def _generic() -> frozenset[str]:
    return frozenset(
        tokens(
            "work works use used using mean means happen need want make get do does way explain describe"
        )
    ) | frozenset(tokens("使用 工作 意思 进行 实现 介绍 说明 解释 做 用 中 上 里 是 有"))


_NAME = re.compile(
    r"(?:[A-Z][\w'’*+.-]*|\w*\d\w*)(?:\s+(?:of\s+|the\s+)?(?:[A-Z][\w'’*+.-]*|\w*\d\w*))*"
)
_QUOTED = re.compile(r"《([^》]{1,40})》|“([^”]{1,40})”")


# A sentence against something says so with one of these.
@cache
def _contrary() -> frozenset[str]:
    return frozenset(
        tokens(
            "criticism criticised criticized critics limitation limitations limited limits fail fails failed failure "
            "problem problems drawback drawbacks disadvantage disadvantages risk risks danger harm harmful weakness "
            "controversial disputed however although despite cannot not without"
        )
    ) | frozenset(
        tokens("局限 批评 失败 无效 缺点 问题 风险 然而 但是 不足 争议 危害 限制 弊端 不能 无法")
    )


# What is asked of a thing, in Chinese; what stands before it is the thing's name.
ATTRIBUTES = re.compile(
    "(海拔|高度|长度|深度|面积|人口|重量|体积|价格|速度|温度|年龄|首都|作者|生日|定义|原理|区别|差异|优缺点|优势|缺点"
    "|用途|作用|特点|多少|多高|多长|多大|多久|何时|什么|哪年|哪里|是谁|怎么|如何)"
)
_COMPOUND = 4
_CHINESE_NAME = re.compile(r"^[\u4e00-\u9fff]{3,10}$")  # two characters are a common noun


class Need(Struct, frozen=True):
    """variants: the question's words as it may be written; names: the token runs one of which a document must hold.

    kind: position in the table of question kinds, -1 for none; is_contrary: only what speaks against is wanted.
    """

    variants: Variants
    names: tuple[tuple[str, ...], ...] = ()
    kind: int = -1
    is_contrary: bool = False


def need_of(question: str, terms: Sequence[str] = (), *, is_contrary: bool = False) -> Need:
    """Return what an answer needs. `terms` are the question's search words, also of another language."""
    return Need(_variants(question, terms), names_in(question), kind_of(question), is_contrary)


def _variants(question: str, terms: Sequence[str]) -> Variants:
    """Return the words of each language the question may be answered in: those of its search terms, best first.

    Terms are cut where the planner found words, so no bigram crosses from one word into the next.
    """
    in_chinese = is_chinese(question)
    chinese = tuple(
        dict.fromkeys(w for each in terms if is_chinese(each) for w in _chinese_units(each))
    )
    latin = [each for each in terms if not is_chinese(each)]
    named = [each for each in latin if each.lower() in question.lower()]
    other = tuple(dict.fromkeys(w for each in latin for w in tokens(each)))
    own_latin = tuple(dict.fromkeys(w for each in named for w in tokens(each)))
    found = ((*own_latin, *chinese), other) if in_chinese else (own_latin, chinese)
    # A lone name is no question: every page of a site about it would answer.
    usable = tuple(
        each for at, each in enumerate(dict.fromkeys(found)) if each and (at == 0 or len(each) > 1)
    )
    return usable or variants_of(question, terms)


def _chinese_units(term: str) -> list[str]:
    """Return a term's dictionary words and the halves of four-character ones: 网络接口 is half found in 网络设置.

    An unknown name falls into characters; its bigrams are taken too.
    """
    words = [word for word in chinese_words(term) if word.strip()]
    if any(len(word) == 1 for word in words):
        return tokens(term)
    halves = [half for word in words if len(word) == _COMPOUND for half in (word[:2], word[2:])]
    return [*words, *halves]


def names_in(question: str) -> tuple[tuple[str, ...], ...]:
    """Return the names in a question as tokens: capitalised or with digits, not the mere first word; quoted titles.

    A time is no name: what is of 2024 need not be called so, and in 阵列2024年发电 no space parts it from the rest.
    """
    found = ["".join(match) for match in _QUOTED.findall(question)]
    question = without_times(question)
    for match in _NAME.finditer(question):
        words = match[0].split()
        if match.start() == 0 and not is_chinese(question) and _is_plain(words[0]):
            words = words[1:]
        found.append(" ".join(words))
    found += _chinese_name(question)
    runs = (tuple(dict.fromkeys(tokens(each))) for each in found)
    return tuple(dict.fromkeys(each for each in runs if each))


def _chinese_name(question: str) -> list[str]:
    """Return what stands before an attribute that is asked for: 科维尔山 in 科维尔山海拔多少."""
    first, *asked = ATTRIBUTES.split(question, maxsplit=1)
    name = first.strip(" 的是请问")
    return [name] if asked and _CHINESE_NAME.match(name) else []


def _is_plain(word: str) -> bool:
    """Return whether a word's only capital is its first letter: at the head of a sentence that means nothing."""
    return word[1:].islower() or len(word) == 1


def is_about(need: Need, words: frozenset[str]) -> bool:
    """Return whether a text with these words holds one of the question's names whole; true without names.

    A Chinese name is not looked for in a text without Chinese: there it is written otherwise.
    """
    has_chinese = any(map(is_chinese, words)) if need.names else False
    names = [name for name in need.names if has_chinese or not is_chinese(name[0])]
    return not names or any(words.issuperset(name) for name in names)


def is_wanted(need: Need, held: frozenset[str]) -> bool:
    """Return whether a sentence with these words speaks on the side that is asked for."""
    return not need.is_contrary or not _contrary().isdisjoint(held)


def weight_in_question(word: str) -> float:
    """Return how much a word says about the subject: .3 for verbs that any question may have."""
    return 0.3 if word in _generic() else 1.0


def is_answered(need: Need, sentence: str) -> bool | None:
    """Return whether a sentence has the kind of value that is asked for; None when no kind is."""
    return has_value(need.kind, sentence)
