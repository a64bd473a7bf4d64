"""What the design document promises of an answer, on whole results: scores with reasons, preferences, sides by weight."""

from typing import Any

import pytest
from signal_search.contracts.document import Document
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs, Tier
from signal_search.contracts.result import Result

from infra.settings import load
from tests.fakes.builders import a_document, a_job, a_log, finished, queued, started, stopped
from workers.pipeline.publish import publish
from workers.pipeline.rules import snapshot
from workers.pipeline.state import fold

RULES = snapshot(load())
WEIGHTS = {"credibility": 0.35, "relevance": 0.30, "recency": 0.15, "authority": 0.15, "bias": 0.05}
NAMES = ("credibility", "relevance", "recency", "authority", "bias")
GOV = a_document(
    doc_id="gov", url="https://data.survey.gov/ansel", site="survey.gov", source_type="gov",
    text="By the survey of 2001, Mount Ansel is 2,114 metres high above the sea.", published="2024-03-01",
)  # fmt: skip
BLOGS = tuple(
    a_document(
        doc_id=f"blog{number}", url=f"https://walks{number}.net/ansel", site=f"walks{number}.net",
        source_type="selfmedia", title=f"Walk {number}", published="2019-05-02",
        text=f"By the survey of 2001, Mount Ansel is 2,014 metres high above the sea. {said}",
    )
    for number, said in ((1, "We liked the huts."), (2, "Bring good boots and water."), (3, "Buses leave at noon."))
)  # fmt: skip
PRIVATE = a_document(
    doc_id="own", url="https://wiki.corp.example/ansel", site="corp.example", source_id="corpwiki", source_type="internal",
    text="Mount Ansel is 2,114 metres high; our station stands at 1,900 metres.", published="2025-01-10",
)  # fmt: skip
PLAIN = a_document(
    doc_id="plain", url="https://peaks.example/ansel", site="peaks.example", source_id="web", source_type="unknown",
    text="Mount Ansel is 2,114 metres high; our station stands at 1,900 metres.", published="2025-01-10",
)  # fmt: skip


def published(*documents: Document, prefs: SourcePrefs | None = None, **plan: Any) -> Result:
    calls = (PlannedCall(id="q1.one", source_id="one", question_id="q1"),)
    request = RetrieveRequest(
        query="How high is Mount Ansel?",
        constraints=Constraints(source_prefs=prefs or SourcePrefs()),
    )
    ids = [each.doc_id for each in documents]
    log = a_log(
        started("q1.one", 1), queued("q1.one#1"), finished("q1.one#1", *ids), stopped(*ids),
        job=a_job(request=request), **{"calls": calls, "max_sources": 8, "tier": Tier.L2, **plan},
    )  # fmt: skip
    return publish(fold(log), {each.doc_id: each for each in documents}, RULES)


def test_every_score_has_its_five_components_and_its_sum_each_with_a_reason() -> None:
    result = published(GOV, *BLOGS, PRIVATE)
    assert [each.url for each in result.scores] == [each.url for each in result.sources]
    for score in result.scores:
        parts = {name: getattr(score, name) for name in NAMES}
        assert all(0 <= each.value <= 1 and each.reason for each in parts.values())
        good = {name: each.value for name, each in parts.items()} | {"bias": 1 - score.bias.value}
        assert score.weighted == pytest.approx(sum(WEIGHTS[n] * good[n] for n in NAMES), abs=6e-5)
        assert score.weighted_reason


def test_a_private_source_is_scored_as_any_other_of_no_known_kind() -> None:
    """The same page on a private wiki and on an unlisted site: the same components, whoever asks."""
    (own,), (other,) = published(PRIVATE).scores, published(PLAIN).scores
    assert [getattr(own, name).value for name in ("relevance", "recency", "credibility")] == [
        getattr(other, name).value for name in ("relevance", "recency", "credibility")
    ]
    assert own.weighted == other.weighted


def test_a_private_source_is_cited_beside_public_ones_and_can_lead() -> None:
    weak = BLOGS[0]
    cited = [each.source_id for each in published(PRIVATE, weak).sources]
    assert cited[0] == "corpwiki"
    assert len(cited) == 2


@pytest.mark.parametrize("name", ["survey.gov", "DATA.survey.gov", "https://www.survey.gov/x"])
def test_block_and_boost_go_by_the_registrable_domain(name: str) -> None:
    blocked = published(GOV, PRIVATE, prefs=SourcePrefs(block=(name,)))
    assert [each.site for each in blocked.sources] == ["corp.example"]
    plain, boosted = published(GOV), published(GOV, prefs=SourcePrefs(boost=(name,)))
    assert boosted.scores[0].weighted == min(1.0, round(plain.scores[0].weighted + 0.1, 4))
    assert "preferred by the caller" in boosted.scores[0].weighted_reason
    other = published(GOV, prefs=SourcePrefs(boost=("notsurvey.gov",), block=("vey.gov",)))
    assert other.scores == plain.scores


def test_a_conflict_is_weighed_and_not_counted() -> None:
    """Three blogs against one office: the office is the stronger side everywhere, the other is shown and labelled."""
    result = published(*BLOGS, GOV)
    assert result.conflicts
    for each in result.conflicts:
        assert each.stronger.url == GOV.url
        assert each.stronger_weight > each.weaker_weight
    assert result.answer.split("\n\n")[0].count("2,114") == 1
    assert "*An opposing view exists (weaker source)* — " in result.answer
    assert "2,014 metres" in result.answer


def test_the_order_in_which_sources_came_changes_nothing() -> None:
    assert published(*BLOGS, GOV).conflicts == published(GOV, *BLOGS).conflicts


def test_a_retracted_work_is_flagged_wherever_it_is_seen() -> None:
    withdrawn = a_document(
        doc_id="w", url="https://journal.example/ansel", site="journal.example", source_type="academic",
        text="Mount Ansel is 2,114 metres high.", retracted=True,
    )  # fmt: skip
    result = published(withdrawn)
    assert [each.retracted for each in result.sources] == [True]
    assert result.scores[0].credibility.value == 0
    assert any("retracted" in each for each in result.warnings)
    assert "**Retracted or withdrawn, do not rely on it**:" in result.answer


def test_no_claim_that_is_not_true_is_shown_without_being_named_as_open() -> None:
    result = published(*BLOGS, GOV)
    claims = [claim for finding in result.findings for claim in finding.claims]
    named = {each.text for each in result.uncertainties}
    assert {each.text for each in claims if each.verdict != "TRUE"} <= named
    assert result.claims_true == sum(each.verdict == "TRUE" for each in claims)
    assert result.faithfulness == pytest.approx(result.claims_true / result.claims_total)
