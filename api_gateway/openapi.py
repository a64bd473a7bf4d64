"""The description of the interface: schemas from the contracts themselves, paths from one table below.

Written here rather than collected by the framework, because bodies and parameters are read by our own code.
"""

from html import escape
from typing import Any

import msgspec
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.delegation import DelegationReply, DelegationState
from signal_search.contracts.generation import Generated, GenerateRequest
from signal_search.contracts.job import Job
from signal_search.contracts.memory import (
    ApprovalPage,
    ApprovalRequest,
    AuditTrail,
    DecisionRequest,
    MemoryDraft,
    MemoryPage,
    ReceiptRequest,
    StepRequest,
    VerificationPage,
)
from signal_search.contracts.memory_index import Indexed, IndexRequest
from signal_search.contracts.query import RetrieveRequest
from signal_search.contracts.research import (
    ApprovalPackage,
    ResearchMemory,
    ResearchRequest,
    VerificationRun,
)
from signal_search.contracts.research_result import ResearchResult
from signal_search.contracts.result import Result
from signal_search.contracts.search import SearchRequest, SurveyRequest
from signal_search.contracts.search_result import SearchResult, SurveyResult

from api_gateway.desk import Page
from api_gateway.endpoint import Endpoint, Json
from api_gateway.endpoints import (
    ENDPOINTS,
    DelegationList,
    Manifest,
    Patch,
    SourceList,
)
from api_gateway.problems import Problem

_REF = "#/components/schemas/{name}"
_BINARY: Json = {"type": "string", "format": "binary"}


def _describe() -> Json:
    types: list[Any] = [RetrieveRequest, Result, Job, Page, SourceList, Problem]
    types += [GenerateRequest, Generated, Manifest, Patch]
    types += [DelegationList, DelegationReply, DelegationState]
    types += [SearchRequest, SearchResult, SurveyRequest, SurveyResult]
    types += [AdaptiveRequest, AdaptiveResult]
    types += [ResearchRequest, ResearchResult, ResearchMemory, ApprovalPackage, VerificationRun]
    types += [MemoryDraft, MemoryPage, AuditTrail, StepRequest, IndexRequest, Indexed]
    types += [ApprovalRequest, ApprovalPage, DecisionRequest, ReceiptRequest, VerificationPage]
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
