"""The addresses of the interface as one table: what is sent, what is answered. `openapi.py` tells it to machines."""

from msgspec import Struct
from signal_search.citations import FORMATS
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.generation import Generated, GenerateRequest
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.research import ResearchRequest
from signal_search.contracts.research_result import ResearchResult
from signal_search.contracts.result import Result
from signal_search.contracts.search import SearchRequest, SurveyRequest
from signal_search.contracts.search_result import SearchResult, SurveyResult
from signal_search.contracts.source import SourceView

from api_gateway.desk import Page
from api_gateway.endpoint import Endpoint, Json, header, query
from api_gateway.memory_endpoints import MEMORY_ENDPOINTS
from infra.manifest import SettingView


class SourceList(Struct, frozen=True, kw_only=True):
    """The registry as this deployment sees it."""

    sources: tuple[SourceView, ...]


class DelegationList(Struct, frozen=True, kw_only=True):
    """What a job asked of its caller so far."""

    delegations: tuple[DelegationState, ...]


class Manifest(Struct, frozen=True, kw_only=True):
    """Every setting of this deployment."""

    settings: tuple[SettingView, ...]


class Patch(Struct, frozen=True, kw_only=True):
    """Settings by their dotted names or in nested tables; null takes one back to its default."""


_JOB_ID: Json = {
    "name": "job_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^job_[0-9a-z]{26}$"},
}
_DELEGATION_ID: Json = {
    "name": "delegation_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^[a-z0-9_.]{1,64}$"},
}
_WAIT = query("wait", {"type": "integer", "minimum": 0, "maximum": 60})
_KEY = header("Idempotency-Key", {"type": "string", "pattern": "^[ -~]{1,255}$"})
_PREFER = header("Prefer", {"type": "string"})
_LAST_EVENT = header("Last-Event-ID", {"type": "string", "pattern": "^[0-9]{1,15}-[0-9]{1,15}$"})
_FORMAT = query("format", {"type": "string", "enum": list(FORMATS)}, required=True)
_LIST = (
    query("state", {"type": "string", "enum": [each.value for each in JobState]}),
    query("limit", {"type": "integer", "minimum": 1, "maximum": 200}),
    query("cursor", {"type": "string", "pattern": "^job_[0-9a-z]{26}$"}),
)
_OF_A_JOB = (404, 410)

ENDPOINTS = (
    Endpoint(
        method="post",
        path="/v1/retrieve",
        summary="Submit a retrieve job; with wait, answer with its result if it ends in time",
        body=RetrieveRequest,
        parameters=(_WAIT, _KEY),
        answers={200: (Result, Job), 202: Job},
        refusals=(400, 409, 410, 413, 415, 422, 429),
    ),
    Endpoint(
        method="post",
        path="/v1/search",
        summary="Search, and answer with the hits; the job at once where that is preferred",
        body=SearchRequest,
        parameters=(_KEY, _PREFER),
        answers={200: SearchResult, 202: Job},
        refusals=(400, 409, 410, 413, 415, 422, 429),
    ),
    Endpoint(
        method="post",
        path="/v1/survey-search",
        summary="Look for papers from several sides of a goal",
        body=SurveyRequest,
        parameters=(_KEY, _PREFER),
        answers={200: SurveyResult, 202: Job},
        refusals=(400, 409, 410, 413, 415, 422, 429),
    ),
    Endpoint(
        method="post",
        path="/v1/adaptive-search",
        summary="Search until a judge has seen enough, or the next page by cursor, which searches nothing",
        body=AdaptiveRequest,
        parameters=(_KEY, _PREFER),
        answers={200: AdaptiveResult, 202: Job},
        refusals=(400, 409, 410, 413, 415, 422, 429),
    ),
    Endpoint(
        method="post",
        path="/v1/research/query",
        summary="Ask the research memory of a scope; there is nothing here for tokens without that scope",
        body=ResearchRequest,
        answers={200: ResearchResult, 202: Job},
        refusals=(400, 404, 409, 410, 413, 415, 422, 429),
    ),
    *MEMORY_ENDPOINTS,
    Endpoint(
        method="get",
        path="/v1/jobs",
        summary="The tenant's jobs, newest first",
        parameters=_LIST,
        answers={200: Page},
        refusals=(422,),
    ),
    Endpoint(
        method="get",
        path="/v1/jobs/{job_id}",
        summary="A job with its progress",
        parameters=(_JOB_ID,),
        answers={200: Job},
        refusals=_OF_A_JOB,
    ),
    Endpoint(
        method="delete",
        path="/v1/jobs/{job_id}",
        summary="Cancel a job",
        parameters=(_JOB_ID,),
        answers={202: Job},
        refusals=(*_OF_A_JOB, 409),
    ),
    Endpoint(
        method="get",
        path="/v1/jobs/{job_id}/result",
        summary="The result of a finished job",
        parameters=(_JOB_ID,),
        answers={200: (Result, SearchResult, SurveyResult, AdaptiveResult)},
        refusals=(*_OF_A_JOB, 409, 422),
    ),
    Endpoint(
        method="get",
        path="/v1/jobs/{job_id}/events",
        summary="The job's log as Server-Sent Events",
        parameters=(_JOB_ID, _LAST_EVENT),
        answers={200: "text/event-stream"},
        refusals=(*_OF_A_JOB, 422, 429),
    ),
    Endpoint(
        method="get",
        path="/v1/jobs/{job_id}/export",
        summary="The citations of a finished job",
        parameters=(_JOB_ID, _FORMAT),
        answers={200: "*/*"},
        refusals=(*_OF_A_JOB, 409, 422),
    ),
    Endpoint(
        method="get",
        path="/v1/jobs/{job_id}/bundle",
        summary="Log, documents and result for a replay",
        parameters=(_JOB_ID,),
        answers={200: "application/zstd"},
        refusals=_OF_A_JOB,
    ),
    Endpoint(
        method="get",
        path="/v1/jobs/{job_id}/delegations",
        summary="What a job asks of its caller's own model or person, and what became of it",
        parameters=(_JOB_ID,),
        answers={200: DelegationList},
        refusals=_OF_A_JOB,
    ),
    Endpoint(
        method="post",
        path="/v1/jobs/{job_id}/delegations/{delegation_id}",
        summary="Answer a delegation by its schema, or decline it",
        parameters=(_JOB_ID, _DELEGATION_ID),
        body=DelegationReply,
        answers={200: DelegationState},
        refusals=(400, *_OF_A_JOB, 409, 413, 415, 422),
    ),
    Endpoint(
        method="get",
        path="/v1/sources",
        summary="The sources of this deployment",
        answers={200: SourceList},
    ),
    Endpoint(
        method="get",
        path="/v1/scoring/capabilities",
        summary="The scoring language: features, functions, limits, and whether programs are generated here",
        answers={200: "application/json"},
    ),
    Endpoint(
        method="post",
        path="/v1/scoring/generate",
        summary="A scoring program from words, by the operator's model; nothing is searched or run",
        body=GenerateRequest,
        answers={200: Generated},
        refusals=(400, 413, 415, 422, 429, 502, 504),
    ),
    Endpoint(
        method="get",
        path="/v1/admin/manifest",
        summary="Every setting: type, bounds, default, value; for the scope admin",
        answers={200: Manifest},
    ),
    Endpoint(
        method="get",
        path="/v1/admin/config",
        summary="The settings of this process, secrets masked; for the scope admin",
        answers={200: "application/json"},
    ),
    Endpoint(
        method="put",
        path="/v1/admin/config",
        summary="Write settings to the file, from the next start on; for the scope admin",
        body=Patch,
        answers={200: "application/json"},
        refusals=(400, 409, 413, 415, 422),
    ),
    Endpoint(
        method="get",
        path="/healthz",
        summary="Whether this process answers",
        answers={200: "application/json"},
        is_public=True,
    ),
    Endpoint(
        method="get",
        path="/readyz",
        summary="Whether the store answers and every queue has a live worker",
        answers={200: "application/json"},
        refusals=(503,),
        is_public=True,
    ),
    Endpoint(
        method="get",
        path="/metrics",
        summary="Counts and gauges in Prometheus's text format",
        answers={200: "text/plain"},
    ),
)
