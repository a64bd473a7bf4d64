"""What reads texts that nobody vouches for: it refuses in its own words or answers, whatever comes."""

from datetime import date
from typing import Any

import msgspec
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_plan import Target
from signal_search.contracts.judging import ChoiceQuestion, NoulCriteria, NoulQuestion
from signal_search.errors import Invalid

from scoring.screening.dates import date_status, inferred_window, published_day
from scoring.screening.groups import normal_form, site_of
from scoring.screening.pages import read_cursor
from scoring.screening.queries import candidate_queries, explicit_tokens
from scoring.screening.round_pool import pool_limit, quotas
from scoring.screening.targets import targets_of
from scoring.screening.url_key import url_key
from workers.screening.answers import read_answers
from workers.screening.texts import EXCERPT_CHARS, TEXT_CHARS, count_words, excerpt_of, snippet_of

TODAY = date(2026, 8, 1)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=8), inner, max_size=4)
    ),
    max_leaves=12,
)
PIECES = st.sampled_from(
    [
        "http://",
        "https://",
        "www.",
        "e.com",
        "x.com",
        "/status/12",
        "/A%20b/",
        "?utm_source=a",
        "&ref=1",
        "?q=@x",
        "#f",
        "@",
        ":8080",
        "[::1]",
        "名",
        " ",
    ]
)
ADDRESSES = st.lists(PIECES, max_size=7).map("".join)
NAMES = st.sampled_from(["questions", "keywords", "tasks", "intent", "cursor", "page_size", "x"])


@given(ADDRESSES)
def test_a_key_of_an_address_is_its_own_key(url: str) -> None:
    key = url_key(url)
    assert url_key(key) == key
    site_of(url)


@given(st.text(max_size=80))
def test_dates_of_any_text_are_read_or_not(text: str) -> None:
    window = inferred_window(text, TODAY)
    assert window is None or window.start <= window.end
    assert published_day(published_day(text)) == published_day(text)
    assert date_status(window, published=text, text=text) in {
        "not_required",
        "eligible",
        "outside_window",
        "unknown",
    }


@given(st.text(min_size=1, max_size=60), st.lists(st.text(min_size=1, max_size=10), max_size=4))
def test_every_query_keeps_what_must_not_be_lost(text: str, keywords: list[str]) -> None:
    found = candidate_queries(
        text=text, context="", acceptance="", keywords=keywords, facts=(), window=None
    )
    assert found
    assert len(found) == len(set(found))
    assert all(token in query for query in found for token in explicit_tokens(text))


@given(st.dictionaries(NAMES, JSON, max_size=4))
def test_any_input_is_taken_or_refused_with_a_field(given_input: dict[str, Any]) -> None:
    fault: Invalid | None = None
    try:
        request = msgspec.convert(given_input, AdaptiveRequest)
        targets = targets_of(request, TODAY)
    except msgspec.ValidationError:
        return
    except Invalid as error:
        fault = error
    if fault is not None:
        assert fault.code == "invalid_input"
        assert fault.field
        return
    assert 1 <= sum(len(each.origins) for each in targets) <= 12


QUESTIONS = {
    "src.e1.relevance": NoulQuestion(instructions="", criteria=NoulCriteria(yes="", no="")),
    "kw.q1.0": ChoiceQuestion(instructions="", criteria={"continue": "", "satisfied": ""}),
}
ANSWERS = st.dictionaries(
    st.sampled_from([*QUESTIONS, "other"]),
    st.one_of(
        JSON,
        st.fixed_dictionaries(
            {"type": st.sampled_from(["noul", "choice", "text"])},
            optional={
                "noul": JSON,
                "choice": st.sampled_from(["continue", "satisfied", "never"]) | JSON,
                "confidence": JSON,
                "probabilities": JSON,
            },
        ),
    ),
)


@given(ANSWERS)
def test_answers_are_known_or_unknown_and_all_are_counted(raw: dict[str, Any]) -> None:
    said = read_answers(QUESTIONS, raw)
    assert all(0 <= each <= 1 for each in said.nouls.values())
    assert all(each.choice in {"continue", "satisfied"} for each in said.choices.values())
    assert len(said.nouls) + len(said.choices) + said.invalid + said.strange == len(raw)


@given(st.text(max_size=60))
def test_a_cursor_is_one_or_is_refused(text: str) -> None:
    try:
        place = read_cursor(text)
    except Invalid:
        return
    assert text == f"{place.set_id}.{text.rsplit('.', 1)[1]}"


@given(st.integers(0, 500), st.lists(st.integers(0, 4), min_size=1, max_size=12))
def test_quotas_add_up_and_are_fair(limit: int, counts: list[int]) -> None:
    found = quotas(limit, counts)
    assert sum(found) == limit
    shares = [max(1, each) for each in counts]
    exact = [limit * each / sum(shares) for each in shares]
    assert all(abs(part - own) < 1 + 1e-9 for part, own in zip(found, exact, strict=True))


@given(st.integers(0, 48), st.integers(0, 48))
def test_the_pool_of_a_round_stays_within_its_bounds(still_open: int, total: int) -> None:
    found = pool_limit(open_keywords=still_open, keywords=total, most=500, least=24)
    assert found == 0 or 24 <= found <= 500
    assert (found == 0) == (still_open == 0 or total == 0)


@settings(deadline=None)
@given(st.text(max_size=3000))
def test_texts_are_cut_from_what_was_given_and_never_longer_than_their_bound(text: str) -> None:
    target = Target(id="q1", text="tidal power", keywords=("array",))
    assert len(snippet_of(text)) <= EXCERPT_CHARS
    excerpt = excerpt_of(text, target)
    assert len(excerpt) <= TEXT_CHARS
    plain = " ".join(text.split())
    assert all(part in plain for part in excerpt.split("\n"))
    assert count_words(text) >= 0
    assert normal_form(normal_form(text)) == normal_form(text)


@pytest.mark.parametrize(
    ("text", "words"), [("", 0), ("two words", 2), ("四个汉字", 3), ("a 中", 2)]
)
def test_words_of_two_scripts(text: str, words: int) -> None:
    assert count_words(text) == words  # 4 / 1.6 = 2.5, 1 / 1.6 = 0.625, rounded up
