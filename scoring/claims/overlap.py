"""Where a sentence repeats a claim: the clauses it lies in, and what either of them has there that the other lacks."""

import re
from bisect import bisect_left
from functools import cached_property
from itertools import pairwise

from scoring.claims import lexicon, numerals
from scoring.claims.alignment import Pairs, matched
from scoring.claims.density import density_of
from scoring.claims.numbers import is_lone
from scoring.claims.passage import Passage
from scoring.claims.quantity import Quantity
from scoring.text import Sentence

_CLAUSE_EDGE = re.compile(
    r"[,;:]\s+|[，,；;：:、（）()]|\s+(?:and|but|while|which|who|where|although|because)\s+"
)


class Overlap:
    """A claim beside a sentence. Places are positions of words; a word with a partner is repeated in order.

    Texts that are not worded alike have no pairs: then a word has a partner if it stands anywhere in the other.
    """

    def __init__(self, claim: Passage, sentence: Passage, *, aligned: bool) -> None:
        """Align the two, if they are alike enough for the order to mean something."""
        self.claim, self.sentence = claim, sentence
        self.pairs: Pairs = matched(claim.keys, sentence.keys) if aligned else ()
        self.repeated = tuple(j for _, j in self.pairs if sentence.keys[j] in claim.weights)

    @cached_property
    def lost(self) -> tuple[int, ...]:
        """Return the places of the claim's words without a partner."""
        keys, partners = self.claim.keys, dict(self.pairs)
        if self.repeated:
            return tuple(place for place in range(len(keys)) if place not in partners)
        return tuple(place for place, key in enumerate(keys) if key not in self.sentence.key_set)

    @cached_property
    def gained(self) -> tuple[int, ...]:
        """Return the places of the sentence's words without a partner, within the region."""
        keys, partners = self.sentence.keys, {j for _, j in self.pairs}
        if self.repeated:
            return tuple(
                place for place in range(*self._words_of_region()) if place not in partners
            )
        return tuple(place for place, key in enumerate(keys) if key not in self.claim.key_set)

    @cached_property
    def left(self) -> tuple[int, ...]:
        """Return the lost content words; a number that only changed its place is not lost."""
        return tuple(
            place
            for place in self.lost
            if self._is_content(place) and not self._is_moved_number(place)
        )

    @cached_property
    def left_run(self) -> int:
        """Return how many left words stand in a row at most."""
        longest = run = 0
        for before, place in pairwise([-2, *self.left]):
            run = run + 1 if place == before + 1 else 1
            longest = max(longest, run)
        return longest

    @property
    def has_other_name(self) -> bool:
        """Return whether a left word is a name or figure; two Han characters in a row may be one."""
        words = [self.claim.written[place][0] for place in self.left]
        marked = any(word[0].isupper() or word[0].isdigit() for word in words)
        return marked or (self.claim.chinese and self.left_run > 1)

    @property
    def is_replaced(self) -> bool:
        """Return whether a lost word opens the claim or stands where the sentence has just one other word."""
        partners = dict(self.pairs)
        return any(self._is_replaced(place, partners) for place in self.lost)

    @property
    def density(self) -> float:
        """Return how close together the repeated words stand, 0 to 1."""
        if not self.repeated:
            return 0.0
        first, last = self.repeated[0], self.repeated[-1]
        return density_of(self.sentence, [j for _, j in self.pairs if first <= j <= last])

    @property
    def negations(self) -> int:
        """Return how many negations only one of the two has."""
        return _negations(self.claim, self.lost) + _negations(self.sentence, self.gained)

    @cached_property
    def region(self) -> Passage:
        """Return the clauses of the sentence that repeat the claim."""
        start, end = self._region()
        return Passage(Sentence(self.sentence.plain[start:end], 0, 0))

    @property
    def stretch_numbers(self) -> tuple[Quantity, ...]:
        """Return the sentence's numbers from the first to the last repeated content word."""
        if not self.repeated:
            return ()
        start = self.sentence.written[self.repeated[0]][1]
        end = self.sentence.written[self.repeated[-1]][2]
        return tuple(each for each in self.sentence.numbers if start <= each.at < end)

    def _region(self) -> tuple[int, int]:
        """What the claim has before its first or after its last repeated word may stand in a clause further out."""
        text, lost = self.sentence.plain, set(self.lost)
        content = [place for place in range(len(self.claim.keys)) if self._is_content(place)]
        start, end = 0, len(text)
        if self.repeated and content[0] not in lost:
            begin = self.sentence.written[self.repeated[0]][1]
            start = max((edge.end() for edge in _CLAUSE_EDGE.finditer(text, 0, begin)), default=0)
        if self.repeated and content[-1] not in lost:
            edge = _CLAUSE_EDGE.search(text, self.sentence.written[self.repeated[-1]][2])
            end = edge.start() if edge else end
        return start, end

    def _words_of_region(self) -> tuple[int, int]:
        starts = [at for _, at, _ in self.sentence.written]
        start, end = self._region()
        return bisect_left(starts, start), bisect_left(starts, end)

    def _is_content(self, place: int) -> bool:
        return self.claim.keys[place] in self.claim.weights

    def _is_moved_number(self, place: int) -> bool:
        """Return whether the word is a number that the sentence has as the only one of its kind, wherever it stands."""
        if self.claim.keys[place] not in self.sentence.key_set:
            return False
        _, start, end = self.claim.written[place]
        mine = [each for each in self.claim.numbers if start <= each.at < end]
        return bool(mine) and all(is_lone(each, self.sentence.numbers) for each in mine)

    def _is_replaced(self, place: int, partners: dict[int, int]) -> bool:
        key, before, after = (
            self.claim.keys[place],
            partners.get(place - 1),
            partners.get(place + 1),
        )
        if place == 0 and self._is_content(place):
            return True
        if before is None or after is None or after - before != 2:
            return False
        other = self.sentence.keys[before + 1]
        return {key, other} <= numerals.KEYS or (
            self._is_content(place) and not lexicon.is_alike(key, other)
        )


def _negations(passage: Passage, places: tuple[int, ...]) -> int:
    asked = set(places)
    english = sum(passage.lower_words[place] in lexicon.NEGATIONS for place in asked)
    if not lexicon.CHINESE_NEGATION.search(passage.plain):
        return english
    starts = {at: place for place, (_, at, _) in enumerate(passage.written)}
    blanked = lexicon.CHINESE_NOT_NEGATION.sub(
        lambda match: " " * len(match.group()), passage.plain
    )
    found = (starts.get(match.start()) for match in lexicon.CHINESE_NEGATION.finditer(blanked))
    return english + sum(place in asked for place in found)
