"""The SBA record of one source: five components, the weighted sum, and a reason for each."""

from msgspec import Struct


class Component(Struct, frozen=True, kw_only=True):
    """A value from 0 to 1 and why it has it."""

    value: float
    reason: str


class SourceScore(Struct, frozen=True, kw_only=True):
    """Design document: weighted = .35 credibility + .30 relevance + .15 recency + .15 authority + .05 (1 - bias)."""

    doc_id: str
    url: str
    credibility: Component
    relevance: Component
    recency: Component
    authority: Component
    bias: Component
    weighted: float
    weighted_reason: str = ""
