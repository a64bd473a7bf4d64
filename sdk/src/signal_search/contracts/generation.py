"""A scoring program made from words: what is asked, what is answered, and what passes between us and the model."""

from typing import Annotated, Literal

from msgspec import Meta, Struct

from signal_search.contracts.scorer import ScorerProgram

Words = Annotated[str, Meta(min_length=1, max_length=4000)]


class GenerateRequest(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A question and how its candidates are to be chosen and ordered; 1 to 4000 characters each, not blank."""

    query: Words
    requirements: Words


class ModelUsage(Struct, frozen=True, kw_only=True):
    """The tokens that the model's endpoint reported; nothing is estimated, so it is no bill."""

    llm_tokens: int


class Generated(Struct, frozen=True, kw_only=True):
    """A program that compiles, with what the model says about it. Whether it is what was meant, a person has to say."""

    scorer: ScorerProgram
    summary: str
    warnings: tuple[str, ...]
    scorer_hash: str
    feature_version: str
    usage: ModelUsage


class Message(Struct, frozen=True, kw_only=True):
    """One message of a conversation with a model."""

    role: Literal["system", "user", "assistant"]
    content: str
