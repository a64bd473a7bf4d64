"""A sentence made ready to be compared: its words, weights, numbers and names, each worked out once, on first use."""

import re
from collections.abc import Iterator
from functools import cached_property

from scoring.claims.lexicon import WEIGHTY
from scoring.claims.numbers import quantities
from scoring.claims.quantity import Quantity
from scoring.claims.roots import root
from scoring.text import ENGLISH_STOP_WORDS, Sentence, is_chinese

_PUNCTUATION = str.maketrans("\u2018\u2019\u201c\u201d\u2013\u2014\u00a0", "''\"\"-- ")
_WORD = re.compile(
    r"[㐀-䶿一-鿿]|\b[A-Za-z](?:\+\+|#)|\d+(?:[.,]\d+)*|[^\W\d_㐀-䶿一-鿿]+(?:'[^\W\d_]+)?"
)
# Words that change a claim count as content although they are common; so do comparisons.
_COMPARING = frozenset({"more", "most", "before", "after", "over", "under", "than"})
FUNCTION_WORDS = (ENGLISH_STOP_WORDS | {"been", "there", "here"}) - WEIGHTY - _COMPARING
_CHINESE_FUNCTION_CHARACTERS = frozenset(
    "的了是在和与及或也都就而被把对为以于由其这那之一个有年月日将会到上下中里说称等叫"
)
_SMALL_WORDS = (
    "a|all|an|and|any|both|each|every|no|only|at|but|by|for|from|he|her|his|if|in|it|its|on|she|that|the|their|there|these|they|this|"
    "those|to|we|when|while|with|you|after|also|although|as|before|during|however|many|most|one|some|two|three|first|more|our|i"
)
_NAME = re.compile(
    r"\b[A-Z][\w'&.\-]*(?:\s+(?:of|the|de|van|von|and|&)\s+[A-Z][\w'\-]*|\s+[A-Z][\w'\-]*)*"
)
_LEADING_SMALL = re.compile(rf"(?:{_SMALL_WORDS})\s+", re.IGNORECASE)
_SMALL = re.compile(rf"(?:{_SMALL_WORDS})", re.IGNORECASE)
_CHINESE_NAME = re.compile(
    r"(《[^》]{1,30}》)|“([^”]{2,20})”|「([^」]{2,20})」|\"([^\"]{2,20})\"|([A-Za-z][A-Za-z0-9.\-]+)"
)


class Passage:
    """A sentence and what is compared of it. `plain` has straight quotes and dashes, character for character."""

    def __init__(self, sentence: Sentence) -> None:
        """Keep the sentence; everything else waits until it is asked for."""
        self.sentence = sentence
        self.plain = sentence.text.translate(_PUNCTUATION)

    @cached_property
    def chinese(self) -> bool:
        """Return whether the sentence reads as Chinese."""
        return is_chinese(self.plain)

    @cached_property
    def written(self) -> tuple[tuple[str, int, int], ...]:
        """Return each word as written with its character offsets; every Han character is a word."""
        return tuple((match.group(), *match.span()) for match in _WORD.finditer(self.plain))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """Return the words' roots in order; equal words have equal roots."""
        return tuple(_key(word) for word, _, _ in self.written)

    @cached_property
    def lower_words(self) -> tuple[str, ...]:
        """Return the words in lower case with their apostrophes, for the lists of weighty words."""
        return tuple(word.lower() for word, _, _ in self.written)

    @cached_property
    def key_set(self) -> frozenset[str]:
        """Return the set of roots."""
        return frozenset(self.keys)

    @cached_property
    def weights(self) -> dict[str, float]:
        """Return the content words' roots, each with its weight: names, figures and long words weigh more."""
        return {_key(word): _weight(word) for word, _, _ in self.written if _is_content(word)}

    @cached_property
    def total_weight(self) -> float:
        """Return the sum of the content words' weights."""
        return sum(self.weights.values())

    @cached_property
    def numbers(self) -> tuple[Quantity, ...]:
        """Return the numbers of the sentence."""
        return quantities(self.plain, chinese=self.chinese)

    @cached_property
    def names(self) -> tuple[str, ...]:
        """Return names: capitalised runs, or quoted and Latin words in Chinese."""
        return tuple(_chinese_names(self.plain) if self.chinese else _english_names(self.plain))

    @cached_property
    def lower_text(self) -> str:
        """Return the text in lower case without possessive endings and doubled spaces."""
        return plain_lower(self.plain)


def plain_lower(text: str) -> str:
    """Return a name or text in the form in which names are looked up."""
    return re.sub(r"\s+", " ", text.lower()).replace("'s", "")


def _key(word: str) -> str:
    if word[0].isdigit():
        return word.replace(",", "")
    return root(word.lower().removesuffix("'s").replace("'", ""))


def _is_content(word: str) -> bool:
    return word.lower() not in FUNCTION_WORDS and word not in _CHINESE_FUNCTION_CHARACTERS


def _weight(word: str) -> float:
    if len(word) == 1 and not word.isascii():
        return 1.0
    marked = word[0].isupper() or word[0].isdigit()
    return 1.0 + float(marked) + min(len(word), 10) / 10.0


def _english_names(text: str) -> Iterator[str]:
    for match in _NAME.finditer(text):
        name = match.group()
        if match.start() == 0 or text[max(0, match.start() - 2) : match.start()] in {
            ". ",
            "! ",
            "? ",
        }:
            name = _LEADING_SMALL.sub("", name, count=1)
            # A single capital word that opens a sentence may be any word.
            if name == match.group() and " " not in name:
                continue
        if not _SMALL.fullmatch(name):
            yield name.strip(".' ")


def _chinese_names(text: str) -> Iterator[str]:
    for match in _CHINESE_NAME.finditer(text):
        yield next(group for group in match.groups() if group)
