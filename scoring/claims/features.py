"""What a claim and one sentence of a source have in common and where they part: the figures that the rules read."""

from collections.abc import Iterator, Sequence
from itertools import pairwise

from msgspec import Struct

from scoring.claims import lexicon
from scoring.claims.alignment import common_length
from scoring.claims.numbers import Agreement, agreement, is_lone
from scoring.claims.overlap import Overlap
from scoring.claims.passage import Passage, plain_lower
from scoring.claims.quantity import Quantity

# Below this order the sentence is about something else, and where they part is of no interest.
_OVERLAP_FROM = 0.5


class Comparison(Struct, frozen=True, kw_only=True):
    """Shares are 0 to 1 of the claim; recall and window weigh names and figures more; order counts every word.

    left: content words of the claim that the sentence does not repeat in order; left_run: the most of them in a row;
    replaced: one has another word in its place; other_name: one is a name or figure; density: repeated words per word
    of the stretch they lie in; rivals: whether the stretch has another number of a claimed kind;
    negations: those that only one of the two has.
    """

    words: int
    chinese: bool
    recall: float
    window: float
    order: float
    density: float
    left: tuple[str, ...]
    left_run: int
    replaced: bool
    other_name: bool
    numbers: tuple[Agreement, ...]
    rivals: bool
    names_present: float
    swapped: bool
    negations: int
    antonyms: tuple[str, ...]
    exclusive: bool
    debunked: bool
    modal: bool
    question: bool


def compare(claim: Passage, sentence: Passage, neighbours: Sequence[Passage] = ()) -> Comparison:
    """Compare a claim with a sentence of a source; `neighbours` are the sentences beside it.

    Negations and numbers count only in the clauses that the claim repeats, so that a long sentence is not refused
    for one that has nothing to do with the claim.
    """
    order = common_length(claim.keys, sentence.keys) / max(1, len(claim.keys))
    shared = Overlap(claim, sentence, aligned=order >= _OVERLAP_FROM)
    return Comparison(
        words=len(claim.keys),
        recall=recall(claim, sentence.key_set),
        window=max(
            (recall(claim, sentence.key_set | each.key_set) for each in neighbours), default=1.0
        ),
        order=order,
        density=shared.density,
        left=tuple(claim.keys[place] for place in shared.left),
        left_run=shared.left_run,
        replaced=shared.is_replaced,
        other_name=shared.has_other_name,
        chinese=claim.chinese,
        numbers=tuple(_agreement(each, shared.region, sentence) for each in claim.numbers),
        rivals=_has_rivals(claim, shared),
        names_present=_names_present(claim.names, sentence.lower_text),
        swapped=_is_swapped(claim, sentence),
        negations=shared.negations,
        antonyms=_antonyms(claim, shared),
        exclusive=_has_unsupported_exclusive(claim, sentence),
        debunked=is_debunked(claim, sentence, neighbours),
        modal=bool(lexicon.MODALITY.search(sentence.plain))
        and not lexicon.MODALITY.search(claim.plain),
        question=is_question(claim, sentence),
    )


def is_debunked(claim: Passage, sentence: Passage, neighbours: Sequence[Passage]) -> bool:
    """Say whether a sentence or one beside it calls what is claimed a mistake, where the claim does not itself."""
    around = " ".join(each.plain for each in (sentence, *neighbours))
    return bool(lexicon.DEBUNK.search(around)) and not lexicon.DEBUNK.search(claim.plain)


def is_question(claim: Passage, sentence: Passage) -> bool:
    """Say whether one of the two asks instead of stating."""
    return any(lexicon.QUESTION_END.search(each.plain) for each in (claim, sentence))


def recall(claim: Passage, keys: "frozenset[str] | set[str]") -> float:
    """Return the weighted share, 0 to 1, of the claim's content words among `keys`."""
    total = sum(claim.weights.values())
    return (
        sum(weight for key, weight in claim.weights.items() if key in keys) / total
        if total
        else 0.0
    )


def _agreement(number: Quantity, region: Passage, sentence: Passage) -> Agreement:
    """Look in the region first; outside of it a number counts only if the sentence has no other of its kind."""
    found = agreement(number, region.numbers)
    if found is Agreement.MISSING and is_lone(number, sentence.numbers):
        return agreement(number, sentence.numbers)
    return found


def _has_rivals(claim: Passage, shared: Overlap) -> bool:
    mine = {(each.kind, each.unit) for each in claim.numbers}
    values = {each.value for each in claim.numbers}
    return any(
        (each.kind, each.unit) in mine and each.value not in values
        for each in shared.stretch_numbers
    )


def _names_present(names: Sequence[str], lower_text: str) -> float:
    present = sum(plain_lower(name).strip(". ") in lower_text for name in names)
    return present / len(names) if names else 1.0


def _is_swapped(claim: Passage, sentence: Passage) -> bool:
    """Return whether names and numbers that both have stand in another order: who did what to whom."""
    anchors = sorted(_anchors(claim), key=lambda anchor: anchor[1])
    places = [sentence.plain.find(text) for text, _ in anchors if text in sentence.plain]
    return any(first > second for first, second in pairwise(places))


def _anchors(claim: Passage) -> Iterator[tuple[str, int]]:
    for name in dict.fromkeys(claim.names):
        yield name, claim.plain.find(name)
    if claim.chinese:
        for number in claim.numbers:
            yield claim.plain[number.at : number.at + 4], number.at


def _antonyms(claim: Passage, shared: Overlap) -> tuple[str, ...]:
    """Return the words of the claim in whose stead the sentence has their opposite."""
    gained = {shared.sentence.keys[place] for place in shared.gained}
    lost = dict.fromkeys(claim.keys[place] for place in shared.lost)
    english = (key for key in lost if lexicon.OPPOSITE_ROOTS.get(key, frozenset()) & gained)
    return (*english, *_chinese_antonyms(claim.plain, shared.region.plain))


def _chinese_antonyms(claim: str, sentence: str) -> Iterator[str]:
    for word, opposites in lexicon.CHINESE_ANTONYMS.items():
        if (
            word in claim
            and word not in sentence
            and any(each in sentence and each not in claim for each in opposites)
        ):
            yield word


def _has_unsupported_exclusive(claim: Passage, sentence: Passage) -> bool:
    theirs = set(sentence.lower_words)
    if any(word in lexicon.EXCLUSIVES and word not in theirs for word in claim.lower_words):
        return True
    return any(
        word not in sentence.plain for word in lexicon.CHINESE_EXCLUSIVES.findall(claim.plain)
    )
