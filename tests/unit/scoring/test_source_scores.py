"""Each component of the SBA record against values worked out by hand."""

import pytest
from signal_search.contracts.document import Author, DateKind
from signal_search.contracts.query import Intent, SourcePrefs

from scoring.authority import IN_VENUE, PREPRINT, PRIMARY, REGISTERED, authority
from scoring.bias import bias, bias_signs
from scoring.credibility import credibility, source_type_of
from scoring.recency import epoch_day, recency
from scoring.relevance import corpus_of, relevance, variants_of, words_of
from scoring.sba import Asked, SbaRules, is_preferred, score, weighted
from scoring.text import tokens
from tests.fakes.builders import a_document

DAY_MS = 86_400_000
WEIGHTS = {"credibility": 0.35, "relevance": 0.30, "recency": 0.15, "authority": 0.15, "bias": 0.05}
TRUST = {
    "gov": 0.95,
    "academic": 0.9,
    "media": 0.85,
    "vendor": 0.7,
    "forum": 0.4,
    "selfmedia": 0.35,
}
BIAS = {"gov": 0.1, "academic": 0.1, "vendor": 0.3, "unknown": 0.5}
HALF_LIFE = {"fact": 1460.0, "latest": 7.0}
RULES = SbaRules(weights=WEIGHTS, credibility=TRUST, bias=BIAS, half_life_days=HALF_LIFE)


# --- types and credibility --------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("url", "kind"),
    [
        ("https://www.cdc.gov/flu", "gov"),
        ("https://www.gov.uk/tax", "gov"),
        ("http://www.stats.gov.cn/sj", "gov"),
        ("https://gov.cn/zhengce", "gov"),
        ("https://www.meti.go.jp/", "gov"),
        ("https://www.ox.ac.uk/", "academic"),
        ("https://web.mit.edu/", "academic"),
        ("https://pubs.acs.org/doi/1", "academic"),
        ("https://xueshu.baidu.com/s", "academic"),
        ("https://tieba.baidu.com/p/1", "forum"),
        ("https://baidu.com/", "unknown"),
        ("https://en.wikipedia.org/wiki/X", "reference"),
        ("https://www.sqlite.org/wal.html", "vendor"),
        ("https://www.reuters.com/world", "media"),
        ("https://mp.weixin.qq.com/s/1", "selfmedia"),
        # names that merely contain another name
        ("https://governance.org/x", "unknown"),
        ("https://example.com/?ref=gov", "unknown"),
        ("https://mygov.com/", "unknown"),
        ("https://arxiv.org.evil.example/", "unknown"),
        ("https://notarxiv.org/", "unknown"),
        ("https://edu.example.com/", "unknown"),
        ("https://startup.ac/", "unknown"),
        ("http://127.0.0.1:8000/gov", "unknown"),
    ],
)
def test_types_come_from_the_registered_name(url: str, kind: str) -> None:
    assert source_type_of(url) == kind


def test_declared_type_goes_before_the_address() -> None:
    document = a_document(url="https://example.org/", source_type="gov")
    assert credibility(document, TRUST).value == 0.95


def test_type_without_a_row_counts_half() -> None:
    assert credibility(a_document(source_type="internal"), TRUST).value == 0.5


def test_retracted_work_has_no_credibility_whatever_its_venue() -> None:
    document = a_document(source_type="academic", doi="10.1/x", container="Nature", retracted=True)
    found = credibility(document, TRUST)
    assert (found.value, "retracted" in found.reason) == (0.0, True)


# --- authority --------------------------------------------------------------------------------------------------------


def test_authority_and_credibility_of_a_preprint_differ() -> None:
    document = a_document(url="https://arxiv.org/abs/2401.00001", arxiv_id="2401.00001")
    assert credibility(document, TRUST).value == 0.9
    assert authority(document, TRUST).value == PREPRINT


@pytest.mark.parametrize(
    ("changes", "value"),
    [
        ({"url": "https://example.org/a"}, 0.5),
        ({"url": "https://example.org/a", "doi": "10.1/x"}, REGISTERED),
        ({"url": "https://example.org/a", "doi": "10.1/x", "container": "J. Tests"}, IN_VENUE),
        (
            {
                "url": "https://arxiv.org/abs/1",
                "doi": "10.1/x",
                "container": "J. Tests",
                "arxiv_id": "1",
            },
            IN_VENUE,
        ),
        ({"url": "https://www.who.int/x"}, PRIMARY),
        ({"url": "https://www.zhihu.com/question/1"}, 0.35),
    ],
)
def test_authority_rests_on_venue_and_place(changes: dict[str, str], value: float) -> None:
    assert authority(a_document(**changes), TRUST).value == value


# --- relevance --------------------------------------------------------------------------------------------------------


def test_relevance_without_corpus_is_the_share_of_words() -> None:
    assert (
        relevance(variants_of("red green blue grey"), tokens("a red and green thing")).value == 0.5
    )


def test_no_common_word_is_no_relevance() -> None:
    assert relevance(variants_of("mountain height"), tokens("a recipe for soup")).value == 0.0


def test_rare_words_weigh_more() -> None:
    lists = [tokens("mountain river"), tokens("mountain lake"), tokens("mountain road")]
    corpus = corpus_of(lists)
    asked = variants_of("mountain lake")
    with_rare = relevance(asked, lists[1], corpus).value
    with_common = relevance(asked, lists[0], corpus).value
    # idf mountain = ln(1 + .5 / 3.5) = .1335, lake = ln(1 + 2.5 / 1.5) = .9808
    assert with_rare == 1.0
    assert with_common == pytest.approx(0.1335 / (0.1335 + 0.9808), abs=1e-3)


def test_mention_in_a_long_document_counts_less() -> None:
    short, long = tokens("zinc boils"), tokens("zinc " + "filler words here " * 40)
    corpus = corpus_of([short, long, tokens("other thing")])
    asked = variants_of("zinc")
    assert relevance(asked, long, corpus).value < relevance(asked, short, corpus).value


def test_chinese_question_reads_an_english_page_through_its_terms() -> None:
    english = tokens("SQLite write-ahead log and concurrency")
    plain = variants_of("SQLite 预写日志 并发")
    with_terms = variants_of("SQLite 预写日志 并发", ("预写日志", "write-ahead log", "concurrency"))
    assert relevance(plain, english).value < 0.5
    assert relevance(with_terms, english).value == 1.0


def test_title_counts_as_text() -> None:
    document = a_document(title="Quasar", text="Nothing of it here.")
    assert relevance(variants_of("quasar"), words_of(document)).value == 1.0


# --- recency ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("published", "intent", "value"),
    [
        ("2024-01-01", Intent.LATEST, 1.0),
        ("2023-12-25", Intent.LATEST, 0.5),
        ("2023-12-18", Intent.LATEST, 0.25),
        ("2020-01-02", Intent.FACT, 0.5),
        ("2024-01-02", Intent.LATEST, 1.0),
    ],
)
def test_half_life_by_intent(published: str, intent: Intent, value: float) -> None:
    day = epoch_day("2024", "01", "01")
    assert day is not None
    document = a_document(published=published, date_kind="meta")
    assert recency(document, intent, day * DAY_MS, HALF_LIFE).value == value


@pytest.mark.parametrize("published", ["", "soon", "2024-13-01", "2031-01-01"])
def test_unknown_impossible_and_future_dates_are_half(published: str) -> None:
    document = a_document(published=published, date_kind="meta", fetched_at_ms=0)
    assert recency(document, Intent.FACT, 1_704_067_200_000, HALF_LIFE).value == 0.5


def test_last_modified_is_no_publication_date() -> None:
    document = a_document(published="2024-01-01", date_kind="header")
    assert recency(document, Intent.FACT, 1_704_067_200_000, HALF_LIFE).value == 0.5


@pytest.mark.parametrize(("kind", "said"), [("updated", "published"), ("modified", "last changed")])
def test_the_day_of_a_memory_or_a_file_counts_as_what_it_is(kind: DateKind, said: str) -> None:
    document = a_document(published="2020-01-02", date_kind=kind)
    found = recency(document, Intent.FACT, 1_704_067_200_000, HALF_LIFE)
    assert found.value == 0.5  # four years at a half-life of four
    assert found.reason.startswith(f"{said} 2020-01-02")


def test_epoch_day_fills_what_is_missing() -> None:
    assert epoch_day("1970", "01", "02") == 1
    assert epoch_day("1970", "01", None) == 14
    assert epoch_day("1970", None, None) == 181  # the first of July


# --- bias -------------------------------------------------------------------------------------------------------------


def test_signs_are_named_and_add_up() -> None:
    document = a_document(
        url="https://shop.example.org/",
        text="Sponsored: the ultimate, unbeatable gadget! Buy now! Contact us! Amazing! Wow!",
    )
    found = bias(document, BIAS)
    assert bias_signs(document) == (
        "advertising or affiliate wording",
        "superlatives",
        "self-promotion",
        "exclamation marks",
        "no author or date",
    )
    assert found.value == 1.0  # .5 + 5 * .1
    assert "superlatives" in found.reason


def test_sober_signed_text_has_its_class_value() -> None:
    document = a_document(
        url="https://example.org/",
        authors=(Author(family="Li"),),
        published="2024",
        text="Zinc boils at 907 C.",
    )
    assert bias(document, BIAS).value == 0.5


def test_one_mark_in_a_long_text_is_no_sign() -> None:
    document = a_document(record=True, text="Plain words. " * 300 + "Really!")
    assert bias_signs(document) == ()


def test_vendor_on_its_own_product() -> None:
    document = a_document(
        url="https://www.mongodb.com/compare",
        title="MongoDB against the rest",
        record=True,
        text="Facts.",
    )
    assert bias(document, BIAS).value == 0.4


# --- the record -------------------------------------------------------------------------------------------------------


def _asked(**changes: object) -> Asked:
    values = {
        "variants": variants_of("mount ansel"),
        "intent": Intent.FACT,
        "now_ms": 1_790_000_000_000,
    }
    return Asked(**{**values, **changes})  # type: ignore[arg-type]


def test_record_by_hand() -> None:
    document = a_document(source_type="gov", text="Mount Ansel is high.", record=True)
    found = score(document, words_of(document), _asked(), RULES)
    # .35 * .95 + .30 * 1 + .15 * .5 + .15 * .95 + .05 * .9
    assert found.weighted == 0.895
    parts = (found.credibility, found.relevance, found.recency, found.authority, found.bias)
    assert [each.value for each in parts] == [0.95, 1.0, 0.5, 0.95, 0.1]
    assert all(each.reason for each in parts)


def test_boost_adds_a_tenth_and_stops_at_one() -> None:
    document = a_document(source_type="gov", text="Mount Ansel is high.", record=True)
    boosted = _asked(prefs=SourcePrefs(boost=("EXAMPLE.org",)))
    found = score(document, words_of(document), boosted, RULES)
    assert found.weighted == 0.995
    assert "preferred" in found.weighted_reason
    by_source = _asked(prefs=SourcePrefs(boost=("one",)))
    rules = SbaRules(weights={"relevance": 1.0}, credibility={}, bias={}, half_life_days={})
    assert score(document, words_of(document), by_source, rules).weighted == 1.0


def test_preference_is_for_the_registrable_domain() -> None:
    document = a_document(url="https://docs.example.org/a", site="example.org")
    assert is_preferred(document, ("https://www.example.org/b",))
    assert not is_preferred(document, ("ample.org",))


def test_weighted_counts_absence_of_bias() -> None:
    values = dict.fromkeys(WEIGHTS, 0.0)
    assert weighted(values, WEIGHTS) == 0.05
    assert weighted(values | {"bias": 1.0}, WEIGHTS) == 0.0
