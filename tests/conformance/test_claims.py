"""Verification against the case file of the original and against labelled data, where those are at hand."""

import json
import os
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
from signal_search.contracts.document import Document
from signal_search.contracts.finding import Claim, Verdict

from scoring.claims.evaluation import Report, evaluate, metrics
from scoring.claims.faithfulness import uncertainties
from scoring.claims.findings_text import citation_issues, statement_part
from scoring.claims.rules import VerifyRules
from scoring.claims.split import statements
from scoring.claims.verdict import verify_all

ROOT = Path(__file__).parents[2]
CASES = Path(os.environ.get("CONFORMANCE_DIR", ROOT / "../shared/data/conformance")) / "signal.json"
CLAIMS = Path(os.environ.get("CLAIMS_DIR", ROOT / "../shared/data/claims"))
AREAS = ("m51", "claim_text", "uncertainties", "citation_check")


def _m51(given: dict[str, Any]) -> dict[str, Any]:
    documents = [
        Document(
            doc_id=source["url"], url=source["url"], title="", text=source.get("text") or source["snippet"],
            source_id="given", site=source["url"], fetched_at_ms=0,
        )
        for source in given["sources"]
    ]  # fmt: skip
    texts = [each.text for each in statements(statement_part(given["findings"]))]
    return {
        "verdicts": [
            _pair(each)
            for each in verify_all(texts, documents, own_doc_ids=set(), rules=VerifyRules())
        ]
    }


def _pair(claim: Claim) -> list[str | None]:
    spans = claim.supporting or claim.contradicting
    return [str(claim.verdict), spans[0].url if spans else None]


def _claim_text(given: dict[str, Any]) -> dict[str, Any]:
    kept = statement_part(given["findings"])
    sources_at = given["findings"].rfind("来源：\n")
    whole = given["findings"][:sources_at].removeprefix("先答：").strip()
    return {"facts_from": kept == whole}


def _uncertainties(given: dict[str, Any]) -> dict[str, Any]:
    claims = [
        Claim(text=each["fact"], verdict=Verdict(each["verdict"]), reason=each.get("reason", ""))
        for each in given["verdicts"]
    ]
    found = uncertainties(claims)
    return {
        "uncertainties": [
            {"fact": each.text, "source": each.url or None, "reason": each.reason} for each in found
        ]
    }


def _citation_check(given: dict[str, Any]) -> dict[str, Any]:
    issues = citation_issues(given["findings"], set(given["source_urls"]))
    return {"issues": [{"type": each.type, "url": each.url} for each in issues]}


FUNCTIONS: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
    "m51": _m51,
    "claim_text": _claim_text,
    "uncertainties": _uncertainties,
    "citation_check": _citation_check,
}


def _cases() -> Sequence[Any]:
    if not CASES.is_file():
        return [
            pytest.param({}, marks=pytest.mark.skip(reason="no signal.json: set CONFORMANCE_DIR"))
        ]
    cases = json.loads(CASES.read_text())["cases"]
    return [pytest.param(case, id=case["id"]) for case in cases if case["area"] in AREAS]


@pytest.mark.parametrize("case", _cases())
def test_case(case: dict[str, Any]) -> None:
    expected = dict(case["expect"])
    if case["area"] == "claim_text":
        expected = {"facts_from": True}  # the file describes the part in words
    assert FUNCTIONS[case["area"]](case["input"]) == expected


def _rows(pattern: str) -> list[dict[str, str]]:
    files = sorted(CLAIMS.glob(pattern))
    if not files:
        pytest.skip("no labelled claims: set CLAIMS_DIR")
    return [
        {"set": path.parent.name, **json.loads(line)}
        for path in files
        for line in path.read_text().splitlines()
    ]


def _share(reports: Sequence[Report], label: str, verdict: str) -> float:
    asked = sum(report["n"] for report in reports)  # type: ignore[misc]
    said = sum(report["said"][verdict] for report in reports)  # type: ignore[index,misc]
    assert asked >= 50, f"too few {label} to measure"
    return float(said / asked)


CORRUPTED = ("number", "negation", "antonym", "entity-other", "entity-swap")


@pytest.mark.timeout(120)
@pytest.mark.parametrize(
    ("language", "corrupted", "verbatim"),
    [("en", 0.02, 0.83), ("zh", 0.04, 0.87)],
)
def test_constructed_pairs(language: str, corrupted: float, verbatim: float) -> None:
    """Bars of the constructed set; false TRUE and lost TRUE together, so that neither is bought with the other."""
    rows = [row for row in _rows("perturb-en-zh/*.jsonl") if row["lang"] == language]
    of = {name.rsplit("/", 1)[1]: report for name, report in evaluate(rows).items()}
    assert (
        _share([of[each] for each in CORRUPTED if each in of], "corruptions", "TRUE") <= corrupted
    )
    assert _share([of["verbatim"]], "verbatim", "TRUE") >= verbatim
    for absent in ("other-page", "same-page-missing"):
        assert _share([of[absent]], absent, "TRUE") == 0
    assert of["someone_elses_evidence"]["said_true"] == 0
    assert (
        _share([of[each] for each in ("number", "negation", "antonym")], "conflicts", "FALSE")
        >= 0.85
    )


@pytest.mark.timeout(120)
def test_natural_claims() -> None:
    """What people and models wrote: hardly ever TRUE, but right when it is."""
    files = ("vitaminc-400/*.jsonl", "fm2/fm2_*.jsonl", "wice/*.jsonl")  # codespell:ignore wice
    rows = [row for each in files for row in _rows(each)]
    pooled = evaluate([{**row, "set": "natural", "orig": ""} for row in rows])
    found = pooled["natural/en"]
    assert found["said"]["TRUE"] >= 10  # type: ignore[index]
    assert found["precision_true"] >= 0.93  # type: ignore[operator]
    assert found["true_given_false"] <= 0.005  # type: ignore[operator]
    assert pooled["natural/en/someone_elses_evidence"]["said_true"] == 0


@pytest.mark.timeout(120)
def test_chinese_answers() -> None:
    found = evaluate(_rows("cmrc-verify-zh/*.jsonl"))["cmrc-verify-zh/zh"]
    assert found["precision_true"] >= 0.95  # type: ignore[operator]
    assert found["coverage_true"] >= 0.39  # type: ignore[operator]
    assert found["precision_false"] >= 0.85  # type: ignore[operator]


def test_a_metric_counts_what_it_says() -> None:
    assert metrics([("TRUE", Verdict.TRUE), ("FALSE", Verdict.TRUE)])["precision_true"] == 0.5
