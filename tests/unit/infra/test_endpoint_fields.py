"""Addresses and keys of other people's endpoints: the same rules in every section that has them."""

import pytest
from pydantic import ValidationError

from infra.settings import load

FIELDS = (
    ("search", "agent_base_url", "agent_api_key"),
    ("adaptive", "judge_base_url", "judge_api_key"),
)


@pytest.mark.parametrize(("section", "address", "_key"), FIELDS)
@pytest.mark.parametrize(
    "wrong",
    [
        "ftp://a.example",
        "a.example",
        "https://u:p@a.example",
        "https://a.example/?q=1",
        "https://a.example/#x",
    ],
)
def test_an_address_is_refused_by_its_name(
    section: str, address: str, _key: str, wrong: str
) -> None:
    with pytest.raises(ValidationError) as caught:
        load(**{section: {address: wrong}})
    assert caught.value.errors()[0]["loc"] == (section, address)


@pytest.mark.parametrize(("section", "address", "_key"), FIELDS)
def test_blanks_around_an_address_do_not_count(section: str, address: str, _key: str) -> None:
    settings = load(**{section: {address: " https://a.example/v1 "}})
    assert getattr(getattr(settings, section), address) == "https://a.example/v1"


@pytest.mark.parametrize(("section", "_address", "key"), FIELDS)
def test_a_key_must_fit_into_a_header(section: str, _address: str, key: str) -> None:
    kept = getattr(getattr(load(**{section: {key: " abc "}}), section), key)
    assert kept.get_secret_value() == "abc"
    for wrong in ("a b", "schlüssel", "a\nb"):
        with pytest.raises(ValidationError) as caught:
            load(**{section: {key: wrong}})
        assert caught.value.errors()[0]["loc"] == (section, key)
