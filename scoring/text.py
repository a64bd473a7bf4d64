"""Words and sentences of English and Chinese text, the same for everything that compares texts.

Own rules instead of a segmenter package: sentences need byte offsets into the stored text, and mixed pages are common.
The Chinese dictionary is built in memory: jieba's own cache is a file in the shared temporary folder that anyone may
have written, and scoring neither trusts nor touches files.
"""

import re
import unicodedata
import warnings
from collections.abc import Iterator
from functools import cache, lru_cache
from itertools import pairwise
from typing import TYPE_CHECKING

from msgspec import Struct

if TYPE_CHECKING:
    import jieba

_HAN = "\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff"
_KANA = "\u3040-\u30ff"

_ENGLISH_STOP_WORDS = """
    a about after all also am an and any are as at be because been before being between both but by can could did do
    does during each for from had has have he her here hers him his how i if in into is it its just may me might more
    most my no nor not of on or other our ours over own s same shall she should so some such t than that the their them
    then there these they this those through to too under up us very was we were what when where which while who whom
    why will with would you your yours
"""
_CHINESE_STOP_WORDS = (
    "的 了 是 在 和 与 及 或 也 都 就 而 被 把 对 为 以 于 由 其 这 那 之 吗 呢 吧 啊 着 个 们 我 你 他 她 它 "
    "一个 什么 怎么 如何 哪些 哪个 这个 那个 我们 你们 他们 以及 并且 因为 所以 但是 如果 关于 请问"
)
ENGLISH_STOP_WORDS = frozenset(_ENGLISH_STOP_WORDS.split())
CHINESE_STOP_WORDS = frozenset(_CHINESE_STOP_WORDS.split())
_CHINESE_STOP_CHARACTERS = frozenset(word for word in CHINESE_STOP_WORDS if len(word) == 1)


class Sentence(Struct, frozen=True):
    """A sentence and its UTF-8 byte offsets [start, end) in the text it was cut from."""

    text: str
    start: int
    end: int


# --- language ---------------------------------------------------------------------------------------------------------

_HAN_CHARACTER = re.compile(f"[{_HAN}]")
_KANA_CHARACTER = re.compile(f"[{_KANA}]")
_CHINESE_SHARE = 0.2


def is_chinese(text: str) -> bool:
    """Return whether Han characters are a fifth or more of the text (spaces aside) and outnumber Japanese kana."""
    if text.isascii():
        return False
    han = len(_HAN_CHARACTER.findall(text))
    written = sum(map(len, text.split()))
    return han > len(_KANA_CHARACTER.findall(text)) and han >= _CHINESE_SHARE * written


# --- words ------------------------------------------------------------------------------------------------------------

_WORD = re.compile(
    rf"(?P<han>[{_HAN}]+)|\d+(?:[.,]\d+)*|[a-z](?:\+\+|\#)|[^\W\d_{_HAN}][^\W_{_HAN}]*(?:'[^\W_]+)?"
)
_CURLY = str.maketrans({"\u2018": "'", "\u2019": "'"})


def normal_form(text: str) -> str:
    """Return the text in compatibility form (full width to half width), lower case, with straight apostrophes."""
    return unicodedata.normalize("NFKC", text).casefold().translate(_CURLY)


@lru_cache(maxsize=65_536)
def stem(word: str) -> str:
    """Return a lower-case English word without plural, past or progressive ending; short words stay.

    Lightly on purpose: `universal` and `university` must not meet.
    """
    word = word.removesuffix("'s").replace("'", "")
    if len(word) <= 3 or not word.isascii() or not word.isalpha():
        return word
    for ending, instead in (("ies", "y"), ("ied", "y"), ("sses", "ss")):
        if word.endswith(ending) and len(word) > len(ending) + 1:
            return word.removesuffix(ending) + instead
    return _without_ending(word)


def _without_ending(word: str) -> str:
    if word.endswith("s") and not word.endswith(("ss", "us", "is")):
        word = word[:-1]
    for ending in ("ing", "ed"):
        rest = word.removesuffix(ending)
        if rest != word and len(rest) >= 3 and re.search("[aeiouy]", rest):
            return _single_end(rest)
    return word.removesuffix("e") if len(word) > 3 else word


def _single_end(word: str) -> str:
    doubled = word[-1] == word[-2] and word[-1] not in "lsz"
    return word[:-1] if doubled else word.removesuffix("e")


@cache
def _dictionary() -> "jieba.Tokenizer":
    # Imported here: it takes a third of a second, and most processes never meet Chinese. Python 3.11 warns of escapes
    # in its sources when it compiles them.
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", DeprecationWarning)
        import jieba  # noqa: PLC0415
    tokenizer = jieba.Tokenizer()
    tokenizer.FREQ, tokenizer.total = tokenizer.gen_pfdict(tokenizer.get_dict_file())
    tokenizer.initialized = True
    return tokenizer


def chinese_words(run: str) -> list[str]:
    """Return the words of a run of Han characters, by dictionary alone (unknown names fall into characters)."""
    return [str(word) for word in _dictionary().cut(run, HMM=False)]


def _chinese_tokens(run: str) -> Iterator[str]:
    words = chinese_words(run)
    yield from (word for word in words if word not in CHINESE_STOP_WORDS)
    known = set(words)
    for first, second in pairwise(run):
        if first + second not in known and not {first, second} & _CHINESE_STOP_CHARACTERS:
            yield first + second


def tokens(text: str) -> list[str]:
    """Return the words to compare texts by: English stemmed, Chinese by dictionary words and the bigrams across them.

    Stop words are left out; figures lose their thousands separators. In reading order, repeats kept; of an unbroken
    Chinese run first the words, then the bigrams.
    """
    found: list[str] = []
    for match in _WORD.finditer(normal_form(text)):
        word = match.group()
        if match["han"]:
            found.extend(_chinese_tokens(word))
        elif word not in ENGLISH_STOP_WORDS:
            found.append(word.replace(",", "") if word[0].isdigit() else stem(word))
    return found


# --- sentences --------------------------------------------------------------------------------------------------------

_CLOSERS = "\"'”’」』）)\\]】》"
_STOP = re.compile(rf"\n\s*|[。！？；!?…\uff0e.]+[{_CLOSERS}]*(?:\[\d{{1,3}}\])*")
_FULL_STOPS = frozenset("。！？；")
_NEXT_BEGINS = re.compile(rf"\s+[\"'“‘「『（(\[]?[A-ZÀ-ÞА-Я0-9{_HAN}]|\s*$")
# After these a full stop never ends a sentence; after the second kind it does when a usual first word follows.
_ABBREVIATION = re.compile(
    r"(?:^|[\s(\[\"'“])(?:Mr|Mrs|Ms|Dr|Prof|St|Jr|Sr|vs|Gen|Col|Lt|Sgt|Capt|Rev|Hon|Gov|Sen|Rep|Fig|Figs|Eq|Vol|No|pp|cf|ca|c"
    r"|al|approx|e\.g|i\.e|Jan|Feb|Mar|Apr|Jun|Jul|Aug|Sept?|Oct|Nov|Dec|\d{1,3})\.$"
)
_MAYBE = re.compile(
    r"(?:^|[\s(\[\"'“.])(?:[A-Z]|Inc|Ltd|Co|Corp|Bros|[ap]\.m|Ph\.D|U\.S|U\.K|U\.N|D\.C)\.$"
)
_USUAL_FIRST = re.compile(
    r"\s+(?:The|In|It|He|She|They|This|These|That|A|An|As|At|On|However|But|We|His|Her|Its)\s"
)


def sentences(text: str) -> list[Sentence]:
    """Return the sentences of a text in order, without surrounding space; offsets are UTF-8 bytes.

    Line ends part sentences; `；` does too, as Chinese writes whole statements between them.
    """
    found: list[Sentence] = []
    at = at_bytes = 0
    for end in _ends(text):
        piece = text[at:end]
        core = piece.strip()
        if core:
            lead = piece[: len(piece) - len(piece.lstrip())]
            start = at_bytes + _size(lead)
            found.append(Sentence(core, start, start + _size(core)))
        at, at_bytes = end, at_bytes + _size(piece)
    return found


def _size(text: str) -> int:
    return len(text) if text.isascii() else len(text.encode("utf-8", "surrogatepass"))


def _ends(text: str) -> Iterator[int]:
    for match in _STOP.finditer(text):
        if match.group()[0] == "\n" or _is_end(text, match):
            yield match.end()
    yield len(text)


def _is_end(text: str, match: "re.Match[str]") -> bool:
    marks = match.group()
    if _FULL_STOPS & set(marks):
        return True
    before, after = text[match.start() - 1 : match.start()], text[match.end() : match.end() + 1]
    if _HAN_CHARACTER.match(before) and (not after or _HAN_CHARACTER.match(after)):
        return True
    if not _NEXT_BEGINS.match(text, match.end()):
        return False
    return marks[0] != "." or len(marks) > 1 or not _is_abbreviated(text, match)


def _is_abbreviated(text: str, match: "re.Match[str]") -> bool:
    until = text[max(0, match.start() - 12) : match.start() + 1]
    if _ABBREVIATION.search(until):
        return not text[match.end() :].strip() if match.end() >= len(text) - 1 else True
    return bool(_MAYBE.search(until)) and not _USUAL_FIRST.match(text, match.end())
