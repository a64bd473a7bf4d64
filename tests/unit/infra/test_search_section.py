"""The settings of search: the guide's bounds hold at both ends, and a model is there when all three parts are."""

import pytest
from pydantic import ValidationError

from infra.settings import Settings, load

BOUNDS = [
    ("scorer_generation_max_concurrency", 1, 32),
    ("scorer_search_max_concurrency", 1, 64),
    ("scorer_generation_timeout", 1, 120),
    ("scorer_generation_max_tokens", 64, 4096),
    ("scorer_generation_total_tokens", 1024, 65_536),
    ("scorer_generation_max_response_bytes", 1024, 262_144),
]


def search(**changes: object) -> Settings:
    return load(search=changes)


@pytest.mark.parametrize(("name", "least", "most"), BOUNDS)
def test_bounds_are_inclusive_and_firm(name: str, least: int, most: int) -> None:
    for good in (least, most):
        assert getattr(search(**{name: good}).search, name) == good
    for bad in (least - 1, most + 1, float("nan"), float("inf"), -float("inf"), "nan", None, []):
        with pytest.raises(ValidationError):
            search(**{name: bad})


def test_half_a_request_is_no_figure() -> None:
    with pytest.raises(ValidationError):
        search(scorer_generation_max_tokens=100.5)


WHOLE = {"agent_base_url": " http://127.0.0.1:11434/v1 ", "agent_model": "m", "agent_api_key": "k"}


def test_a_model_is_whole_when_all_three_are_there() -> None:
    assert search(**WHOLE).search.has_model
    for name in WHOLE:
        assert not search(**{**WHOLE, name: " \t"}).search.has_model


def test_generation_and_the_older_uses_have_switches_of_their_own() -> None:
    assert not search(**WHOLE, agent_enabled=True).search.generates
    assert search(**WHOLE, scorer_generation_enabled=True).search.generates
    assert not search(scorer_generation_enabled=True).search.generates


def test_a_nested_table_is_read_as_the_flat_names() -> None:
    nested = {"base_url": "https://a.example", "model": "m", "api_key": "k"}
    read = search(agent=nested).search
    assert (read.agent_base_url, read.agent_model) == ("https://a.example", "m")
    assert read.has_model
    assert search(agent=nested, agent_model="flat").search.agent_model == "flat"
    with pytest.raises(ValidationError):
        search(agent={"temperature": 1})


@pytest.mark.parametrize(
    "url",
    [
        "ftp://a.example",
        "a.example/v1",
        "https://",
        "https://user@a.example",
        "https://user:pw@a.example/v1",
        "https://a.example/v1?key=1",
        "https://a.example/v1#x",
        "https://a.example/a b",
    ],
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ValidationError):
        search(agent_base_url=url)


@pytest.mark.parametrize("key", ["two words", "line\nbreak", "钥匙"])
def test_a_key_that_cannot_stand_in_a_header(key: str) -> None:
    with pytest.raises(ValidationError) as caught:
        search(agent_api_key=key)
    assert key not in str(caught.value.errors(include_input=False))


def test_the_key_shows_nowhere() -> None:
    assert "sk-1234" not in repr(search(agent_api_key="sk-1234"))
