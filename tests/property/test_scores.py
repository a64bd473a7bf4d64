"""What must hold for every document and every state of evidence, not only for the examples."""

from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from signal_search.contracts.document import Document
from signal_search.contracts.query import Intent, SourcePrefs, Tier
from signal_search.contracts.result import Stop

from scoring.confidence import ConfidenceParts, confidence_of
from scoring.copies import copy_groups, independent_sites, unique
from scoring.passages import best_passages, estimate_tokens
from scoring.rank import rank
from scoring.relevance import variants_of, words_of
from scoring.saturation import saturation_of
from scoring.sba import Asked, SbaRules, score
from scoring.stop_rule import Arrival, Evidence, QuestionEvidence, StopRules, decide
from tests.fakes.builders import a_document
from workers.planning.entities import split_entities
from workers.planning.identifiers import find_identifiers
from workers.planning.intent import read_intent
from workers.planning.override import split_override
from workers.planning.tier import read_tier

# The first example of a run loads the Chinese dictionary, which takes longer than any deadline.
patient = settings(deadline=None)

SHARES = st.floats(0, 1)
WORDS = st.sampled_from(
    [
        "zinc",
        "boils",
        "water",
        "海拔",
        "高度",
        "事务",
        "lock",
        "at",
        "907",
        "degrees",
        "best!",
        "buy",
        "now",
        "广告",
    ]
)
TEXTS = st.lists(WORDS, max_size=40).map(" ".join)
DATES = st.sampled_from(
    ["", "1999", "2024-02", "2024-02-30", "2026-09-20", "3000-01-01", "nonsense"]
)
TYPES = st.sampled_from(
    ["gov", "academic", "media", "vendor", "reference", "forum", "selfmedia", "internal", "unknown"]
)
RULES = SbaRules(
    weights={
        "credibility": 0.35,
        "relevance": 0.30,
        "recency": 0.15,
        "authority": 0.15,
        "bias": 0.05,
    },
    credibility={"gov": 0.95, "academic": 0.9, "forum": 0.4},
    bias={"gov": 0.1, "forum": 0.6, "selfmedia": 0.7},
    half_life_days={"fact": 1460.0, "latest": 7.0},
)


@st.composite
def documents(draw: st.DrawFn) -> list[Document]:
    count = draw(st.integers(0, 6))
    return [
        a_document(
            doc_id=str(at),
            url=f"https://s{draw(st.integers(0, 3))}.example/{at}",
            site=f"s{at % 3}.example",
            title=draw(TEXTS),
            text=draw(TEXTS),
            published=draw(DATES),
            date_kind="meta",
            source_type=draw(TYPES),
            retracted=draw(st.booleans()),
            doi=draw(st.sampled_from(["", "10.1/a", "10.1/b"])),
        )
        for at in range(count)
    ]


def asked(question: str, intent: Intent = Intent.FACT, **prefs: Any) -> Asked:
    return Asked(
        variants=variants_of(question),
        intent=intent,
        now_ms=1_790_000_000_000,
        prefs=SourcePrefs(**prefs),
    )


@patient
@given(documents(), TEXTS, st.sampled_from(Intent))
def test_components_are_shares_and_the_sum_is_theirs(
    found: list[Document], question: str, intent: Intent
) -> None:
    for each in found:
        record = score(each, words_of(each), asked(question, intent), RULES)
        parts = [
            record.credibility,
            record.relevance,
            record.recency,
            record.authority,
            record.bias,
        ]
        assert all(0.0 <= part.value <= 1.0 and part.reason for part in parts)
        by_hand = (
            0.35 * record.credibility.value
            + 0.30 * record.relevance.value
            + 0.15 * record.recency.value
            + 0.15 * record.authority.value
            + 0.05 * (1 - record.bias.value)
        )
        assert abs(record.weighted - by_hand) <= 0.5001e-4


@patient
@given(documents(), TEXTS)
def test_boost_never_lowers_and_never_leaves_the_scale(
    found: list[Document], question: str
) -> None:
    for each in found:
        plain = score(each, words_of(each), asked(question), RULES).weighted
        boosted = score(each, words_of(each), asked(question, boost=(each.site,)), RULES).weighted
        assert plain <= boosted <= 1.0


@patient
@given(documents(), TEXTS, st.randoms(use_true_random=False))
def test_rank_does_not_depend_on_the_order_of_arrival(
    found: list[Document], question: str, dice: Any
) -> None:
    shuffled = list(found)
    dice.shuffle(shuffled)
    here, there = rank(found, asked(question), RULES), rank(shuffled, asked(question), RULES)
    assert [each.document.url for each in here.kept] == [each.document.url for each in there.kept]
    accounted = {each.document.doc_id for each in here.kept} | {
        *here.blocked,
        *here.irrelevant,
        *here.copies,
    }
    assert accounted == {each.doc_id for each in found}


@patient
@given(documents())
def test_keeping_one_of_each_is_idempotent(found: list[Document]) -> None:
    once = unique(found)
    assert unique(once) == once
    groups = copy_groups(found)
    assert all(groups[group] == group <= at for at, group in enumerate(groups))
    assert independent_sites(found) <= len({each.site for each in found})


@patient
@given(st.text(max_size=200), TEXTS, st.integers(0, 60))
def test_passages_are_bytes_of_the_text_within_the_limit(
    text: str, question: str, limit: int
) -> None:
    document = a_document(text=f"{text} {question}. {text}")
    spans = best_passages(question, document, limit)
    raw = document.text.encode("utf-8", "surrogatepass")
    assert all(
        raw[each.start : each.end].decode("utf-8", "surrogatepass") == each.quote for each in spans
    )
    assert sum(estimate_tokens(each.quote) for each in spans) <= limit


PARTS = st.builds(
    ConfidenceParts,
    weights=st.lists(SHARES, max_size=6).map(tuple),
    agreement=SHARES,
    verified=SHARES,
    coverage=SHARES,
    freshness=SHARES,
)


@patient
@given(PARTS, st.sampled_from(["agreement", "verified", "coverage", "freshness"]), SHARES)
def test_confidence_is_monotone_in_every_part(
    parts: ConfidenceParts, name: str, other: float
) -> None:
    low, high = sorted([getattr(parts, name), other])
    with_low = confidence_of(structs.replace(parts, **{name: low})).value
    with_high = confidence_of(structs.replace(parts, **{name: high})).value
    assert 0.0 <= with_low <= with_high <= 1.0


@patient
@given(PARTS.filter(lambda each: each.weights), st.integers(0, 5), SHARES)
def test_confidence_is_monotone_in_the_weights(
    parts: ConfidenceParts, at: int, other: float
) -> None:
    weights = list(parts.weights)
    at %= len(weights)
    low, high = sorted([weights[at], other])
    values = [
        confidence_of(
            structs.replace(parts, weights=(*weights[:at], each, *weights[at + 1 :]))
        ).value
        for each in (low, high)
    ]
    assert values[0] <= values[1] <= round(max(*weights, high) + 0.0005, 4)


EVIDENCE = st.builds(
    Evidence,
    tier=st.sampled_from(Tier),
    questions=st.lists(
        st.builds(
            QuestionEvidence,
            question_id=st.just("q"),
            sites=st.integers(0, 4),
            agreeing=st.integers(0, 4),
            pending=st.integers(0, 2),
            is_contrary=st.booleans(),
        ),
        max_size=4,
    ).map(tuple),
    arrivals=st.lists(
        st.builds(Arrival, new=st.integers(0, 2), round=st.integers(1, 3), failed=st.booleans()),
        max_size=8,
    ).map(tuple),
    finds=st.lists(st.integers(0, 5), max_size=8).map(tuple),
    sites=st.integers(0, 5),
    left=st.dictionaries(st.sampled_from(["tokens", "calls", "fetches"]), st.integers(-1, 3)),
    outstanding=st.integers(0, 2),
    unmade=st.integers(0, 2),
    rounds=st.integers(1, 3),
    deadline_passed=st.booleans(),
    cancelled=st.booleans(),
)


@patient
@given(EVIDENCE)
def test_stop_says_why_and_narrow_tiers_are_never_cut(evidence: Evidence) -> None:
    found = decide(evidence, StopRules())
    assert 0.0 <= found.coverage <= 1.0
    assert 0.0 <= found.saturation <= 1.0
    if isinstance(found, Stop):
        assert found.text
        assert found.would_have
        assert not (found.exhausted and evidence.tier in {Tier.L0, Tier.L1})
    else:
        assert evidence.outstanding or evidence.unmade
        assert not evidence.deadline_passed


def _patient(arrivals: int) -> StopRules:
    return StopRules(
        quiet_arrivals=arrivals, quiet_arrivals_wide=arrivals, saturated_arrivals=arrivals
    )


@patient
@given(EVIDENCE.filter(lambda each: not each.cancelled), st.integers(1, 5))
def test_more_patience_never_stops_earlier(evidence: Evidence, patience: int) -> None:
    strict, loose = _patient(patience + 1), _patient(patience)
    if isinstance(decide(evidence, strict), Stop):
        assert isinstance(decide(evidence, loose), Stop)


@patient
@given(EVIDENCE)
def test_failures_alone_never_look_like_saturation(evidence: Evidence) -> None:
    failed = tuple(structs.replace(each, failed=True, new=0) for each in evidence.arrivals)
    found = decide(structs.replace(evidence, arrivals=failed, finds=()), StopRules())
    assert not isinstance(found, Stop) or found.reason.value not in {"nothing_new", "saturated"}


@patient
@given(st.lists(st.integers(0, 9), max_size=30))
def test_estimates_are_shares_and_never_exceed_either_estimate(counts: list[int]) -> None:
    assert 0.0 <= saturation_of(counts).value <= 1.0


@patient
@given(st.text(max_size=300))
def test_reading_never_fails_and_never_changes(text: str) -> None:
    reading = read_intent(text)
    assert read_intent(text) == reading
    assert read_tier(text, reading.intent).reason
    again = split_override(split_override(text).query) if not split_override(text).tier else None
    assert again is None or again == split_override(text)
    for each in find_identifiers(text):
        assert each.value
    assert len(set(split_entities(text))) == len(split_entities(text))
