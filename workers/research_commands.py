"""The commands of research memory: index a folder, ask, keep and publish memories, approve, measure.

Every command line starts by loading this file, so each command imports what it needs when it runs.
"""

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import msgspec
import typer
from signal_search.contracts.research import MemoryKind, MemoryStatus, ScopeKey
from signal_search.errors import Invalid

if TYPE_CHECKING:
    from signal_search.contracts.research import EvidenceChunk

    from workers.research import Desk

ScopeOption = Annotated[
    str,
    typer.Option(
        "--scope",
        metavar="TEAM,PROJECT,REPOSITORY,BRANCH,ENVIRONMENT",
        help="The five names that the memory belongs to.",
    ),
]
ActorOption = Annotated[str, typer.Option("--actor", help="Who does this; kept in the audit.")]
JsonFlag = Annotated[bool, typer.Option("--json", help="Print one JSON document.")]
_SHOWN = 200  # characters of a piece of evidence in plain output


def register(app: typer.Typer) -> None:
    """Add the commands."""
    research = typer.Typer(help="Research memory of this machine, by scope.", no_args_is_help=True)
    research.command("index")(index)
    research.command("query")(query)
    research.command("save")(save)
    research.command("verify")(verify)
    research.command("publish")(publish)
    research.command("revoke")(revoke)
    research.command("ask-approval")(ask_approval)
    research.command("approve")(approve)
    research.command("receipt")(receipt)
    research.command("eval")(evaluate)
    app.add_typer(research, name="research")


def index(
    root: Annotated[Path, typer.Argument(help="The folder whose files become the index.")],
    scope: ScopeOption,
    *,
    anew: Annotated[
        bool,
        typer.Option("--anew", help="Every file again, as after a change of the vector model."),
    ] = False,
) -> None:
    """Make the index of a scope the state of a folder; what did not change is not read into it again."""
    _print_json(_desk().index(_scope(scope), root, anew=anew))


def query(
    text: Annotated[str, typer.Argument(help="What to look for.")],
    scope: ScopeOption,
    root: Annotated[Path | None, typer.Option(help="A folder that grep reads too.")] = None,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Pieces of evidence.")] = 20,
    tools: Annotated[
        str, typer.Option(help="A plan of your own: rounds by `;`, tools by `,`.")
    ] = "",
    *,
    as_json: JsonFlag = False,
) -> None:
    """Answer a question from the memory of one scope. Exit code 4 when nothing was found."""
    from signal_search.contracts.research import ResearchQuery  # noqa: PLC0415

    rounds = tuple(tuple(part.split(",")) for part in tools.split(";")) if tools else None
    asked = ResearchQuery(query=text, scope=_scope(scope), tool_rounds=rounds, limit=limit)
    found = _desk().answer(asked, root)
    if as_json:
        _print_json(found)
    else:
        for each in found.evidence:
            place = f"{each.source_ref}:{each.locator or ''}".rstrip(":")
            typer.echo(f"{_score(each)}  {place}\n    {_line(each.content)}")
        for trace in found.traces:
            skipped = f", {trace.skipped} files left out" if trace.skipped else ""
            typer.echo(
                f"{trace.tool_name}: {trace.reason}, {trace.candidate_count}{skipped}", err=True
            )
        for said in (*found.rejections, *found.degradations):
            typer.echo(said, err=True)
    raise typer.Exit(0 if found.evidence else 4)


def _score(chunk: "EvidenceChunk") -> str:
    """Return what the order goes by: the last score that was given; a line that grep found has none."""
    if chunk.rerank_score is not None:
        return f"{chunk.rerank_score:.3f}"
    for name in ("rrf_score", "bm25_score", "vector_score"):
        found = chunk.metadata.get(name)
        if isinstance(found, float):
            return f"{found:.3f}"
    return "-"


def _line(text: str) -> str:
    return " ".join(text.split())[:_SHOWN]


def save(
    title: str,
    content: str,
    scope: ScopeOption,
    actor: ActorOption,
    kind: Annotated[MemoryKind, typer.Option(help="What it is about.")] = MemoryKind.KNOWLEDGE,
    sources: Annotated[list[str] | None, typer.Option("--source", help="Where it is from.")] = None,
) -> None:
    """Keep a memory as a candidate, which nobody finds yet; prints it with its id."""
    from signal_search.contracts.research import ResearchMemory  # noqa: PLC0415

    from infra import ids  # noqa: PLC0415

    store = _desk().store(_scope(scope))
    now = store.now()
    memory = ResearchMemory(
        memory_id=ids.record_id("mem"),
        scope=store.file.scope,
        kind=kind,
        title=title,
        content=content,
        source_refs=tuple(sources or ()),
        created_at=now,
        updated_at=now,
    )
    _print_json(store.save(memory, actor=actor))


def verify(memory_id: str, scope: ScopeOption, actor: ActorOption) -> None:
    """Say that a memory was checked."""
    _move(memory_id, scope, actor, MemoryStatus.VERIFIED)


def publish(memory_id: str, scope: ScopeOption, actor: ActorOption) -> None:
    """Let a verified memory be found; a research case needs its approval and a passed receipt first."""
    _move(memory_id, scope, actor, MemoryStatus.PUBLISHED)


def revoke(memory_id: str, scope: ScopeOption, actor: ActorOption) -> None:
    """Withdraw a memory for good."""
    _move(memory_id, scope, actor, MemoryStatus.REVOKED)


def _move(memory_id: str, scope: str, actor: str, to: MemoryStatus) -> None:
    _print_json(_desk().store(_scope(scope)).move(memory_id, to, actor=actor))


def ask_approval(
    case_id: str,
    scope: ScopeOption,
    actor: ActorOption,
    payload: Annotated[Path, typer.Option(help="A JSON object: what is to be approved.")],
    risk: Annotated[str, typer.Option(help="low, medium or high.")] = "medium",
) -> None:
    """Ask for the approval of a research case; prints the token that the receipt must name, once."""
    from signal_search.contracts.research import Risk  # noqa: PLC0415

    from workers.memory.approvals import Approvals  # noqa: PLC0415

    body = _decoded(payload, dict[str, Any], "payload")
    level = _converted(risk, Risk, "risk")
    asked = Approvals(_desk().store(_scope(scope))).ask(case_id, body, requester=actor, risk=level)
    _print_json(asked)


def approve(
    package_id: str,
    scope: ScopeOption,
    actor: ActorOption,
    reason: Annotated[str, typer.Option(help="Why.")] = "",
    *,
    reject: Annotated[bool, typer.Option("--reject", help="Refuse it.")] = False,
) -> None:
    """Decide about a package, as somebody else than who asked. Nothing is run or published by it."""
    from workers.memory.approvals import Approvals  # noqa: PLC0415

    approvals = Approvals(_desk().store(_scope(scope)))
    decision: Any = "rejected" if reject else "approved"
    _print_json(approvals.decide(package_id, decision, approver=actor, reason=reason))


def receipt(
    file: Annotated[Path, typer.Argument(help="The receipt, a JSON object.")], scope: ScopeOption
) -> None:
    """Hand in what came of an approved package."""
    from workers.memory.receipts import Receipt, Receipts  # noqa: PLC0415

    given = _decoded(file, Receipt, "receipt")
    _print_json(Receipts(_desk().store(_scope(scope))).take(given))


def evaluate(
    file: Annotated[Path, typer.Argument(exists=True, dir_okay=False, help="A gold file.")],
    k: Annotated[int, typer.Option(min=1, help="Results that count for recall.")] = 10,
    *,
    live: Annotated[
        bool, typer.Option("--live", help="The file has live cases: ask the model, or the rules.")
    ] = False,
    mode: Annotated[
        str, typer.Option(help="Who plans and orders live cases: rule, llm or hybrid.")
    ] = "hybrid",
    max_live_calls: Annotated[
        int, typer.Option(min=1, max=20, help="Questions to the model in all.")
    ] = 20,
) -> None:
    """Compute Recall@K, MRR, nDCG@10 and leaks of a gold file; prints JSON with n.

    With --live how the model plans and orders, and exit code 1 when a case did not go as expected.
    """
    from infra.clock import SystemClock  # noqa: PLC0415
    from workers.memory.gold import evaluate_gold  # noqa: PLC0415

    if live:
        _evaluate_live(file, mode, max_live_calls)
        return
    _print_json(evaluate_gold(file.read_bytes(), k, SystemClock()))


def _evaluate_live(file: Path, mode: str, max_calls: int) -> None:
    from workers.memory.live_cases import read_live_cases  # noqa: PLC0415
    from workers.memory.live_eval import LiveRun, Mode  # noqa: PLC0415

    desk = _desk()
    asking, refusal = desk.model()
    wanted = _converted(mode, Mode, "mode")
    if wanted == "rule":
        refusal = ""
    elif asking is None:
        typer.echo(f"No model may be asked ({refusal}): the rules are measured.", err=True)
        wanted = "rule"
    version, cases = read_live_cases(file.read_bytes())
    ask = asking("live") if asking and wanted != "rule" else None
    run = LiveRun(desk.clock, ask, mode=wanted, max_calls=max_calls)
    made = run.report(version, cases, model_refusal=refusal)
    _print_json(made)
    raise typer.Exit(0 if all(each.passed for each in made.cases) else 1)


def _desk() -> "Desk":
    from infra.clock import SystemClock  # noqa: PLC0415
    from infra.settings import current  # noqa: PLC0415
    from workers.research import Desk  # noqa: PLC0415

    return Desk(current(), SystemClock())


def _scope(text: str) -> ScopeKey:
    from workers.memory.scope import PARTS, make_scope  # noqa: PLC0415

    names = text.split(",")
    if len(names) != len(PARTS):
        raise Invalid("A scope has five names, parted by commas.", field="scope")
    return make_scope(dict(zip(PARTS, names, strict=True)))


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


def _print_json(value: object) -> None:
    sys.stdout.buffer.write(msgspec.json.format(msgspec.json.encode(value), indent=1) + b"\n")
    sys.stdout.buffer.flush()
