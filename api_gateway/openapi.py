"""The description of the interface: schemas from the contracts themselves, paths from one table below.

Written here rather than collected by the framework, because bodies and parameters are read by our own code.
"""

from html import escape
from typing import Any

import msgspec
from msgspec import Struct
from signal_search.citations import FORMATS
from signal_search.contracts.generation import Generated, GenerateRequest
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.result import Result
from signal_search.contracts.source import SourceView

from api_gateway.desk import Page
from api_gateway.problems import Problem
from infra.manifest import SettingView

Json = dict[str, Any]
_REF = "#/components/schemas/{name}"
_BINARY: Json = {"type": "string", "format": "binary"}


class SourceList(Struct, frozen=True, kw_only=True):
    """The registry as this deployment sees it."""

    sources: tuple[SourceView, ...]


class Manifest(Struct, frozen=True, kw_only=True):
    """Every setting of this deployment."""

    settings: tuple[SettingView, ...]


class Patch(Struct, frozen=True, kw_only=True):
    """Settings by their dotted names or in nested tables; null takes one back to its default."""


class Endpoint(Struct, frozen=True, kw_only=True):
    """One row of the table. `answers` maps a status to the body's type or types, or to a media type."""

    method: str
    path: str
    summary: str
    answers: dict[int, object]
    refusals: tuple[int, ...] = ()
    parameters: tuple[Json, ...] = ()
    body: type[Struct] | None = None
    is_public: bool = False


def _query(name: str, schema: Json, *, required: bool = False) -> Json:
    return {"name": name, "in": "query", "required": required, "schema": schema}


def _header(name: str, schema: Json) -> Json:
    return {"name": name, "in": "header", "required": False, "schema": schema}


_JOB_ID: Json = {
    "name": "job_id",
    "in": "path",
    "required": True,
    "schema": {"type": "string", "pattern": "^job_[0-9a-z]{26}$"},
}
_WAIT = _query("wait", {"type": "integer", "minimum": 0, "maximum": 60})
_KEY = _header("Idempotency-Key", {"type": "string", "pattern": "^[ -~]{1,255}$"})
_LAST_EVENT = _header("Last-Event-ID", {"type": "string", "pattern": "^[0-9]{1,15}-[0-9]{1,15}$"})
_FORMAT = _query("format", {"type": "string", "enum": list(FORMATS)}, required=True)
_LIST = (
    _query("state", {"type": "string", "enum": [each.value for each in JobState]}),
    _query("limit", {"type": "integer", "minimum": 1, "maximum": 200}),
    _query("cursor", {"type": "string", "pattern": "^job_[0-9a-z]{26}$"}),
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
        answers={200: Result},
        refusals=(*_OF_A_JOB, 409),
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


def _describe() -> Json:
    types: list[Any] = [RetrieveRequest, Result, Job, Page, SourceList, Problem]
    types += [GenerateRequest, Generated, Manifest, Patch]
    _, schemas = msgspec.json.schema_components(types, schema_hook=_anything, ref_template=_REF)
    paths: dict[str, Json] = {}
    for each in ENDPOINTS:
        paths.setdefault(each.path, {})[each.method] = _operation(each)
    return {
        "openapi": "3.1.0",
        "info": {"title": "Signal Search", "version": "0.1.0"},
        "paths": paths,
        "components": {
            "schemas": schemas,
            "securitySchemes": {"bearer": {"type": "http", "scheme": "bearer"}},
        },
    }


def _operation(endpoint: Endpoint) -> Json:
    refusals = endpoint.refusals if endpoint.is_public else (401, 403, *endpoint.refusals, 503)
    answers = {str(status): _answer(body) for status, body in endpoint.answers.items()}
    answers |= {str(status): _answer(Problem) for status in refusals}
    operation: Json = {
        "summary": endpoint.summary,
        "parameters": list(endpoint.parameters),
        "responses": answers,
        "security": [] if endpoint.is_public else [{"bearer": []}],
    }
    if endpoint.body is not None:
        content = {"application/json": {"schema": _schema(endpoint.body)}}
        operation["requestBody"] = {"required": True, "content": content}
    return operation


def _answer(body: object) -> Json:
    if isinstance(body, str):
        is_json = body == "application/json"
        return {
            "description": "As asked.",
            "content": {body: {"schema": {"type": "object"} if is_json else _BINARY}},
        }
    text = "An error." if body is Problem else "As asked."
    return {"description": text, "content": {"application/json": {"schema": _schema(body)}}}


def _schema(of: object) -> Json:
    if isinstance(of, tuple):
        return {"anyOf": [_schema(each) for each in of]}
    (schema,), _ = msgspec.json.schema_components([of], schema_hook=_anything, ref_template=_REF)
    return schema


def _anything(_of: type) -> Json:
    """Describe `object`, the type of values whose form depends on their name; an empty schema is not taken."""
    return {"description": "Any JSON value."}


DESCRIPTION = _describe()


def docs_page() -> str:
    """Return the table as a page that loads nothing from elsewhere."""
    rows = "".join(_row(each) for each in ENDPOINTS)
    return (
        '<!doctype html><html lang="en"><meta charset="utf-8"><title>Signal Search</title>'
        "<style>body{font:16px/1.5 system-ui;margin:2rem auto;max-width:60rem;padding:0 1rem}"
        "table{border-collapse:collapse;width:100%}td,th{text-align:left;padding:.4rem;"
        "border-bottom:1px solid #8884;vertical-align:top}</style>"
        "<h1>Signal Search</h1><p>Every body is JSON; errors are "
        '<code>{"detail": {"code", "message", "field"?, "position"?, "candidate_index"?}, "request_id"}</code>. '
        'The machine-readable description: <a href="/openapi.json">/openapi.json</a>.</p>'
        "<table><tr><th>Request<th>What it does<th>Parameters<th>Answers</tr>"
        f"{rows}</table></html>"
    )


def _row(endpoint: Endpoint) -> str:
    names = ", ".join(each["name"] for each in endpoint.parameters)
    statuses = ", ".join(str(each) for each in (*endpoint.answers, *endpoint.refusals))
    request = f"{endpoint.method.upper()} {endpoint.path}"
    return (
        f"<tr><td><code>{escape(request)}</code><td>{escape(endpoint.summary)}"
        f"<td>{escape(names)}<td>{statuses}</tr>"
    )
