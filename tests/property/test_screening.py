"""The adaptive search's algebra: what must hold for every set of judged results, and values worked out by hand."""

from dataclasses import dataclass
from fractions import Fraction
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from msgspec.structs import replace

from scoring.screening.algebra import KeywordScore, Row, reading_value, score_keyword, shares
from scoring.screening.gates import is_eligible
from scoring.screening.groups import Text, source_groups
from scoring.screening.judgement import Judgement

TOPICS = ("f", "g", "h")
# Values around the gates, and anything else; None is "not known".
SHARES = st.one_of(
    st.sampled_from([0.0, 0.5, 0.5000001, 0.6, 0.6000001, 0.7, 0.7000001, 1.0]), st.floats(0, 1)
)
UNSURE = st.one_of(st.none(), SHARES)


@dataclass(frozen=True)
class Case:
    rows: list[Row]
    topics: dict[str, float]
    has_intent: bool

    def score(self, **changes: Any) -> KeywordScore:
        values = {
            "rows": self.rows,
            "topics": self.topics,
            "has_intent": self.has_intent,
            **changes,
        }
        return score_keyword("k", **values)


def a_row(number: int, site: int, judgement: Judgement) -> Row:
    """Texts without a shingle in common, so that only the site groups."""
    return Row(
        id=f"e{number}",
        url=f"https://site{site}.test/{number}",
        text=chr(0x4E00 + 50 * number) * 3,
        judgement=judgement,
    )


@st.composite
def judgements(draw: st.DrawFn) -> Judgement:
    return Judgement(
        relevance=draw(UNSURE),
        reading_value=draw(UNSURE),
        injection=draw(st.one_of(st.just(0.02), UNSURE)),
        direction_match=draw(UNSURE),
        keywords={"k": draw(UNSURE)},
        topics={each: draw(UNSURE) for each in TOPICS},
    )


@st.composite
def cases(draw: st.DrawFn) -> Case:
    said = draw(st.lists(judgements(), max_size=7))
    rows = [a_row(at, draw(st.integers(0, 4)), each) for at, each in enumerate(said)]
    names = draw(st.lists(st.sampled_from(TOPICS), unique=True))
    topics = {each: draw(st.floats(0.1, 100)) for each in names}
    return Case(rows, topics, draw(st.booleans()))


def parts(score: KeywordScore) -> tuple[float, ...]:
    return (score.best, score.coverage, score.repeated, score.score)


def not_below(after: KeywordScore, before: KeywordScore) -> bool:
    return all(new >= old - 1e-12 for new, old in zip(parts(after), parts(before), strict=True))


def sites_only(rows: list[Row]) -> list[str]:
    return [each.url.split("/")[2] for each in rows]


# --- bounds -----------------------------------------------------------------------------------------------------------


@given(cases())
def test_every_part_has_its_bounds_and_the_score_may_pass_one(case: Case) -> None:
    score = case.score()
    assert 0 <= score.best <= 1
    assert 0 <= score.coverage <= 1 + 1e-12
    assert 0 <= score.repeated < 1
    assert 0 <= score.score < 1.25


@given(cases())
def test_the_smallest_match_is_no_trifle(case: Case) -> None:
    best = case.score().best
    assert best == 0 or best > (0.2 if case.has_intent else 0.25)


@given(cases())
def test_repetition_is_bounded_by_the_number_of_groups(case: Case) -> None:
    score = case.score()
    values = [
        reading_value(each.judgement, has_intent=case.has_intent) or 0.0 for each in case.rows
    ]
    most = max(values, default=0.0) * (1 - 2 ** (1 - max(1, score.distinct)))
    assert score.repeated <= most + 1e-12
    assert score.repeated <= score.best * (1 - 2 ** (1 - max(1, score.distinct))) + 1e-12


# --- what changes nothing ---------------------------------------------------------------------------------------------


@given(cases(), st.randoms(use_true_random=False))
def test_order_changes_nothing(case: Case, random: Any) -> None:
    rows, names = list(case.rows), list(case.topics)
    random.shuffle(rows)
    random.shuffle(names)
    other = case.score(rows=rows, topics={each: case.topics[each] for each in names})
    assert parts(other) == pytest.approx(parts(case.score()), abs=1e-12)


@given(cases())
def test_repeats_change_nothing(case: Case) -> None:
    assert case.score(rows=case.rows * 3) == case.score()


@given(cases())
def test_what_fails_the_gate_does_not_matter_at_all(case: Case) -> None:
    assert (
        case.score(rows=[each for each in case.rows if is_eligible(each.judgement)]) == case.score()
    )


@given(cases())
def test_coverage_of_topics_is_the_same_for_every_keyword(case: Case) -> None:
    if case.topics:
        other = score_keyword("other", case.rows, case.topics, has_intent=case.has_intent)
        assert other.coverage == case.score().coverage


@given(cases())
def test_without_topics_the_keyword_is_the_topic(case: Case) -> None:
    score = case.score(topics={})
    assert score.coverage == score.best
    assert score.score == pytest.approx(1.15 * score.best + 0.1 * score.repeated)


@given(cases(), st.floats(0.01, 1000))
def test_only_the_ratio_of_topic_weights_counts(case: Case, factor: float) -> None:
    scaled = {name: weight * factor for name, weight in case.topics.items()}
    assert parts(case.score(topics=scaled)) == pytest.approx(parts(case.score()))


# --- what more brings -------------------------------------------------------------------------------------------------


@given(cases(), judgements())
def test_a_further_result_never_lowers_anything(case: Case, said: Judgement) -> None:
    # Of a site of its own: one that ties two groups together may lower R, as it should.
    rows = [*case.rows, a_row(90, 90, said)]
    assert not_below(case.score(rows=rows), case.score())


@given(cases(), st.data())
def test_a_higher_answer_never_lowers_anything(case: Case, data: st.DataObject) -> None:
    if not case.rows:
        return
    at = data.draw(st.integers(0, len(case.rows) - 1))
    field = data.draw(
        st.sampled_from(["relevance", "reading_value", "direction_match", "k", *TOPICS])
    )
    said, raised = case.rows[at].judgement, data.draw(st.floats(0, 1))

    def higher(old: float | None) -> float:
        return max(old or 0.0, raised)

    if field == "k":
        said = replace(said, keywords={"k": higher(said.keywords["k"])})
    elif field in TOPICS:
        said = replace(said, topics={**said.topics, field: higher(said.topics[field])})
    else:
        said = replace(said, **{field: higher(getattr(said, field))})
    rows = [*case.rows[:at], replace(case.rows[at], judgement=said), *case.rows[at + 1 :]]
    assert not_below(case.score(rows=rows), case.score())


@given(cases(), st.integers(0, 4), st.integers(0, 4))
def test_merging_groups_lowers_repetition_alone(case: Case, first: int, second: int) -> None:
    rows = [
        replace(each, url=each.url.replace(f"site{second}.", f"site{first}.")) for each in case.rows
    ]
    merged, apart = case.score(rows=rows), case.score()
    assert (merged.best, merged.coverage) == (apart.best, apart.coverage)
    assert merged.repeated <= apart.repeated + 1e-12
    assert case.score(rows=[replace(each, url="https://one.test/") for each in rows]).repeated == 0


@given(judgements(), st.dictionaries(st.sampled_from(TOPICS), st.floats(0.1, 9), min_size=1))
def test_the_first_result_of_a_new_topic_earns_coverage_only(
    said: Judgement, topics: dict[str, float]
) -> None:
    assert score_keyword("k", [a_row(1, 1, said)], topics, has_intent=True).repeated == 0


# --- intent -----------------------------------------------------------------------------------------------------------


@given(cases())
def test_an_intent_costs_a_fifth_at_most_and_never_raises(case: Case) -> None:
    without, within = case.score(has_intent=False), case.score(has_intent=True)
    assert not_below(without, within)
    assert all(
        new >= 0.8 * old - 1e-12 for new, old in zip(parts(within), parts(without), strict=True)
    )
    rows = [
        replace(each, judgement=replace(each.judgement, direction_match=1.0)) for each in case.rows
    ]
    aligned = case.score(rows=rows, has_intent=True)
    assert parts(aligned) == pytest.approx(parts(without), abs=1e-12)


@given(judgements(), UNSURE)
def test_direction_is_no_gate(said: Judgement, direction: float | None) -> None:
    assert is_eligible(replace(said, direction_match=direction)) == is_eligible(said)


@given(judgements(), st.sampled_from(["relevance", "reading_value", "injection"]))
def test_what_is_not_known_never_passes(said: Judgement, field: str) -> None:
    for value in (None, float("nan"), float("inf"), -0.1, 1.1):
        assert not is_eligible(replace(said, **{field: value}))


# --- against exact arithmetic -----------------------------------------------------------------------------------------


def exact(case: Case) -> tuple[Fraction, ...]:
    """A, F, R, S in fractions, straight from the guide's formulas, groups by site."""
    live = [each for each in case.rows if is_eligible(each.judgement)]

    def gated(value: float | None) -> Fraction:
        return Fraction(value) if value is not None and value > 0.5 else Fraction(0)

    def value_of(row: Row) -> Fraction:
        said = row.judgement
        least = min(Fraction(said.relevance or 0), Fraction(said.reading_value or 0))
        factor = Fraction(4, 5) + Fraction(1, 5) * Fraction(said.direction_match or 0)
        return least * factor if case.has_intent else least

    def of_keyword(row: Row) -> Fraction:
        return gated(row.judgement.keywords["k"])

    def of_topic(row: Row, topic: str) -> Fraction:
        return gated(row.judgement.topics[topic]) if topic in TOPICS else of_keyword(row)

    weights = {name: Fraction(each) for name, each in case.topics.items()} or {"": Fraction(1)}
    total = sum(weights.values())
    best = max((value_of(each) * of_keyword(each) for each in live), default=Fraction(0))
    coverage = repeated = Fraction(0)
    for topic, weight in weights.items():
        share = weight / total
        coverage += share * max(
            (value_of(e) * of_topic(e, topic) for e in live), default=Fraction(0)
        )
        by_group: dict[str, Fraction] = {}
        for row, site in zip(live, sites_only(live), strict=True):
            both = value_of(row) * min(of_keyword(row), of_topic(row, topic))
            by_group[site] = max(by_group.get(site, Fraction(0)), both)
        ranked = sorted(by_group.values(), reverse=True)
        repeated += share * sum(
            (each / 2**at for at, each in enumerate(ranked) if at), start=Fraction(0)
        )
    score = Fraction(1, 4) * best + Fraction(9, 10) * coverage + Fraction(1, 10) * repeated
    return best, coverage, repeated, score


@given(cases())
def test_the_formulas_hold_in_exact_arithmetic(case: Case) -> None:
    assert parts(case.score()) == pytest.approx([float(each) for each in exact(case)], abs=1e-12)


# --- by hand ----------------------------------------------------------------------------------------------------------


def said(u: float, m: float | None = 1.0, **changes: Any) -> Judgement:
    topics = changes.pop("topics", {})
    values = {
        "relevance": u,
        "reading_value": u,
        "injection": 0.0,
        "direction_match": 1.0,
        **changes,
    }
    return Judgement(keywords={"k": m}, topics=topics, **values)


def scored(*given: Judgement, topics: dict[str, float] | None = None, same: bool = False) -> Any:
    rows = [a_row(at, 0 if same else at, each) for at, each in enumerate(given)]
    return parts(score_keyword("k", rows, topics, has_intent=True))


EQUAL = {"f": 1.0, "g": 1.0}
TO_F, TO_G, TO_BOTH = {"f": 1.0}, {"g": 1.0}, {"f": 1.0, "g": 1.0}


@pytest.mark.parametrize(
    ("got", "expect"),
    [
        pytest.param(scored(), (0, 0, 0, 0), id="nothing"),
        pytest.param(scored(said(0.8)), (0.8, 0.8, 0, 0.92), id="one"),
        pytest.param(
            scored(said(0.8, relevance=0.9, direction_match=None)),
            (0.64, 0.64, 0, 0.736),
            id="direction unknown",
        ),
        pytest.param(
            scored(said(0.8, direction_match=0.5)), (0.72, 0.72, 0, 0.828), id="half a direction"
        ),
        pytest.param(scored(said(0.8, 0.5)), (0, 0, 0, 0), id="match at the gate"),
        pytest.param(scored(said(0.8, 0.51)), (0.408, 0.408, 0, 0.4692), id="match above it"),
        pytest.param(scored(said(0.8, injection=0.7)), (0.8, 0.8, 0, 0.92), id="risk at the gate"),
        pytest.param(scored(said(0.8, injection=0.7000001)), (0, 0, 0, 0), id="risk above it"),
        pytest.param(scored(said(0.8, relevance=0.6)), (0, 0, 0, 0), id="relevance at the gate"),
        pytest.param(scored(said(0.8, reading_value=0.5)), (0, 0, 0, 0), id="value at the gate"),
        pytest.param(scored(said(0.8), said(0.65)), (0.8, 0.8, 0.325, 0.9525), id="two groups"),
        pytest.param(scored(said(0.8), said(0.65), same=True), (0.8, 0.8, 0, 0.92), id="one group"),
        pytest.param(
            scored(said(0.8), said(0.65), said(0.65)), (0.8, 0.8, 0.4875, 0.96875), id="three"
        ),
        pytest.param(
            scored(said(0.8, topics=TO_F), said(0.65, topics=TO_G), topics=EQUAL),
            (0.8, 0.725, 0, 0.8525),
            id="a new topic each",
        ),
        pytest.param(
            scored(
                said(0.8, topics=TO_F),
                said(0.65, topics=TO_G),
                said(0.7, topics=TO_F),
                topics=EQUAL,
            ),
            (0.8, 0.725, 0.175, 0.87),
            id="and a topic again",
        ),
        pytest.param(
            scored(said(0.8, topics=TO_BOTH), topics=EQUAL), (0.8, 0.8, 0, 0.92), id="both topics"
        ),
        pytest.param(
            scored(said(0.8, 0.6, topics={"f": 0.9}), topics=TO_F),
            (0.48, 0.72, 0, 0.768),
            id="weak match, strong topic",
        ),
        pytest.param(
            scored(said(0.8, 0.4, topics={"f": 0.9}), topics=TO_F),
            (0, 0.72, 0, 0.648),
            id="a result of another keyword",
        ),
        pytest.param(
            scored(
                said(0.8, topics=TO_F), said(0.65, topics=TO_G), topics={"f": 300.0, "g": 100.0}
            ),
            (0.8, 0.7625, 0, 0.88625),
            id="weights three to one",
        ),
        pytest.param(scored(*[said(1.0)] * 5), (1, 1, 0.9375, 1.24375), id="five groups of 1"),
        pytest.param(
            scored(said(0.8, topics=TO_F), said(0.8, 0.6, topics=TO_F), topics=TO_F),
            (0.8, 0.8, 0.24, 0.944),
            id="the weaker match of both",
        ),
        pytest.param(
            scored(said(0.8, topics=TO_F), said(0.9, 0.5, topics=TO_F), topics=TO_F),
            (0.8, 0.9, 0, 1.01),
            id="coverage by another keyword's result",
        ),
        pytest.param(
            scored(
                said(0.9, 0.5, topics=TO_F),
                said(0.7, topics=TO_F),
                said(0.65, topics=TO_F),
                topics=TO_F,
            ),
            (0.7, 0.9, 0.325, 1.0175),
            id="the best group for both counts as first",
        ),
        pytest.param(
            scored(said(0.8, relevance=0.99, reading_value=0.55)),
            (0.55, 0.55, 0, 0.6325),
            id="the lesser of relevance and value",
        ),
    ],
)
def test_values_worked_out_by_hand(got: tuple[float, ...], expect: tuple[float, ...]) -> None:
    assert got == pytest.approx(expect, abs=1e-9)


def test_a_newer_review_replaces_and_may_lower() -> None:
    first, second = a_row(1, 1, said(0.9)), a_row(1, 1, said(0.65))
    score = score_keyword("k", [first, second], has_intent=True)
    assert parts(score) == pytest.approx((0.65, 0.65, 0, 0.7475))


@pytest.mark.parametrize("weights", [{"f": -1.0}, {"f": float("nan")}, {"f": 0.0, "g": 0.0}])
def test_weights_that_mean_nothing_are_refused(weights: dict[str, float]) -> None:
    with pytest.raises(ValueError, match="topic"):
        shares(weights)


# --- groups -----------------------------------------------------------------------------------------------------------

LETTERS = st.text(alphabet="abcdef ", min_size=0, max_size=60)


def by_pairs(texts: list[str]) -> list[set[int]]:
    """Groups by comparing all pairs, as the guide words it."""
    plain = ["".join(each.split()) for each in texts]
    runs = [{t[at : at + 5] for at in range(max(1, len(t) - 4))} if t else set() for t in plain]
    groups = [{at} for at in range(len(texts))]
    for a in range(len(texts)):
        for b in range(a):
            small, large = sorted((len(runs[a]), len(runs[b])))
            shared, both = len(runs[a] & runs[b]), len(runs[a] | runs[b])
            alike = small > 0 and small * 10 >= large * 9 and shared * 10 >= both * 9
            if alike or (plain[a] and plain[a] == plain[b]):
                joined = groups[a] | groups[b]
                for at in joined:
                    groups[at] = joined
    return groups


@given(st.lists(LETTERS, max_size=6), st.data())
def test_near_copies_are_found_as_by_comparing_all_pairs(
    texts: list[str], data: st.DataObject
) -> None:
    if texts:  # one more that differs from another by a letter
        chosen = data.draw(st.sampled_from(texts))
        texts.append(chosen + data.draw(st.sampled_from(["", "a", "ab"])))
    found = source_groups(
        [Text(url=f"https://s{at}.test/", text=each) for at, each in enumerate(texts)]
    )
    for first, group in enumerate(by_pairs(texts)):
        assert {at for at, root in enumerate(found) if root == found[first]} == group
