"""/v1/jobs/{id}/delegations: what a job asks of its caller, and the caller's answers."""

from litestar import Response, get, post
from litestar.concurrency import sync_to_thread
from litestar.params import FromPath

from api_gateway.decode import decode_reply
from api_gateway.door import HttpRequest, door_of, reader_in
from api_gateway.endpoints import DelegationList
from api_gateway.replies import as_json


@get("/v1/jobs/{job_id:str}/delegations")
async def list_delegations(request: HttpRequest, job_id: FromPath[str]) -> Response[bytes]:
    """Answer with every question so far and what became of it."""
    delegations = door_of(request).delegations
    found = await sync_to_thread(delegations.listed, job_id, reader_in(request))
    return as_json(DelegationList(delegations=found))


@post("/v1/jobs/{job_id:str}/delegations/{delegation_id:str}", status_code=200)
async def answer_delegation(
    request: HttpRequest, job_id: FromPath[str], delegation_id: FromPath[str]
) -> Response[bytes]:
    """Take the answer in the body."""
    reply = decode_reply(await request.body())
    delegations = door_of(request).delegations
    state = await sync_to_thread(
        delegations.answer, job_id, reader_in(request), delegation_id, reply
    )
    return as_json(state)
