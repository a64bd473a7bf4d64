"""The search guide's tables, entry by entry: signal words, synonyms, bands of age, and the standing of sites."""

import json
from datetime import date, timedelta
from typing import Any

import pytest

from infra.settings import load
from scoring.hit_freshness import freshness_score
from scoring.site_authority import site_authority
from tests.conformance.cases import FOLDER
from workers.planning.search_intent import classify
from workers.planning.search_strategy import STRATEGIES
from workers.planning.search_words import synonyms_of
from workers.sources.grok import _OF_THE_DAY

TODAY = date(2026, 5, 28)
# How a signal is put where it is not simply said behind the subject.
_BETWEEN = {"vs", "还是", "compared to", " or "}
_BEFORE = {
    "what is",
    "define",
    "meaning",
    "what's new with",
    "how to",
    "getting started with",
    "about",
    "everything about",
}


def table(name: str) -> dict[str, Any]:
    path = FOLDER.parent / "search-layer" / name
    if not path.is_file():
        pytest.skip(f"no {name} beside the case files")
    found: dict[str, Any] = json.loads(path.read_text("utf-8"))
    return found


def said(signal: str) -> str:
    if "..." in signal:
        return signal.replace("...", "Deno")
    if signal in _BETWEEN:
        return f"Bun {signal.strip()} Deno"
    if signal == "difference between":
        return "difference between Bun and Deno"
    if signal in _BEFORE:
        return f"{signal} Deno"
    return f"Deno{signal}" if signal.startswith("的") else f"Deno {signal}"


def test_every_signal_word_tells_its_intent() -> None:
    rows = table("intents.json")["intents"]
    read = {
        (name, word): classify(said(word)).intent.value
        for name, row in rows.items()
        for word in (*row["zh"], *row["en"])
    }
    assert {key: found for key, found in read.items() if found != key[0]} == {}


def test_every_intent_is_searched_for_as_written() -> None:
    weights = load().search.weights
    for intent, strategy in STRATEGIES.items():
        row = table("intents.json")["intents"][intent.value]
        assert strategy.mode == row["mode"]
        assert list(strategy.freshness) == [each for each in row["freshness"] if each]
        assert weights[intent].model_dump() == row["weights"]


def test_every_synonym_is_known_by_its_first_form() -> None:
    for word, others in table("intents.json")["synonyms"].items():
        assert synonyms_of(f"{word} basics") == (others[0],)


def test_every_band_of_age() -> None:
    for days, score in table("intents.json")["freshness_bands_days"]:
        published = TODAY - timedelta(days=3650 if days is None else days)
        assert freshness_score(published.isoformat(), "", TODAY)[0] == score


def test_every_word_of_the_day() -> None:
    words = table("intents.json")["grok_time_words"]
    for word in (*words["zh"], *words["en"]):
        assert _OF_THE_DAY.search(f"Deno {word}"), word


def test_every_listed_site_has_the_highest_standing_of_its_steps() -> None:
    rows = table("authority-domains.json")
    highest: dict[str, float] = {}
    for name in ("tier1", "tier2", "tier3"):
        for site in rows[name]["domains"]:
            highest[site] = max(highest.get(site, 0.0), rows[name]["score"])
    found = {site: site_authority(f"https://{site}/x")[0] for site in highest}
    assert found == highest
    assert site_authority("https://unlisted.example/")[0] == rows["tier4_default_score"]


def test_every_pattern_of_hosts() -> None:
    for row in table("authority-domains.json")["pattern_rules"]:
        host = row["pattern"].replace("*", "unlisted.example" if "." in row["pattern"][:5] else "x")
        host = host if row["pattern"].endswith("*") else row["pattern"].replace("*", "unlisted")
        assert site_authority(f"https://{host}/")[0] == row["score"], row["pattern"]
