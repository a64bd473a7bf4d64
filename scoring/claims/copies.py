"""Which documents are the same text again: an agency report on ten sites is one witness, not ten."""

from collections.abc import Sequence

from scoring.claims.evidence import PreparedDocument

_SAME_FROM = 0.8
_FEWEST_SENTENCES = 3  # one or two sentences in a longer text are a quotation at most


def is_near_copy(first: PreparedDocument, second: PreparedDocument) -> bool:
    """Return whether four fifths of the shorter text's sentences stand in the other, word for word.

    A text of one or two sentences is a copy only of one as short.
    """
    shorter, longer = sorted((_sentences(first), _sentences(second)), key=len)
    whole = shorter if len(shorter) >= _FEWEST_SENTENCES else longer
    return bool(shorter) and len(shorter & longer) >= _SAME_FROM * len(whole)


def independent_sites(own: Sequence[PreparedDocument], others: Sequence[PreparedDocument]) -> int:
    """Return how many other sites the documents speak for; near-copies of own documents or of each other count once."""
    witnesses: list[PreparedDocument] = []
    own_sites = {each.document.site for each in own}
    for each in others:
        known = own_sites | {witness.document.site for witness in witnesses}
        if each.document.site not in known and not any(
            is_near_copy(each, seen) for seen in (*own, *witnesses)
        ):
            witnesses.append(each)
    return len(witnesses)


def _sentences(source: PreparedDocument) -> set[tuple[str, ...]]:
    return {passage.keys for passage in source.passages if passage.keys}
