"""What a search's hits say together: layouts by number, topics, how sure a sentence sounds, and the text."""

from datetime import UTC, date, datetime

import pytest
from msgspec import convert, structs
from signal_search.contracts.hit import Hit, RankedHit
from signal_search.contracts.hit_synthesis import HitSynthesis
from signal_search.contracts.search_plan import SearchPlan

from infra.settings import load
from scoring.claims.rules import VerifyRules
from scoring.hit_merge import merge_hits
from scoring.hit_rank import HitQuestion, in_source_order, rank_hits
from scoring.hit_rules import HitRules
from workers.planning.search_plan import SearchOptions, plan_search
from workers.synthesis.hit_layout import layout_of
from workers.synthesis.hit_synthesis import synthesise
from workers.synthesis.hit_topics import topics_of_hits

SETTINGS = load()
RULES = convert(SETTINGS.search.model_dump(mode="json"), HitRules)
VERIFY = convert(SETTINGS.verify.model_dump(), VerifyRules)
NOW_MS = int(datetime(2026, 5, 28, tzinfo=UTC).timestamp() * 1000)
BRIDGE = "The Halden bridge was opened to traffic in 1931."


def plan(query: str) -> SearchPlan:
    return plan_search(
        [query], configured=("brave", "exa"), rules=RULES, now_ms=NOW_MS, options=SearchOptions()
    )


def hit(number: int, snippet: str, *, title: str = "", published: str = "", **more: object) -> Hit:
    url = f"https://site{number}.example/page"
    return Hit(  # type: ignore[call-arg]
        url=url,
        title=title or f"Page {number}",
        snippet=snippet,
        published=published,
        source_id="exa" if number % 2 else "brave",
        **more,
    )


def shown(*hits: Hit) -> tuple[RankedHit, ...]:
    return in_source_order(merge_hits([hits]))


def synthesis(query: str, *hits: Hit, model_answer: str = "") -> HitSynthesis:
    return synthesise(shown(*hits), plan(query), VERIFY, model_answer=model_answer)


@pytest.mark.parametrize(
    ("hits", "layout"),
    [(0, "empty"), (1, "list"), (5, "list"), (6, "topics"), (14, "topics"), (15, "overview")],
)
def test_layout_by_number(hits: int, layout: str) -> None:
    assert layout_of(hits) == layout


# --- how sure ---------------------------------------------------------------------------------------------------------


def test_several_sites_that_are_not_old_are_stated_plainly() -> None:
    found = synthesis(
        "when was the Halden bridge opened",
        hit(1, BRIDGE, published="2026-05-01"),
        hit(2, f"{BRIDGE} It has two towers."),
        hit(3, "Ferries were used before."),
    )
    assert found.answer is not None
    assert (found.answer.text, found.answer.hits) == (BRIDGE, (1, 2))
    assert found.answer.certainty == "stated"
    assert found.text.startswith(f"**Answer**: {BRIDGE} [1][2]\n\n1. [Page 1]")


@pytest.mark.parametrize(
    "hits",
    [
        (hit(1, BRIDGE),),
        (hit(1, BRIDGE, published="2019-01-01"), hit(2, BRIDGE, published="2020-01-01")),
    ],
    ids=["one site", "old"],
)
def test_one_site_or_old_ones_are_named(hits: tuple[Hit, ...]) -> None:
    found = synthesis("when was the Halden bridge opened", *hits)
    assert found.answer is not None
    assert found.answer.certainty == "attributed"
    assert found.text.startswith(f"**Answer**: According to site1.example, {BRIDGE} [1]")


def test_sites_that_disagree_are_both_heard() -> None:
    found = synthesis(
        "when was the Halden bridge opened",
        hit(1, BRIDGE),
        hit(2, BRIDGE.replace("1931", "1934")),
    )
    assert found.answer is not None
    assert found.answer.certainty == "disputed"
    [one] = found.disagreements
    assert (one.kind, one.one.hits, one.other.hits) == ("number", (1,), (2,))
    first = found.text.partition("\n")[0]
    assert first.startswith("**Answer**: There are different accounts: site1.example says")
    assert "1931" in first
    assert "1934" in first


@pytest.mark.parametrize("river_first", [True, False])
def test_the_page_of_the_thing_itself_answers(river_first: bool) -> None:
    """All words of the query may stand in a sentence about something else."""
    river = hit(
        1, "It rises at the foot of Mount Corvel at a height of 1,640 metres.", title="Corvel River"
    )
    mountain = hit(2, "Its height is 2,847 metres above mean sea level.", title="Mount Corvel")
    found = synthesis(
        "Mount Corvel height", *((river, mountain) if river_first else (mountain, river))
    )
    assert found.answer is not None
    assert found.answer.text == "Its height is 2,847 metres above mean sea level."


def test_chinese_questions_are_answered_in_chinese() -> None:
    found = synthesis("哈尔登大桥 通车 时间", hit(1, "哈尔登大桥于 1931 年通车。"))
    assert found.language == "zh"
    assert found.text.startswith("**先答**: 根据 site1.example，哈尔登大桥于 1931 年通车。 [1]")


def test_a_models_words_are_never_the_answer() -> None:
    found = synthesis(
        "when was the Halden bridge opened",
        hit(1, BRIDGE, by_model=True),
        model_answer="It was opened in 1931.",
    )
    assert found.answer is None
    assert "**A source's own answer (a model's words, not checked)**: It was opened" in found.text
    assert "(a model's words)" in found.text


def test_nothing_that_speaks_to_the_query_is_no_answer() -> None:
    found = synthesis("when was the Halden bridge opened", hit(1, "Tea is grown in Assam."))
    assert found.answer is None
    assert found.text.startswith("1. [Page 1]")


# --- of which time ----------------------------------------------------------------------------------------------------

OF_2024 = "The array delivered 71 gigawatt hours in 2024."
OF_MAY = "The array delivered 7.4 gigawatt hours in May."
OF_NO_TIME = "The array delivered 70 gigawatt hours."


@pytest.mark.parametrize(
    ("snippets", "answer"),
    [
        ((OF_2024, OF_MAY), OF_MAY),
        ((OF_MAY, OF_2024), OF_MAY),
        ((OF_NO_TIME, OF_MAY), OF_MAY),
        ((OF_2024, OF_NO_TIME), OF_NO_TIME),
        ((OF_2024,), None),
    ],
)
def test_a_sentence_of_another_time_is_no_answer(
    snippets: tuple[str, ...], answer: str | None
) -> None:
    hits = [hit(number, each) for number, each in enumerate(snippets, 1)]
    found = synthesis("how much the array delivered in May", *hits)
    assert (found.answer and found.answer.text) == answer
    assert all(each in found.text for each in snippets)


# --- by topic ---------------------------------------------------------------------------------------------------------


def test_topics_are_words_that_some_hits_share_and_the_query_does_not_have() -> None:
    hits = [
        hit(1, "", title="RISC-V vector extension"),
        hit(2, "", title="RISC-V in Linux"),
        hit(3, "", title="Vector code for RISC-V"),
        hit(4, "", title="Booting Linux on RISC-V"),
        hit(5, "", title="RISC-V at schools"),
        hit(6, "Kernels with Linux and vectors.", title="RISC-V boards"),
    ]
    merged = [each.hit for each in shown(*hits)]
    topics = topics_of_hits(merged, ("RISC-V",))
    assert [(each.label, each.hits) for each in topics] == [
        ("Linux", (2, 4, 6)),
        ("vector", (1, 3)),
        ("", (5,)),
    ]


def test_topics_do_not_follow_sources() -> None:
    hits = [hit(at, "", title=f"Tea {'green' if at < 4 else 'black'} {at}") for at in range(1, 8)]
    found = synthesis("tea", *hits)
    assert [each.label for each in found.topics] == ["black", "green"]
    assert {len(set(each.hits) & {1, 3, 5, 7}) > 0 for each in found.topics} == {True}
    assert "**black (4)**\n- [Tea black 4](https://site4.example/page) `[brave]`" in found.text


def test_an_overview_names_topics_shows_five_and_offers_more() -> None:
    hits = [
        hit(at, "", title=f"Tea {('green', 'black', 'white')[at % 3]} {at}") for at in range(16)
    ]
    found = synthesis("tea", *hits)
    assert found.layout == "overview"
    assert found.top == (1, 2, 3, 4, 5)
    assert found.text.startswith("Most of what was found is about green (6), black (5), white (5).")
    assert found.text.count("https://") == 5
    assert found.text.endswith(
        "16 results in all, from brave, exa. Which side should be looked into: green, black, white?"
    )


def test_empty_is_empty() -> None:
    assert synthesis("tea") == HitSynthesis(layout="empty", language="en", text="")


# --- form -------------------------------------------------------------------------------------------------------------


def test_scores_and_sources_stand_beside_each_hit() -> None:
    asked = plan("tea")
    question = HitQuestion(
        variants=("tea",), weights=asked.weights, today=date(2026, 5, 28), boost=()
    )
    ranked = rank_hits(
        merge_hits([[hit(1, "Green.", title="Tea", published="2026-05-28")]]), question
    )
    # By hand: .3 for all words, .2 for a page of today, .5 of .4 for an ordinary site.
    text = synthesise(ranked, asked, VERIFY).text
    assert text == "1. [Tea](https://site1.example/page) — Green. `[exa]` ⭐0.70"


def test_a_page_cannot_put_markup_into_the_text() -> None:
    evil = structs.replace(
        hit(
            1,
            "<script>x</script> [click](https://evil.example) **bold**",
            title="a](https://e.example) #",
        ),
        url="https://site1.example/a_(b)?x=)[y](z",
    )
    text = synthesis("tea", evil).text
    assert "<script>" not in text.replace("\\<script\\>", "")
    assert text.startswith(
        "1. [a\\](https://e.example) \\#](https://site1.example/a_%28b%29?x=%29[y]%28z)"
    )
