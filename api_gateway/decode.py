"""Bytes to a request, or a refusal that names the field and never repeats what stood there."""

import re
from collections.abc import Mapping
from typing import Any, Final, TypeVar

import msgspec
from signal_search.contracts.adaptive import (
    AdaptiveRequest,
    AskedTarget,
    Fact,
    Task,
    TimeRange,
)
from signal_search.contracts.budget import Budget
from signal_search.contracts.delegation import DelegationReply
from signal_search.contracts.generation import GenerateRequest
from signal_search.contracts.memory import (
    ApprovalRequest,
    DecisionRequest,
    MemoryDraft,
    ReceiptRequest,
    StepRequest,
)
from signal_search.contracts.memory_index import IndexRequest
from signal_search.contracts.query import Constraints, RetrieveRequest, SourcePrefs
from signal_search.contracts.research import ResearchConstraints, ResearchRequest, ScopeKey
from signal_search.contracts.scorer import ScorerProgram
from signal_search.contracts.search import (
    SearchConstraints,
    SearchRequest,
    SurveyRequest,
    SurveyRules,
)
from signal_search.errors import BadEncoding, Invalid

from api_gateway.adaptive_checks import check_adaptive
from api_gateway.checks import check_request
from api_gateway.compat.firecrawl_crawl import CrawlRequest, ScrapeOptions
from api_gateway.compat.firecrawl_wire import FirecrawlSearch, Kind
from api_gateway.compat.tavily_wire import TavilySearch
from api_gateway.search_checks import check_scorer_size, check_search, check_survey

Request = TypeVar("Request")


class _SurveyBody(SurveyRequest, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A survey as callers of the scorer guide send it; their keys are not read any further."""

    api_keys: dict[str, str] | None = None


_MEMORY_BODIES: Final = (
    MemoryDraft,
    StepRequest,
    IndexRequest,
    ApprovalRequest,
    DecisionRequest,
    ReceiptRequest,
)
_STRUCTS = (
    RetrieveRequest,
    Constraints,
    SourcePrefs,
    Budget,
    GenerateRequest,
    DelegationReply,
    SearchRequest,
    SearchConstraints,
    ScorerProgram,
    _SurveyBody,
    SurveyRules,
    AdaptiveRequest,
    Task,
    AskedTarget,
    TimeRange,
    Fact,
    TavilySearch,
    FirecrawlSearch,
    Kind,
    CrawlRequest,
    ScrapeOptions,
    ResearchRequest,
    ResearchConstraints,
    ScopeKey,
    *_MEMORY_BODIES,
)
_RESEARCH = msgspec.json.Decoder(ResearchRequest)
_MEMORY: dict[Any, msgspec.json.Decoder[Any]] = {
    each: msgspec.json.Decoder(each) for each in _MEMORY_BODIES
}
_DECODER = msgspec.json.Decoder(RetrieveRequest)
_GENERATION = msgspec.json.Decoder(GenerateRequest)
_REPLY = msgspec.json.Decoder(DelegationReply)
_SEARCH = msgspec.json.Decoder(SearchRequest)
_ADAPTIVE = msgspec.json.Decoder(AdaptiveRequest)
_SURVEY = msgspec.json.Decoder(_SurveyBody)
_FIELDS = frozenset(name for struct in _STRUCTS for name in struct.__struct_encode_fields__)

# The library's messages end in the path; an unknown field's name, which is input, may imitate one. So only the
# contract's own names pass.
_AT = re.compile(r" - at `\$\.?([^`]*)`$")
_STEP = re.compile(r"([A-Za-z_]+)|\[(\d{1,6})\]|\.")
_BYTE = re.compile(r"\(byte (\d+)\)$")
_MISSING = re.compile(r"^Object missing required field `([A-Za-z_]+)`")
_BOUND = r"(?: of length)? (?:>=|<=|>|<) -?\d+(?:\.\d+)?"
_EXPECTED = re.compile(rf"^Expected `[a-z |]+`(?:, got `[a-z]+`|{_BOUND})?(?= - at|$)")


def decode_request(body: bytes) -> RetrieveRequest:
    """Return the request in `body`, with its meaning checked too.

    Raises:
        BadEncoding: not JSON; `position` is the byte where it ends to be JSON, when known.
        Invalid: a field is missing, unknown or wrong; `field` is its dotted path.
    """
    request = _decoded(_DECODER, body)
    check_request(request)
    return request


def decode_search(body: bytes) -> SearchRequest:
    """Return the search in `body`, its fields at peace with each other and its program compiled.

    Raises:
        BadEncoding, Invalid: as `decode_request`.
        ProgramTooLarge, ModeConflict, ProgramError: in this order, after the body's form; before anything is asked.
    """
    check_scorer_size(body)
    request = _decoded(_SEARCH, body)
    check_search(request)
    return request


def decode_survey(body: bytes) -> SurveyRequest:
    """Return the survey in `body`; raises as `decode_request`. Keys that came along are dropped."""
    found = _decoded(_SURVEY, body)
    request = SurveyRequest(
        **{name: getattr(found, name) for name in SurveyRequest.__struct_fields__}
    )
    check_survey(request)
    return request


def decode_adaptive(body: bytes) -> AdaptiveRequest:
    """Return the adaptive search, or the wish for a page, in `body`; raises as `decode_request`.

    Every refusal of a field has the code `invalid_input`, which is the guide's.
    """
    try:
        request = _decoded(_ADAPTIVE, body)
    except Invalid as error:
        raise Invalid(error.message, code="invalid_input", field=error.field) from None
    check_adaptive(request)
    return request


def decode_reply(body: bytes) -> DelegationReply:
    """Return the answer to a delegation in `body`, its form only; raises as `decode_request`."""
    return _decoded(_REPLY, body)


def decode_research(body: bytes) -> ResearchRequest:
    """Return the question to research memory in `body`; raises as `decode_request`."""
    request = _decoded(_RESEARCH, body)
    if not request.query.strip():
        raise Invalid("This text is blank.", field="query")
    return request


def decode_memory(kind: type[Request], body: bytes) -> Request:
    """Return the body of a command to research memory, its form only; raises as `decode_request`."""
    decoder: msgspec.json.Decoder[Request] = _MEMORY[kind]
    return _decoded(decoder, body)


def fields_of(body: msgspec.Struct) -> dict[str, Any]:
    """Return the fields of a body, for the command that it is a part of."""
    return {name: getattr(body, name) for name in body.__struct_fields__}


def check_not_blank(texts: Mapping[str, str]) -> None:
    """Refuse blank texts by the name of their field.

    Raises:
        Invalid: as said.
    """
    for name, text in texts.items():
        if not text.strip():
            raise Invalid("This text is blank.", field=name)


def decode_generation(body: bytes) -> GenerateRequest:
    """Return the request in `body`, without the blanks around its texts; raises as `decode_request`."""
    request = _decoded(_GENERATION, body)
    for name, text in (("query", request.query), ("requirements", request.requirements)):
        if not text.strip():
            raise Invalid("This text is blank.", field=name)
    return GenerateRequest(query=request.query.strip(), requirements=request.requirements.strip())


def decode_face(decoder: msgspec.json.Decoder[Request], body: bytes) -> Request:
    """Return another API's request in `body`; raises as `decode_request`, what it means is looked at elsewhere."""
    return _decoded(decoder, body)


def _decoded(decoder: msgspec.json.Decoder[Request], body: bytes) -> Request:
    try:
        return decoder.decode(body)
    except msgspec.ValidationError as error:
        raise _invalid(str(error)) from None
    except msgspec.DecodeError as error:
        raise BadEncoding("The body is not JSON.", position=_position(str(error))) from None


def _position(text: str) -> int | None:
    found = _BYTE.search(text)
    if found is None:
        return None
    # The library points behind the first byte that trails, and at every other fault.
    return int(found[1]) - ("trailing characters" in text)


def _invalid(text: str) -> Invalid:
    found = _AT.search(text)
    path = _safe_path(found[1]) if found else ""
    if text.startswith("Object contains unknown field"):
        return Invalid("This object has a field that is not known.", field=path or None)
    missing = _MISSING.match(text)
    if missing and missing[1] in _FIELDS:
        field = f"{path}.{missing[1]}" if path else missing[1]
        return Invalid("This field is required.", field=field)
    expected = _EXPECTED.match(text)
    message = f"{expected[0]}." if expected else "This value is not accepted."
    return Invalid(message, field=path or None)


def _safe_path(path: str) -> str:
    end = 0
    for step in _STEP.finditer(path):
        if step.start() != end or (step[1] and step[1] not in _FIELDS):
            break
        end = step.end()
    return path[:end].rstrip(".")
