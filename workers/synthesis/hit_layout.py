"""How hits are laid out by their number (search guide, phase 5): five belong to the list, fifteen to the overview."""

from signal_search.contracts.hit_synthesis import HitLayout

MOST_LISTED = 5
MOST_BY_TOPIC = 14
TOP = 5
"""How many hits an overview shows."""


def layout_of(hits: int) -> HitLayout:
    """Return the layout for a number of hits."""
    if hits <= 0:
        return "empty"
    if hits <= MOST_LISTED:
        return "list"
    return "topics" if hits <= MOST_BY_TOPIC else "overview"
