"""The words to search a sub-question with: identifiers as written, its own words, then the other language's.

The order is the meaning: an adapter that takes few words takes the first ones.
"""

import re
from collections.abc import Iterator

from msgspec import structs
from signal_search.contracts.plan import SubQuestion

from scoring.need import ATTRIBUTES
from scoring.text import CHINESE_STOP_WORDS, ENGLISH_STOP_WORDS, chinese_words
from workers.planning.decompose import DEFAULT_DIMENSION_EN
from workers.planning.identifiers import find_identifiers
from workers.planning.language import has_han, language_of
from workers.planning.subject import subject_of
from workers.planning.synonyms import chinese_for, chinese_to_english

MOST_TERMS = 24
_LONGEST_TERM = 6
_PIECE = re.compile(r"([\u4e00-\u9fff]+)|[A-Za-z0-9][\w+#.'-]*")
# Words that ask, count or order, and say nothing of the subject.
_ASKING_WORDS = """
    what's roughly usually easily kind about please tell give find show between main mainly core current does much many
    compare comparison difference research survey study review vs versus best choose among
    多少 怎么 如何 怎样 哪个 哪些 哪里 为什么 为何 请 帮 一下 通常 大约 约 核心 主要 对比 比较 调研 研究 里 几 谁 哪 有
    一个 最 上 中
"""
_ASKING = frozenset(_ASKING_WORDS.split())


def expand(question: SubQuestion) -> SubQuestion:
    """Return the question with its search terms and identifiers; at most `MOST_TERMS` terms, best first.

    A dimension that we added ourselves is no search term: a page about one side of a comparison need not hold it.
    """
    asked = _without_our_words(question)
    identifiers = tuple(each.value for each in find_identifiers(asked))
    terms = dict.fromkeys((*identifiers, *own_terms(asked), *_translated(asked)))
    return structs.replace(question, terms=tuple(terms)[:MOST_TERMS], identifiers=identifiers)


def _without_our_words(question: SubQuestion) -> str:
    is_ours = question.dimension.endswith(f"/{DEFAULT_DIMENSION_EN}")
    return question.text.removesuffix(DEFAULT_DIMENSION_EN).strip() if is_ours else question.text


def terms_for(question: SubQuestion, language: str) -> tuple[str, ...]:
    """Return the terms that a source of one language can use; all of them when that leaves none.

    An English index has no use for Chinese words; a Chinese one keeps Latin product names.
    """
    if language == "zh":
        asked_in_english = not has_han(question.text)
        han_first = sorted(question.terms, key=lambda each: not has_han(each))
        return tuple(han_first) if asked_in_english else question.terms
    latin = tuple(each for each in question.terms if not has_han(each))
    return latin or question.terms


def own_terms(text: str) -> tuple[str, ...]:
    """Return a question's own content words in order, each once, in their written form."""
    bare = subject_of(text)
    for identifier in find_identifiers(bare):
        bare = bare.replace(identifier.value, " ")
    found: dict[str, None] = {}
    for match in _PIECE.finditer(bare):
        for word in _words(match[1]) if match[1] else (match[0].strip(".-'"),):
            if _says_something(word):
                found.setdefault(word)
    return tuple(found)


def _says_something(word: str) -> bool:
    lower = word.lower()
    known = lower in ENGLISH_STOP_WORDS or lower in CHINESE_STOP_WORDS or lower in _ASKING
    return bool(word) and not known and (len(word) > 1 or word.isalnum())


def _words(run: str) -> list[str]:
    """Cut a run of Chinese into words, joining those that a glossary term spans: 预, 写, 日志 are 预写日志.

    What is asked of a thing is cut off first: a segmenter that does not know the name 科维尔山 takes 山海拔 for a word.
    """
    return [word for piece in ATTRIBUTES.split(run) if piece for word in _glossed(piece)]


def _glossed(run: str) -> list[str]:
    glossary, pieces, words = chinese_to_english(), chinese_words(run), []
    at = 0
    while at < len(pieces):
        size = _span_of_term(pieces, at, glossary)
        words.append("".join(pieces[at : at + size]))
        at += size
    return words


def _span_of_term(pieces: list[str], at: int, glossary: dict[str, tuple[str, ...]]) -> int:
    most = min(_LONGEST_TERM, len(pieces) - at)
    return next((n for n in range(most, 1, -1) if "".join(pieces[at : at + n]) in glossary), 1)


def _translated(text: str) -> Iterator[str]:
    if has_han(text):
        for word in own_terms(text):
            yield from chinese_to_english().get(word, ())
    elif language_of(text) == "en":
        yield from chinese_for(text)
