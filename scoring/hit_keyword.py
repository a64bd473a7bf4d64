"""How many of a query's words a hit says: the share of them in title and snippet (search guide, phase 4).

Words, not parts of words: "java" is not in "JavaScript". Chinese is compared by dictionary words and the bigrams across
them. Latin words of one or two letters say too little alone; a query of nothing else is neutral.
"""

from collections.abc import Sequence

from scoring.text import tokens

NEUTRAL = 0.5
_SHORTEST_LATIN = 3


def keyword_match(variants: Sequence[str], title: str, snippet: str) -> float:
    """Return the share (0..1) of a query's words in a hit, of the variant that it matches best; .5 without words."""
    said = set(tokens(f"{title}\n{snippet}"))
    shares = [len(each & said) / len(each) for each in map(query_words, variants) if each]
    return max(shares, default=NEUTRAL)


def query_words(query: str) -> frozenset[str]:
    """Return the words of a query that count."""
    return frozenset(
        each for each in tokens(query) if not each.isascii() or len(each) >= _SHORTEST_LATIN
    )
