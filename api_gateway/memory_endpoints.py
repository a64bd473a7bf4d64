"""The addresses of research memory's records, as rows of the table of addresses."""

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
from signal_search.contracts.research import (
    ApprovalPackage,
    ApprovalStatus,
    MemoryKind,
    MemoryStatus,
    ResearchMemory,
    ScopeKey,
    VerificationRun,
)

from api_gateway.endpoint import Endpoint, Json, header, in_path, query

STEP_NAMES = ("verify", "publish", "deprecate", "expire", "conflict", "revoke")

_MEMORIES = "/v1/research/memories"
_APPROVALS = "/v1/research/approvals"
_INDEX = "/v1/research/index"
_VERIFICATIONS = "/v1/research/verifications"
_ID: Json = {"type": "string", "minLength": 1, "maxLength": 200}
_KEY = header("Idempotency-Key", {"type": "string", "pattern": "^[ -~]{1,255}$"})
_SCOPE = tuple(
    query(part, {"type": "string", "minLength": 1, "maxLength": 200}, required=True)
    for part in ScopeKey.__struct_fields__
)
_PAGE = (
    query("limit", {"type": "integer", "minimum": 1, "maximum": 200}),
    query("cursor", {"type": "string", "maxLength": 300}),
)
_READING = (404, 422, 429)
_WRITING = (400, 404, 409, 410, 413, 415, 422, 429)


def _one_of(name: str, kind: type[MemoryStatus | MemoryKind | ApprovalStatus]) -> Json:
    return query(name, {"type": "string", "enum": [each.value for each in kind]})


MEMORY_ENDPOINTS = (
    Endpoint(
        method="post",
        path=_MEMORIES,
        summary="Keep a memory as a candidate, which nobody finds yet",
        body=MemoryDraft,
        parameters=(_KEY,),
        answers={200: ResearchMemory, 201: ResearchMemory},
        refusals=_WRITING,
    ),
    Endpoint(
        method="get",
        path=_MEMORIES,
        summary="The memories of a scope without their texts, which changed last first",
        parameters=(
            *_SCOPE,
            _one_of("status", MemoryStatus),
            _one_of("kind", MemoryKind),
            *_PAGE,
        ),
        answers={200: MemoryPage},
        refusals=_READING,
    ),
    Endpoint(
        method="get",
        path=f"{_MEMORIES}/{{memory_id}}",
        summary="A memory, in whatever state it is",
        parameters=(in_path("memory_id", _ID), *_SCOPE),
        answers={200: ResearchMemory},
        refusals=_READING,
    ),
    Endpoint(
        method="get",
        path=f"{_MEMORIES}/{{memory_id}}/audit",
        summary="What was done to a memory, by whom and when",
        parameters=(in_path("memory_id", _ID), *_SCOPE),
        answers={200: AuditTrail},
        refusals=_READING,
    ),
    Endpoint(
        method="post",
        path=f"{_MEMORIES}/{{memory_id}}/{{step}}",
        summary="Put a memory into another state; a research case is published after approval and passed receipt only",
        body=StepRequest,
        parameters=(
            in_path("memory_id", _ID),
            in_path("step", {"type": "string", "enum": list(STEP_NAMES)}),
            _KEY,
        ),
        answers={200: ResearchMemory},
        refusals=_WRITING,
    ),
    Endpoint(
        method="post",
        path=_INDEX,
        summary="Make the index of a scope the state of the folder that the settings name for it",
        body=IndexRequest,
        parameters=(_KEY,),
        answers={200: Indexed},
        refusals=_WRITING,
    ),
    Endpoint(
        method="post",
        path=_APPROVALS,
        summary="Ask somebody else to approve a research case, within a day",
        body=ApprovalRequest,
        parameters=(_KEY,),
        answers={200: ApprovalPackage, 201: ApprovalPackage},
        refusals=_WRITING,
    ),
    Endpoint(
        method="get",
        path=_APPROVALS,
        summary="The approvals of a scope, newest first",
        parameters=(
            *_SCOPE,
            _one_of("status", ApprovalStatus),
            query("case_memory_id", _ID),
            *_PAGE,
        ),
        answers={200: ApprovalPage},
        refusals=_READING,
    ),
    Endpoint(
        method="get",
        path=f"{_APPROVALS}/{{package_id}}",
        summary="An approval; one that waited too long is expired",
        parameters=(in_path("package_id", _ID), *_SCOPE),
        answers={200: ApprovalPackage},
        refusals=_READING,
    ),
    Endpoint(
        method="post",
        path=f"{_APPROVALS}/{{package_id}}/decision",
        summary="Decide about an approval, once, as somebody else than who asked; nothing is run or published",
        body=DecisionRequest,
        parameters=(in_path("package_id", _ID), _KEY),
        answers={200: ApprovalPackage},
        refusals=_WRITING,
    ),
    Endpoint(
        method="post",
        path=_VERIFICATIONS,
        summary="Hand in the receipt of an approved package; the same one again is the same run",
        body=ReceiptRequest,
        parameters=(_KEY,),
        answers={200: VerificationRun, 201: VerificationRun},
        refusals=_WRITING,
    ),
    Endpoint(
        method="get",
        path=_VERIFICATIONS,
        summary="The verification runs of a scope, newest first",
        parameters=(*_SCOPE, query("case_memory_id", _ID), *_PAGE),
        answers={200: VerificationPage},
        refusals=_READING,
    ),
    Endpoint(
        method="get",
        path=f"{_VERIFICATIONS}/{{run_id}}",
        summary="A verification run",
        parameters=(in_path("run_id", _ID), *_SCOPE),
        answers={200: VerificationRun},
        refusals=_READING,
    ),
)
