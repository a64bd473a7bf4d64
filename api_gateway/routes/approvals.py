"""/v1/research/approvals and /v1/research/verifications: who may vouch for a research case, and what came of it.

Nothing here runs or publishes anything, and no answer has a payload or a receipt's token.
"""

from typing import Final

from litestar import HttpMethod, Response, get, post, route
from litestar.params import FromPath
from signal_search.contracts.memory import (
    ApprovalRequest,
    AskApproval,
    Decide,
    DecisionRequest,
    ListApprovals,
    ListVerifications,
    ReceiptRequest,
    ShowApproval,
    ShowVerification,
)
from signal_search.contracts.research import ApprovalStatus
from signal_search.errors import Invalid

from api_gateway.decode import decode_memory, fields_of
from api_gateway.door import HttpRequest
from api_gateway.memory_params import choice, listing, name_in, record_id, scope_in
from api_gateway.routes.memory_calls import carried_out

APPROVALS: Final = "/v1/research/approvals"
VERIFICATIONS: Final = "/v1/research/verifications"
_ALLOW: Final = {"allow": "GET, HEAD, OPTIONS, POST"}


@route([APPROVALS, VERIFICATIONS], http_method=[HttpMethod.OPTIONS])
async def approvals_options() -> Response[bytes]:
    """Name the methods. Must be registered first: the framework's own answer names but one of several."""
    return Response(b"", status_code=204, headers=_ALLOW)


@post(APPROVALS, status_code=201)
async def ask_approval(request: HttpRequest) -> Response[bytes]:
    """Make a package that waits for somebody else's decision."""
    asked = decode_memory(ApprovalRequest, await request.body())
    return await carried_out(request, AskApproval(**fields_of(asked)), status=201)


@get(APPROVALS)
async def list_approvals(request: HttpRequest) -> Response[bytes]:
    """Answer with a page of packages."""
    params = request.query_params
    wanted = ListApprovals(
        scope=scope_in(params),
        status=choice(params, "status", ApprovalStatus),
        case_memory_id=name_in(params, "case_memory_id"),
        **listing(params),
    )
    return await carried_out(request, wanted)


@get(f"{APPROVALS}/{{package_id:str}}")
async def show_approval(request: HttpRequest, package_id: FromPath[str]) -> Response[bytes]:
    """Answer with a package; one that waited too long is expired."""
    wanted = ShowApproval(scope=scope_in(request.query_params), record_id=record_id(package_id))
    return await carried_out(request, wanted)


@post(f"{APPROVALS}/{{package_id:str}}/decision", status_code=200)
async def decide_approval(request: HttpRequest, package_id: FromPath[str]) -> Response[bytes]:
    """Decide about a package, once, as somebody else than who asked."""
    said = decode_memory(DecisionRequest, await request.body())
    if said.package_id not in {"", package_id}:
        raise Invalid("The body names another package than the address.", field="package_id")
    named = {**fields_of(said), "package_id": record_id(package_id)}
    return await carried_out(request, Decide(**named))


@post(VERIFICATIONS, status_code=201)
async def take_receipt(request: HttpRequest) -> Response[bytes]:
    """Keep a receipt of an approved package; the same one again is the same run."""
    given = decode_memory(ReceiptRequest, await request.body())
    return await carried_out(request, given, status=201)


@get(VERIFICATIONS)
async def list_verifications(request: HttpRequest) -> Response[bytes]:
    """Answer with a page of verification runs."""
    params = request.query_params
    wanted = ListVerifications(
        scope=scope_in(params), case_memory_id=name_in(params, "case_memory_id"), **listing(params)
    )
    return await carried_out(request, wanted)


@get(f"{VERIFICATIONS}/{{run_id:str}}")
async def show_verification(request: HttpRequest, run_id: FromPath[str]) -> Response[bytes]:
    """Answer with a verification run."""
    wanted = ShowVerification(scope=scope_in(request.query_params), record_id=record_id(run_id))
    return await carried_out(request, wanted)
