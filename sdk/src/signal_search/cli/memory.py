"""`signal-search research`: keep, check, publish and withdraw memories, and have research cases approved.

By the files of this machine, in the name that `--actor` says; or with `--gateway` by a deployment, in the token's.
"""
# ruff: noqa: PLR0913, PLR0917 - typer reads the options off the signature

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated, Any

import msgspec
import typer

from signal_search.cli.memory_place import (
    ActorOption,
    GatewayUrlOption,
    MemoryTokenOption,
    ScopeOption,
    memory_at,
    print_json,
)
from signal_search.client.scoped_memory import ScopedMemory
from signal_search.contracts.memory import Receipt
from signal_search.contracts.research import ApprovalStatus, MemoryKind, MemoryStatus, Risk
from signal_search.errors import Invalid

MemoryId = Annotated[str, typer.Argument(metavar="MEMORY", help="Id of the memory.")]
PackageId = Annotated[str, typer.Argument(metavar="PACKAGE", help="Id of the approval.")]
ReasonOption = Annotated[str, typer.Option(help="Why.")]
LimitOption = Annotated[int, typer.Option(min=1, max=200, help="Records of a page.")]
CursorOption = Annotated[str | None, typer.Option(help="Where the last page ended.")]
_NOBODY = "nobody"
_STEPS = {
    "verify": (MemoryStatus.VERIFIED, "Say that a memory was checked."),
    "publish": (
        MemoryStatus.PUBLISHED,
        "Let a verified memory be found; a research case needs its approval and a passed receipt first.",
    ),
    "deprecate": (MemoryStatus.DEPRECATED, "Take a published memory out of what is found."),
    "expire": (MemoryStatus.EXPIRED, "Say that a published memory is out of date."),
    "conflict": (MemoryStatus.CONFLICT, "Say that something contradicts a published memory."),
    "revoke": (MemoryStatus.REVOKED, "Withdraw a memory for good."),
}


def add_memory_commands(app: typer.Typer) -> None:
    """Add the commands."""
    app.command("save")(save)
    for name, (to, said) in _STEPS.items():
        app.command(name, help=said)(_moving(to))
    app.command("show")(show)
    app.command("list")(list_memories)
    app.command("audit")(audit)
    app.command("ask-approval")(ask_approval)
    app.command("approve")(approve)
    app.command("approvals")(list_approvals)
    app.command("receipt")(receipt)


def save(
    title: str,
    content: str,
    scope: ScopeOption,
    actor: ActorOption = "",
    kind: Annotated[MemoryKind, typer.Option(help="What it is about.")] = MemoryKind.KNOWLEDGE,
    sources: Annotated[list[str] | None, typer.Option("--source", help="Where it is from.")] = None,
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
) -> None:
    """Keep a memory as a candidate, which nobody finds yet; prints it with its id."""
    with memory_at(scope, actor, gateway, token) as memory:
        print_json(memory.save(title, content, kind=kind, source_refs=sources or ()))


def _moving(to: MemoryStatus) -> Any:
    def move(
        memory_id: MemoryId,
        scope: ScopeOption,
        actor: ActorOption = "",
        reason: ReasonOption = "",
        gateway: GatewayUrlOption = None,
        token: MemoryTokenOption = None,
    ) -> None:
        with memory_at(scope, actor, gateway, token) as memory:
            print_json(memory.move(memory_id, to, reason=reason))

    return move


def show(
    memory_id: MemoryId,
    scope: ScopeOption,
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
) -> None:
    """Print a memory, in whatever state it is."""
    with _unnamed(scope, gateway, token) as memory:
        print_json(memory.get(memory_id))


def list_memories(
    scope: ScopeOption,
    status: Annotated[MemoryStatus | None, typer.Option(help="Only of this state.")] = None,
    kind: Annotated[MemoryKind | None, typer.Option(help="Only of this kind.")] = None,
    limit: LimitOption = 50,
    cursor: CursorOption = None,
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
) -> None:
    """Print a page of memories without their texts, which changed last first."""
    with _unnamed(scope, gateway, token) as memory:
        print_json(memory.list(status=status, kind=kind, limit=limit, cursor=cursor))


def audit(
    memory_id: MemoryId,
    scope: ScopeOption,
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
) -> None:
    """Print what was done to a memory, by whom and when."""
    with _unnamed(scope, gateway, token) as memory:
        print_json(memory.audit(memory_id))


def ask_approval(
    case_id: MemoryId,
    scope: ScopeOption,
    payload: Annotated[Path, typer.Option(help="A JSON object: what is to be approved.")],
    actor: ActorOption = "",
    risk: Annotated[str, typer.Option(help="low, medium or high.")] = "medium",
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
) -> None:
    """Ask for the approval of a research case; prints the token that the receipt must name, once."""
    body = _decoded(payload, dict[str, Any], "payload")
    level = _converted(risk, Risk, "risk")
    with memory_at(scope, actor, gateway, token) as memory:
        print_json(memory.ask_approval(case_id, body, risk=level))


def approve(
    package_id: PackageId,
    scope: ScopeOption,
    actor: ActorOption = "",
    reason: ReasonOption = "",
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
    *,
    reject: Annotated[bool, typer.Option("--reject", help="Refuse it.")] = False,
) -> None:
    """Decide about an approval, as somebody else than who asked. Nothing is run or published by it."""
    with memory_at(scope, actor, gateway, token) as memory:
        decision: Any = "rejected" if reject else "approved"
        print_json(memory.decide(package_id, decision, reason=reason))


def list_approvals(
    scope: ScopeOption,
    status: Annotated[ApprovalStatus | None, typer.Option(help="Only of this state.")] = None,
    case_id: Annotated[str, typer.Option("--case", help="Only of this research case.")] = "",
    limit: LimitOption = 50,
    cursor: CursorOption = None,
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
) -> None:
    """Print a page of approvals, newest first."""
    with _unnamed(scope, gateway, token) as memory:
        print_json(memory.approvals(status=status, case_id=case_id, limit=limit, cursor=cursor))


def receipt(
    file: Annotated[Path, typer.Argument(help="The receipt, a JSON object.")],
    scope: ScopeOption,
    gateway: GatewayUrlOption = None,
    token: MemoryTokenOption = None,
) -> None:
    """Hand in what came of an approved package; its token says whose it is."""
    given = _decoded(file, Receipt, "receipt")
    with _unnamed(scope, gateway, token) as memory:
        print_json(memory.give_receipt(msgspec.structs.asdict(given)))


@contextmanager
def _unnamed(scope: str, gateway: str | None, token: str | None) -> Iterator[ScopedMemory]:
    """Open the memory for what nobody needs to answer for: to read, and to hand in what proves itself."""
    with memory_at(scope, "" if gateway else _NOBODY, gateway, token) as memory:
        yield memory


def _decoded(file: Path, kind: Any, field: str) -> Any:
    try:
        return msgspec.json.decode(file.read_bytes(), type=kind)
    except (OSError, msgspec.MsgspecError, UnicodeError) as error:
        raise Invalid("The file cannot be read as such an object.", field=field) from error


def _converted(value: str, kind: Any, field: str) -> Any:
    try:
        return msgspec.convert(value, type=kind)
    except msgspec.ValidationError as error:
        raise Invalid("That is none of the choices.", field=field) from error
