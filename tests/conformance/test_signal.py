"""The behaviour that the design document promises, case by case (CONFORMANCE_DIR/signal.json)."""

import json
import re
import tomllib
from collections.abc import Callable
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import pytest
from msgspec import convert
from signal_search.citations import export
from signal_search.client import Client
from signal_search.client.confirming import answered
from signal_search.client.references import as_names, reference_files
from signal_search.client.vault import Vault
from signal_search.contracts.document import Author, Document
from signal_search.contracts.query import Constraints, Intent, Tier
from signal_search.contracts.result import CitedSource, Stop, StopReason
from signal_search.contracts.source import Reply, SourceQuery, SourceView

from budget.policy import forecast
from infra.settings import DEFAULTS, load
from scoring.authority import authority
from scoring.bias import bias
from scoring.closure import Anchor, is_research_closed
from scoring.confidence import ConfidenceParts, confidence_of
from scoring.copies import simhash, unique
from scoring.credibility import credibility, source_type_of
from scoring.passages import estimate_tokens
from scoring.rank import is_opposing
from scoring.recency import recency
from scoring.relevance import relevance, variants_of
from scoring.sba import SbaRules, weighted
from scoring.stop_rule import Arrival, Evidence, QuestionEvidence, StopRules, decide
from scoring.stop_texts import TEXTS
from scoring.text import tokens
from tests.conformance.cases import FOLDER, Case, deviations, params
from tests.fakes.drafting import Drafting
from tests.fakes.results import a_result
from workers.fetching.redaction import redact
from workers.fetching.robots import parse
from workers.fetching.walls import is_login_address
from workers.planning.aspects import LEVELS, asks_accounts, aspects_of
from workers.planning.choose_sources import MOST_SOURCES, choose_sources
from workers.planning.decompose import decompose
from workers.planning.intent import needs_clarification, read_intent
from workers.planning.override import ordered_tier, split_override
from workers.planning.tier import read_tier
from workers.planning.topics import topics_of
from workers.registry import Registry, Source

SETTINGS = tomllib.loads(DEFAULTS.read_text())
RULES = convert(SETTINGS["sba"], SbaRules)
STOP = convert(SETTINGS["stop"], StopRules)
GOLDEN = FOLDER.parent / "signal"


def _document(**changes: Any) -> Document:
    values = {"doc_id": "", "url": "", "title": "", "text": "", "source_id": "", "site": ""}
    return Document(**{**values, "fetched_at_ms": 0, **changes})


# --- planning ---------------------------------------------------------------------------------------------------------


def check_tier(given: Case, expect: Case) -> None:
    required = given["constraints"].get("required_tier")
    ordered = ordered_tier(None, None, Tier(required) if required else None)
    reading = read_tier(given["query"], read_intent(given["query"]).intent, ordered)
    assert reading.tier == expect["tier"]
    assert (reading.reason == "用户指定") is (required is not None)


def check_override(given: Case, expect: Case) -> None:
    found = split_override(given["text"])
    assert (found.query, found.tier) == (expect["query"], expect["tier"])


def check_depth(given: Case, expect: Case) -> None:
    assert ordered_tier(None, given["depth"], None) == expect["tier"]


def check_intent(given: Case, expect: Case) -> None:
    reading = read_intent(given["query"])
    clarify = needs_clarification(reading.confidence, SETTINGS["planning"]["clarify_below"])
    found = {
        "intent": reading.intent,
        "confidence": reading.confidence,
        "need_clarify": clarify,
        "granularity": "single" if reading.intent in {Intent.FACT, Intent.HOWTO} else "multi",
    }
    assert {name: found[name] for name in expect} == expect


def check_plan(given: Case, expect: Case) -> None:
    split = decompose(given["query"], given.get("width_cap", 8))
    if "leaves" in expect:
        leaves = [
            {"q": each.text, "depends_on": list(each.depends_on), "dimension": each.dimension}
            for each in split.questions
        ]
        assert leaves == [{name: each[name] for name in leaves[0]} for each in expect["leaves"]]
    if "entities" in expect:
        assert list(split.entities) == expect["entities"]
    if "leaf_count" in expect:
        assert len(split.questions) == expect["leaf_count"]
    if "original_leaf_count" in expect:
        assert split.original == expect["original_leaf_count"]
        assert str(split.original) in split.note or not expect.get("truncated_note")
    if "truncated_note" in expect:
        assert bool(split.note) is expect["truncated_note"]


def check_topics(given: Case, expect: Case) -> None:
    assert topics_of(given["query"]) == expect


def _seed_sources() -> list[SourceView]:
    """Return the design document's own rows as sources: those it asks without a key or a server of one's own."""
    path = GOLDEN / "sources.json"
    if not path.is_file():
        pytest.skip("no sources.json beside the case files")
    rows = json.loads(path.read_text())["sources"]
    keyless = [row for row in rows if row["access"] != "keyed" and row["id"] != "SearxNG"]
    return [_view(row) for row in keyless]


def _view(row: Case) -> SourceView:
    return SourceView(
        id=row["id"],
        name=row["name"],
        kind="api",
        category=row["category"],
        languages=(),
        topics=tuple(
            each for each in row["topics"] if each != row["category"] or each == "cn_official"
        ),
        access="open",
        enabled=True,
        key_present=None,
        constraints=(),
        terms="",
    )


def check_route(given: Case, expect: Case) -> None:
    """The choice over the document's own rows; over ours it differs, since we close what cannot be asked."""
    sources = _seed_sources()
    assert len(sources) == 60
    choice = choose_sources(
        topics_of(given["query"]),
        sources,
        Constraints(),
        language="zh",
        cap=MOST_SOURCES,
        shared=lambda _: False,
    )
    assert list(choice.ids) == expect["selected"]
    assert len(choice.ids) == expect["count"]


def check_custom_source(given: Case, expect: Case) -> None:
    sources = load().sources.model_dump() | {"custom": [given["config"]]}
    source = Registry(load(sources=sources)).source(given["config"]["id"])
    (request,) = source.adapter.build(SourceQuery(text=given["query"]))
    assert request.url == expect["request_url"]
    body = json.dumps(given["response"]).encode()
    reply = Reply(url=request.url, status=200, content_type="", body=body, text="", fetched_at_ms=0)
    found = [
        _as_seed_document(each, source) for each in source.adapter.parse(request, reply).documents
    ]
    assert found == expect["docs"]


def _as_seed_document(document: Document, source: Source) -> Case:
    """Return a document in the design document's terms: what it says of the row stands in the row here."""
    return {
        "url": document.url,
        "title": document.title,
        "snippet": document.text.removeprefix(document.title).strip(),
        "source_type": document.source_type,
        "quality": source.row.quality,
        "engine": document.source_id,
        "category": source.row.category,
        "clean_source": source.row.access != "closed",
        "landing_resolved": not document.record,
    }


def check_budget_default(given: Case, expect: Case) -> None:
    limits = SETTINGS["tiers"][given["tier"]]
    assert limits["tokens"] == expect["budget"]
    assert limits["max_sources"] == expect["max_sources"]
    assert forecast(limits["tokens"]) == expect["estimate"]


def _golden(name: str) -> tuple[float, float]:
    path = GOLDEN / name
    if not path.is_file():
        pytest.skip(f"no {name} beside the case files")
    rows = json.loads(path.read_text())["rows"]
    readings = [(row, read_intent(row["query"])) for row in rows]
    tiers = [
        read_tier(row["query"], each.intent).tier == row["expected_tier"] for row, each in readings
    ]
    intents = [each.intent == row["intent"] for row, each in readings]
    return sum(tiers) / len(rows), sum(intents) / len(rows)


def check_golden_tier(given: Case, expect: Case) -> None:
    tiers, intents = _golden(given["set"])
    assert tiers >= expect["tier_accuracy_at_least"]
    assert intents >= 0.85


# --- scoring ----------------------------------------------------------------------------------------------------------


def check_source_type(given: Case, expect: Case) -> None:
    assert source_type_of(given["url"]) == expect["source_type"]


def check_sba(given: Case, expect: Case) -> None:
    document = _document(source_type=given["source_type"], published=given["published"] or "")
    values = {
        "credibility": credibility(document, RULES.credibility).value,
        "relevance": given["relevance"],
        "recency": recency(document, Intent.FACT, 0, RULES.half_life_days).value,
        "authority": authority(document, RULES.credibility).value,
        "bias": bias(document, RULES.bias).value,
    }
    assert values | {"weighted": weighted(values, RULES.weights)} == expect


def check_sba_formula(given: Case, expect: Case) -> None:
    assert weighted(given, RULES.weights) == expect["weighted"]


def check_relevance(given: Case, expect: Case) -> None:
    value = relevance(variants_of(given["query"]), tokens(given["snippet"])).value
    if "value" in expect:
        assert value == expect["value"]
    else:
        assert value > expect["greater_than"]


def check_dedupe(given: Case, expect: Case) -> None:
    documents = [
        _document(doc_id=str(at), url=each["url"], text=each.get("snippet") or each.get("text", ""))
        for at, each in enumerate(given["docs"])
    ]
    assert [each.url for each in unique(documents)] == expect["kept_urls"]


def check_simhash(given: Case, expect: Case) -> None:
    value = simhash(given["text"])
    assert value == expect.get("value", value)
    assert f"{value:016x}" == expect.get("hex", f"{value:016x}")


def check_token_estimate(given: Case, expect: Case) -> None:
    assert estimate_tokens(given["text"]) == expect["tokens"]


def check_confidence(given: Case, expect: Case) -> None:
    """The design document's mean of the weights is what ours gives when nothing is lacking."""
    parts = ConfidenceParts(
        weights=tuple(given["weighted"]), agreement=1, verified=1, coverage=1, freshness=1
    )
    assert confidence_of(parts).value == expect["confidence"]


def check_conflict(given: Case, expect: Case) -> None:
    found = is_opposing(given["weighted"], RULES.preferences.conflict_ratio)
    assert found is expect["opposing_label"]


# --- stopping ---------------------------------------------------------------------------------------------------------


def _evidence(given: Case) -> Evidence:
    """Rounds of URLs as arrivals: what is new in each is what no earlier round brought."""
    rounds = [*given["history"], given["new"]]
    known: set[str] = set()
    arrivals = []
    for number, each in enumerate(rounds, 1):
        urls = {item["url"] for item in each}
        fresh = len(urls - known)
        arrivals.append(Arrival(new=fresh, fresh=fresh, round=number))
        known |= urls
    return Evidence(
        tier=Tier(given["tier"]),
        questions=(QuestionEvidence(question_id="q1"),),
        arrivals=tuple(arrivals),
        left={"tokens": 0 if given.get("budget_hit") else 1},
        unmade=1,
        rounds=len(rounds),
        max_rounds=len(rounds) + 1,
        gap_closed=bool(given.get("coverage_closed")),
        judged_enough=bool(given.get("llm_enough") or given.get("enough")),
    )


def check_stop(given: Case, expect: Case) -> None:
    found = decide(_evidence(given), STOP, "zh")
    assert isinstance(found, Stop) is expect["stop"]
    assert (found.text if isinstance(found, Stop) else "") == expect["reason"]
    assert (found.exhausted if isinstance(found, Stop) else False) is expect["exhausted"]


def check_stop_trace(given: Case, expect: Case) -> None:
    assert set(TEXTS) == set(StopReason)
    assert all(each["zh"] and each["en"] for each in TEXTS.values())
    for tier in Tier:
        found = decide(Evidence(tier=tier), STOP, "zh")
        assert isinstance(found, Stop)
        assert found.text


def check_budget(given: Case, expect: Case) -> None:
    left = {"tokens": given["budget"] - given["used"]}
    found = decide(Evidence(tier=Tier.L0, left=left, unmade=1), STOP)
    is_over = isinstance(found, Stop) and found.reason is StopReason.BUDGET_NARROW
    assert is_over is expect["over"]


# --- citations, personal data ----------------------------------------------------------------------------------------


def _cited(given: Case) -> tuple[CitedSource, ...]:
    """Return the design document's sources as a result cites them: each address once, named by what is known of it."""
    first = {each["url"]: each for each in reversed(given["sources"])}
    kept = [each for each in given["sources"] if first.pop(each["url"], None) is not None]
    return tuple(_source(number, each) for number, each in enumerate(kept, 1))


def _source(number: int, given: Case) -> CitedSource:
    known = given.get("citation", {})
    family, _, name = known.get("authors", "").partition(", ")
    return CitedSource(
        number=number,
        doc_id=str(number),
        url=given["url"],
        title=given.get("title") or given.get("snippet") or given["url"],
        source_id="given",
        site="",
        source_type="unknown",
        authors=(Author(family=family, given=name),) if family else (),
        published=known.get("year", ""),
        doi=known.get("doi", ""),
        work_type="journal-article" if known.get("doi") else "",
    )


def check_cite_markdown(given: Case, expect: Case) -> None:
    """The same references in the same order; ours name authors and date as well, and link by address."""
    lines = export(a_result(sources=_cited(given), scores=()), "markdown").splitlines()
    for wanted in expect["lines"]:
        number, title, url = re.fullmatch(r"(\d+)\. \[(.*)\]\((.*)\)", wanted).groups()  # type: ignore[union-attr]
        (line,) = [each for each in lines if each.startswith(f"{number}. ")]
        assert title in line
        assert line.endswith(f"<{url}>")
    assert sum(re.match(r"\d+\. ", each) is not None for each in lines) == len(expect["lines"])


def check_cite_noteexpress(given: Case, expect: Case) -> None:
    text = export(a_result(sources=_cited(given)), "noteexpress")
    records = text.strip().split("\n\n")
    assert len(records) == expect["records"]
    assert records[0].splitlines()[: len(expect["first_lines"])] == expect["first_lines"]


def check_pii(given: Case, expect: Case) -> None:
    """What is personal goes, whatever stands in its place; what is not stays to the letter."""
    found = redact(given["text"])
    assert (found == given["text"]) is expect.get("unchanged", False)
    if "text" in expect:
        hidden = re.split(r"[\d*@]+", expect["text"])
        assert re.sub(r"\[\w+#\d+\]", "", found) == "".join(hidden)


# --- walls, robots.txt -------------------------------------------------------------------------------------------------


def check_loginwall(given: Case, expect: Case) -> None:
    """No address is a wall by its words alone; the ones that only look like it are kept."""
    if expect["skip"]:
        pytest.skip(deviations("signal")["loginwall/skip"])
    assert is_login_address(given["url"]) is False


def check_robots_serp_exempt(given: Case, expect: Case) -> None:
    if expect["exempt"]:
        pytest.skip(deviations("signal")["robots_serp_exempt/exempt"])
    assert not parse(b"User-agent: *\nDisallow: /").check("SignalSearch", given["url"]).allowed


# --- research ---------------------------------------------------------------------------------------------------------


def check_research_schema(given: Case, expect: Case) -> None:
    aspects = aspects_of(Tier(given["tier"]), "zh", accounts=asks_accounts(given.get("query", "")))
    assert [
        {"name": each.name, "detail_level": LEVELS["zh"][each.detail]} for each in aspects
    ] == expect["schema"]


def check_research_closure(given: Case, expect: Case) -> None:
    sources = [Anchor(each.get("url", ""), each.get("text", "")) for each in given["evidence"]]
    assert is_research_closed(given["schema"], sources) is expect["closed"]


def check_research_hitl(given: Case, expect: Case) -> None:
    """That the job which drafts an outline asks no source, contract/test_research_outline.py shows on the real one."""
    if "answer" in given:
        said = answered(given["answer"])
        assert (said and said.cancelled) == expect["cancelled"]
        return
    transport = Drafting()
    with TemporaryDirectory() as folder:
        found = Client(transport=transport).research_outline("Tea", vault=folder)  # type: ignore[arg-type]
        assert (Path(folder) / expect["outline_file"]).read_text() == found.outline
    assert found.needs_confirm is expect["needs_confirm"]
    assert found.iterations == expect["iterations"]
    assert len(transport.answered) == expect["retrieve_calls"]
    assert len(transport.cancelled) == len(transport.submitted)


def check_vault_export(given: Case, expect: Case) -> None:
    files = reference_files(as_names(given["export_citations"]))
    with TemporaryDirectory() as folder:
        Vault(Path(folder)).keep_references(a_result(), files)
        assert [each.name for each in Path(folder).iterdir()] == [expect["file_written"]]


# --- the table --------------------------------------------------------------------------------------------------------

CHECKS: dict[str, Callable[[Case, Case], None]] = {
    "tier": check_tier,
    "override": check_override,
    "depth": check_depth,
    "intent": check_intent,
    "plan": check_plan,
    "topics": check_topics,
    "route": check_route,
    "custom_source": check_custom_source,
    "budget_default": check_budget_default,
    "golden_tier": check_golden_tier,
    "golden_tier_en": check_golden_tier,
    "source_type": check_source_type,
    "sba": check_sba,
    "sba_formula": check_sba_formula,
    "relevance": check_relevance,
    "dedupe": check_dedupe,
    "simhash": check_simhash,
    "token_estimate": check_token_estimate,
    "confidence": check_confidence,
    "conflict": check_conflict,
    "stop": check_stop,
    "stop_trace": check_stop_trace,
    "budget": check_budget,
    "cite_markdown": check_cite_markdown,
    "cite_noteexpress": check_cite_noteexpress,
    "pii": check_pii,
    "loginwall": check_loginwall,
    "robots_serp_exempt": check_robots_serp_exempt,
    "research_schema": check_research_schema,
    "research_closure": check_research_closure,
    "research_hitl": check_research_hitl,
    "vault_export": check_vault_export,
}
LATER: dict[str, str] = {
    "m51": "run by test_claims.py",
    "claim_text": "run by test_claims.py",
    "uncertainties": "run by test_claims.py",
    "citation_check": "run by test_claims.py",
}


@pytest.mark.parametrize("case", params("signal.json", functions=CHECKS, later=LATER))
def test_signal(case: Case) -> None:
    assert case["area"] in CHECKS, f"unknown area {case['area']}"
    given = case["input"]
    CHECKS[case["area"]](given, case["expect"])


def test_unknown_area_fails() -> None:
    with pytest.raises(AssertionError, match="unknown area"):
        test_signal({"area": "horoscope", "input": {}, "expect": {}})


def test_later_areas_have_no_function_and_a_reason() -> None:
    assert not set(LATER) & set(CHECKS)
    assert all(LATER.values())
