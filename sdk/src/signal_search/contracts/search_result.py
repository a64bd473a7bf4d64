"""What a search answers. `hits` and `results` are the same list under the names of the scorer and the search guide."""

from typing import Any, Literal

from msgspec import UNSET, Struct, UnsetType

from signal_search.contracts.budget import Usage
from signal_search.contracts.hit_synthesis import HitSynthesis
from signal_search.contracts.result import SourceOutcome, Stop, TraceEvent
from signal_search.contracts.scorer import ScorerProgram
from signal_search.contracts.search_plan import SearchIntent, SearchMode

RankingSource = Literal["default", "auto", "scorer", "intent", "source_order"]


class SearchHit(Struct, frozen=True, kw_only=True, omit_defaults=True):
    """One hit; what is not known is absent.

    source: the ids of all sources that named it, joined by ", "; sources: the same as a list. published_date: ISO year,
    month or day. score: absent where nothing was scored; with a scorer any finite number. score_detail: the parts of
    the score; null with a scorer, which has none. by_model: title and snippet are a model's words.
    """

    title: str
    url: str
    source: str
    sources: tuple[str, ...]
    snippet: str = ""
    abstract: str = ""
    published_date: str = ""
    authors: tuple[str, ...] = ()
    year: int | UnsetType = UNSET
    doi: str = ""
    arxiv_id: str = ""
    venue: str = ""
    citations: int | UnsetType = UNSET
    score: float | UnsetType = UNSET
    score_detail: dict[str, float] | UnsetType | None = UNSET
    score_reasons: dict[str, str] | UnsetType = UNSET
    score_explanation: dict[str, Any] | UnsetType = UNSET
    raw_rank: int | UnsetType = UNSET
    by_model: bool = False
    retracted: bool = False


class SearchRanking(Struct, frozen=True, kw_only=True):
    """How the hits were ordered.

    source: default, the fixed formula; auto, the same with weights that a model chose; scorer, the caller's program;
    intent, weights of the search's intent; source_order, not scored. Below weights: facts of a program.
    """

    source: RankingSource
    weights: dict[str, float] | None = None
    language: str | UnsetType = UNSET
    feature_version: str | UnsetType = UNSET
    scorer_hash: str | UnsetType = UNSET
    as_of_year: int | UnsetType = UNSET
    score_scale: str | UnsetType = UNSET
    scorer: ScorerProgram | UnsetType = UNSET


class SearchUsage(Usage, frozen=True, kw_only=True):
    """What was spent; llm_tokens: what the operator's model reported (scorer guide)."""

    llm_tokens: int = 0


Hits = tuple[SearchHit, ...]


class SearchResult(Struct, frozen=True, kw_only=True, tag_field="kind", tag="search"):
    """Hits, and what is missing.

    results: the hits, in mode multi a list for each source. count: how many. errors: for each source that gave nothing
    or not all, why and until when; besides `intent` and `agent` where the model failed. undated: hits whose date is not
    known, kept apart where only fresh ones were wanted; stale: how many were too old. synthesis: what the hits say
    together, in words. conclusion: the model's summary. answer: of a source, where one
    gave it. freshness_filter: what was wanted.
    """

    job_id: str
    mode: SearchMode
    intent: SearchIntent | None
    queries: tuple[str, ...]
    count: int
    hits: Hits
    results: Hits | dict[str, Hits]
    ranking: SearchRanking
    conclusion: str | None
    errors: dict[str, str]
    usage: SearchUsage
    synthesis: HitSynthesis
    undated: Hits
    stale: int
    source_outcomes: tuple[SourceOutcome, ...]
    warnings: tuple[str, ...]
    stop: Stop
    trace: tuple[TraceEvent, ...]
    answer: str | UnsetType = UNSET
    freshness_filter: str | UnsetType = UNSET


class SurveyGroup(Struct, frozen=True, kw_only=True):
    """One side of a survey: what was searched for, how many papers came and which of the answer's hits it found."""

    query: str
    found: int
    kept: int
    hits: tuple[int, ...]


class SurveyCoverage(Struct, frozen=True, kw_only=True):
    """How far a survey reached. Nothing that ends after so many hits is exhaustive, so it never says so.

    candidates: papers after merging; filtered_out: what the rules left out; cut: what did not fit the answer.
    """

    candidates: int
    filtered_out: int
    cut: int
    mode: Literal["post_filter_bounded"] = "post_filter_bounded"
    post_filter_bounded: bool = True
    exhaustive: bool = False


class SurveyResult(Struct, frozen=True, kw_only=True, tag_field="kind", tag="survey"):
    """Papers found from several sides. plan: goal, sources, rules and by whom the queries were named."""

    job_id: str
    plan: dict[str, Any]
    hits: Hits
    queries: tuple[SurveyGroup, ...]
    errors: dict[str, str]
    coverage: SurveyCoverage
    usage: SearchUsage
    ranking: SearchRanking
    source_outcomes: tuple[SourceOutcome, ...]
    warnings: tuple[str, ...]
    stop: Stop
    trace: tuple[TraceEvent, ...]
