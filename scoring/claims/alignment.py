"""How much of one word sequence another repeats in the same order: the longest common subsequence."""

from collections.abc import Sequence

Pairs = tuple[tuple[int, int], ...]

_CLAIM_LIMIT, _SENTENCE_LIMIT = 160, 400


def common_length(claim: Sequence[str], sentence: Sequence[str]) -> int:
    """Return the length of the longest common subsequence.

    Bit-parallel (Hyyrö, "Bit-parallel LCS-length computation revisited", 2004): one big-integer step per word.
    """
    claim, sentence = claim[:_CLAIM_LIMIT], sentence[:_SENTENCE_LIMIT]
    places: dict[str, int] = {}
    for place, word in enumerate(claim):
        places[word] = places.get(word, 0) | 1 << place
    full = (1 << len(claim)) - 1
    row = full
    for word in sentence:
        hit = row & places.get(word, 0)
        row = ((row + hit) | (row - hit)) & full
    return len(claim) - row.bit_count()


def matched(claim: Sequence[str], sentence: Sequence[str]) -> Pairs:
    """Return the (claim, sentence) positions of a longest common subsequence, in order.

    Of the one that starts early and the one that ends late in the sentence, the closer together.
    """
    claim, sentence = claim[:_CLAIM_LIMIT], sentence[:_SENTENCE_LIMIT]
    early = _matched_early(claim, sentence)
    turned = _matched_early(claim[::-1], sentence[::-1])
    late = tuple((len(claim) - 1 - i, len(sentence) - 1 - j) for i, j in reversed(turned))
    return min(early, late, key=_extent)


def _extent(pairs: Pairs) -> int:
    return pairs[-1][1] - pairs[0][1] if pairs else 0


def _matched_early(claim: Sequence[str], sentence: Sequence[str]) -> Pairs:
    # Words that are alike from the beginning are pairs in any case; most claims are a sentence as it stands.
    alike = _common_prefix(claim, sentence)
    rest = _matched_rest(claim[alike:], sentence[alike:])
    return (*((i, i) for i in range(alike)), *((i + alike, j + alike) for i, j in rest))


def _common_prefix(claim: Sequence[str], sentence: Sequence[str]) -> int:
    pairs = enumerate(zip(claim, sentence, strict=False))
    end = min(len(claim), len(sentence))
    return next((place for place, (first, second) in pairs if first != second), end)


def _matched_rest(claim: Sequence[str], sentence: Sequence[str]) -> Pairs:
    if not claim or not sentence:
        return ()
    table = _table(claim, sentence)
    pairs: list[tuple[int, int]] = []
    i = j = 0
    while i < len(claim) and j < len(sentence):
        if claim[i] == sentence[j]:
            pairs.append((i, j))
            i, j = i + 1, j + 1
        elif table[i + 1][j] >= table[i][j + 1]:
            i += 1
        else:
            j += 1
    return tuple(pairs)


def _table(claim: Sequence[str], sentence: Sequence[str]) -> list[list[int]]:
    """Row i, column j: the common length of what follows i and j."""
    rows = [[0] * (len(sentence) + 1)]
    for word in reversed(claim):
        below, row = rows[-1], [0]
        for place in range(len(sentence) - 1, -1, -1):
            same = word == sentence[place]
            row.append(below[place + 1] + 1 if same else max(row[-1], below[place]))
        rows.append(row[::-1])
    return rows[::-1]
