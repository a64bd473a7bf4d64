"""The aspects from which a research looks at a question that names no parts of its own. Pure.

Five by default, as the design document has them: what it is, how it works, how it compares, where it stands, what is
held against it. The last is the search for the other side that L2 and L3 make anyway. The accounts of a company have
five figures instead.
"""

import re
from collections.abc import Iterable, Mapping
from enum import StrEnum

from msgspec import Struct
from msgspec.structs import replace
from signal_search.contracts.plan import SubQuestion
from signal_search.contracts.query import Tier

from workers.planning.decompose import Decomposition, cut_note, decompose
from workers.planning.intent import read_intent
from workers.planning.language import has_han
from workers.planning.subject import contrary_question, subject_of
from workers.planning.tier import read_tier

WHOLE = "default"
_LEAST_WIDTH = 3  # the whole, one aspect, the other side


class Detail(StrEnum):
    """How much is to be said of an aspect."""

    BRIEF = "brief"
    FULL = "full"


class Aspect(Struct, frozen=True, kw_only=True):
    """One side of a subject: its name, the words that are searched with the subject, and how much to say of it."""

    name: str
    words: str
    detail: Detail = Detail.BRIEF


LEVELS: Mapping[str, Mapping[Detail, str]] = {
    "zh": {Detail.BRIEF: "简要", Detail.FULL: "详细"},
    "en": {Detail.BRIEF: "in brief", Detail.FULL: "in detail"},
}
_ZH = (
    Aspect(name="定义与概念", words="定义 概念"),
    Aspect(name="机制/原理", words="机制 原理", detail=Detail.FULL),
    Aspect(name="对比/异同", words="对比 异同"),
    Aspect(name="现状/应用", words="现状 应用"),
    Aspect(name="争议/局限", words="争议 局限"),
)
_EN = (
    Aspect(name="definition and concepts", words="definition concepts"),
    Aspect(name="mechanism and principles", words="mechanism principles", detail=Detail.FULL),
    Aspect(name="comparison and differences", words="comparison differences"),
    Aspect(name="present state and applications", words="present state applications"),
    Aspect(name="controversies and limitations", words="controversies limitations"),
)
_ACCOUNTS_ZH = tuple(
    Aspect(name=each, words=each)
    for each in ("营业收入", "归母净利润", "每股收益", "ROE", "同比变动")
)
_ACCOUNTS_EN = (
    Aspect(name="revenue", words="revenue"),
    Aspect(name="net profit", words="net profit"),
    Aspect(name="earnings per share", words="earnings per share"),
    Aspect(name="return on equity", words="return on equity"),
    Aspect(name="change on the year", words="year-on-year change"),
)
_DEFAULT = {"zh": _ZH, "en": _EN}
_ACCOUNTS = {"zh": _ACCOUNTS_ZH, "en": _ACCOUNTS_EN}
NAMES = frozenset(
    each.name for sets in (_DEFAULT, _ACCOUNTS) for one in sets.values() for each in one
)
_ASKS_ACCOUNTS = re.compile(
    r"财报|年报|季报|财务(?:报告|报表|业绩)|营收|净利润"
    r"|\b(?:annual|quarterly) (?:results|earnings)\b|\b(?:financial|earnings) (?:results|reports?|statements?)\b",
    re.IGNORECASE,
)


def asks_accounts(text: str) -> bool:
    """Check that a question is about the accounts of a company."""
    return _ASKS_ACCOUNTS.search(text) is not None


def aspects_of(tier: Tier, language: str, *, accounts: bool = False) -> tuple[Aspect, ...]:
    """Return the default aspects of a research: none below L2, at L3 all in detail. `language`: zh or en."""
    if tier not in {Tier.L2, Tier.L3}:
        return ()
    found = (_ACCOUNTS if accounts else _DEFAULT)[language]
    if tier is Tier.L3:
        return tuple(replace(each, detail=Detail.FULL) for each in found)
    return found


def by_aspects(text: str, tier: Tier, width: int) -> Decomposition | None:
    """Return the whole question with its default aspects, in at most `width` leaves; None where they do not apply.

    They do not when the question names parts of its own (a comparison, a chain, facets), nor when it asks for one
    checkable value, which has no aspects. A cut leaves the other side in, which a search for coverage must have.
    """
    language = "zh" if has_han(text) else "en"
    accounts = asks_accounts(text)
    aspects = aspects_of(tier, language, accounts=accounts)
    is_value = read_tier(text, read_intent(text).intent).tier is Tier.L0
    if not aspects or width < _LEAST_WIDTH or is_value:
        return None
    whole = decompose(text, width).questions[0]
    if whole.dimension != WHOLE:
        return None  # it names parts of its own
    subject = subject_of(text)
    # Of a subject at large the last aspect is what is held against it; figures have no such side of their own.
    ahead = aspects if accounts else aspects[:-1]
    leaves = [(whole.text, WHOLE), *((f"{subject} {each.words}", each.name) for each in ahead)]
    kept = leaves[: width - 1]
    questions = [
        SubQuestion(id=f"q{at}", text=words, dimension=name)
        for at, (words, name) in enumerate(kept, 1)
    ]
    other = contrary_question(text, len(kept) + 1)
    if not accounts:
        other = replace(other, dimension=aspects[-1].name)
    is_cut = len(kept) < len(leaves)
    return Decomposition(
        pattern="aspects",
        questions=(*questions, other),
        original=len(leaves) + 1,
        note=cut_note(len(leaves) + 1, len(kept) + 1) if is_cut else "",
    )


def aspect_note(questions: Iterable[SubQuestion], tier: Tier) -> str:
    """Return which default aspects a plan looks at and how much is to be said of each; empty when there are none."""
    dimensions = {each.dimension for each in questions}
    said = [
        f"{each.name} ({LEVELS[language][each.detail]})"
        for language in LEVELS
        for accounts in (False, True)
        for each in aspects_of(tier, language, accounts=accounts)
        if each.name in dimensions
    ]
    return f"aspects: {'; '.join(said)}" if said else ""
