"""The section `search`: wrong figures are refused by name, before anything runs."""

from typing import Any

import pytest
from pydantic import ValidationError
from signal_search.contracts.search_plan import SearchIntent

from infra.settings import load


def section(**changes: Any) -> dict[str, Any]:
    return load().search.model_dump(mode="json") | changes


def weights(**changes: Any) -> dict[str, Any]:
    return section()["weights"] | changes


@pytest.mark.parametrize(
    ("changes", "where"),
    [
        ({"per_source": 0}, "per_source"),
        ({"per_source": 101}, "per_source"),
        ({"domain_boost": 1.1}, "domain_boost"),
        ({"domain_boost": float("nan")}, "domain_boost"),
        ({"unknown": 1}, "unknown"),
        (
            {"weights": weights(news={"keyword": 0.5, "freshness": 0.5, "authority": 0.5})},
            "weights.news",
        ),
        (
            {"weights": weights(news={"keyword": -0.5, "freshness": 1.0, "authority": 0.5})},
            "weights.news.keyword",
        ),
        ({"weights": weights(other=weights()["news"])}, "weights.other"),
    ],
)
def test_wrong_figures_are_refused_by_name(changes: dict[str, Any], where: str) -> None:
    with pytest.raises(ValidationError) as caught:
        load(search=section(**changes))
    places = [".".join(map(str, each["loc"])) for each in caught.value.errors()]
    assert any(place.startswith(f"search.{where}") for place in places)


def test_what_is_not_given_stays_as_it_was() -> None:
    changed = load(search={"weights": {"news": {"keyword": 0.2, "freshness": 0.7}}}).search
    assert changed.weights[SearchIntent.NEWS].model_dump() == {
        "keyword": 0.2,
        "freshness": 0.7,
        "authority": 0.1,
    }
    assert changed.weights[SearchIntent.STATUS] == load().search.weights[SearchIntent.STATUS]
