"""`signal-search jobs ...` and `export`: look at jobs, follow, cancel, and take their results along."""
# ruff: noqa: PLR0913, PLR0917, FBT002 - typer reads the options off the signature

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Annotated

import msgspec
import typer

from signal_search.citations.works import one_line
from signal_search.cli.adaptive_render import adaptive_ending, adaptive_lines
from signal_search.cli.delegations import answer, delegations
from signal_search.cli.options import (
    FormatOption,
    GatewayOption,
    JobArgument,
    JsonOption,
    LangOption,
    OutputOption,
    QuietOption,
    RedisOption,
    TokenOption,
    at_the_desk,
    write_out,
)
from signal_search.cli.progress import showing
from signal_search.cli.render import ending, lines_of
from signal_search.cli.research_render import memory_lines, research_lines
from signal_search.cli.search_render import search_ending, search_lines, survey_lines
from signal_search.cli.terminal import ANSWERED, FAILED, INTERRUPTED, Line, Terminal
from signal_search.client import Client
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.contracts.job import Job, JobState
from signal_search.contracts.memory_result import MemoryResult
from signal_search.contracts.outcome import AnyResult
from signal_search.contracts.research_result import ResearchResult
from signal_search.contracts.result import Result
from signal_search.contracts.search_result import SearchResult
from signal_search.errors import NotFound


def jobs_app() -> typer.Typer:
    """Return the group; rooms may add commands to it."""
    app = typer.Typer(
        help="Look at jobs, follow and cancel them, take their results.", no_args_is_help=True
    )
    app.command("list")(list_jobs)
    app.command("show")(show)
    app.command("watch")(watch)
    app.command("cancel")(cancel)
    app.command("result")(result)
    app.command("export")(export)
    app.command("bundle")(bundle)
    app.command("delegations")(delegations)
    app.command("answer")(answer)
    return app


def list_jobs(
    state: Annotated[JobState | None, typer.Option(help="Only jobs in this state.")] = None,
    limit: Annotated[int | None, typer.Option(min=1, help="At most so many.")] = None,
    cursor: Annotated[str | None, typer.Option(help="Where the last page ended.")] = None,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """List jobs, newest first."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        jobs, following = client.jobs(state=state, limit=limit, cursor=cursor)
    if as_json:
        typer.echo(msgspec.json.encode({"jobs": jobs, "next_cursor": following}))
        return
    for job in jobs:
        terminal.say(_row(job, terminal))
    if not jobs:
        terminal.note(terminal.texts("no_jobs"))
    if following:
        terminal.note(terminal.texts("more", cursor=following))


def show(
    job_id: JobArgument,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Show a job's state and progress."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        _print_job(client.job(job_id), terminal, as_json=as_json)


def watch(
    job_id: JobArgument,
    as_json: JsonOption = False,
    no_progress: QuietOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Follow a job to its end; leaving does not cancel it."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        job = _watched(client, job_id, terminal, wanted=not no_progress)
    _print_job(job, terminal, as_json=as_json)
    answered = job.state in {JobState.SUCCEEDED, JobState.PARTIAL}
    raise typer.Exit(ANSWERED if answered else FAILED)


def _watched(client: Client, job_id: str, terminal: Terminal, *, wanted: bool) -> Job:
    job: Job | None = None
    try:
        with showing(terminal, wanted=wanted) as show_update:
            for update in client.follow(job_id):
                job = update.job
                show_update(update)
    except KeyboardInterrupt as error:
        terminal.note(terminal.texts("left"), "yellow")
        raise typer.Exit(INTERRUPTED) from error
    if job is None:
        raise NotFound("the job has no log", code="job_not_found")
    return job


def cancel(
    job_id: JobArgument,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Cancel a job."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        _print_job(client.cancel(job_id), terminal, as_json=as_json)


def result(
    job_id: JobArgument,
    as_json: JsonOption = False,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Print a finished job's result; exit codes as of `retrieve`."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        found = client.result(job_id)
    if as_json:
        typer.echo(msgspec.json.encode(found))
    else:
        for line in _lines(found, terminal):
            terminal.say(line)
    raise typer.Exit(_ending(found))


def _ending(found: AnyResult) -> int:
    if isinstance(found, Result):
        return ending(found)
    if isinstance(found, AdaptiveResult):
        return adaptive_ending(found)
    return ANSWERED if isinstance(found, ResearchResult | MemoryResult) else search_ending(found)


def _lines(found: AnyResult, terminal: Terminal) -> Iterator[Line]:
    if isinstance(found, Result):
        return lines_of(found, terminal.texts)
    if isinstance(found, AdaptiveResult):
        return adaptive_lines(found, terminal.texts)
    if isinstance(found, SearchResult):
        return search_lines(found, terminal.texts, top=len(found.hits))
    if isinstance(found, ResearchResult):
        return research_lines(found)
    if isinstance(found, MemoryResult):
        return memory_lines(found)
    return survey_lines(found, terminal.texts, top=len(found.hits))


def export(
    job_id: JobArgument,
    format_name: FormatOption = "markdown",
    output: OutputOption = None,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Print a finished job's citations or document in an export format."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        text = client.export(job_id, format_name)
    write_out(text, output, terminal)


def bundle(
    job_id: JobArgument,
    output: OutputOption = None,
    gateway: GatewayOption = None,
    redis: RedisOption = None,
    token: TokenOption = None,
    lang: LangOption = "en",
) -> None:
    """Write a job's log and documents to a file (without --output to stdout), for replay."""
    terminal = Terminal(lang)
    with at_the_desk(terminal, gateway, redis, token) as client:
        archive = client.bundle(job_id)
    if output is None:
        typer.echo(archive, nl=False)
        return
    output.write_bytes(archive)
    terminal.note(terminal.texts("written", path=str(output)))


def _print_job(job: Job, terminal: Terminal, *, as_json: bool) -> None:
    if as_json:
        typer.echo(msgspec.json.encode(job))
        return
    texts, progress = terminal.texts, job.progress
    terminal.say(_row(job, terminal))
    terminal.say("  " + texts("calls", done=progress.calls_done, planned=progress.calls_planned))
    terminal.say(
        "  "
        + texts(
            "fetches",
            done=progress.fetches_done,
            queued=progress.fetches_queued,
            refused=progress.fetches_refused,
        )
    )
    terminal.say("  " + texts("documents", count=progress.documents))
    for dimension, left in progress.left.items():
        used = progress.used.get(dimension, 0)
        terminal.say("  " + texts("budget", dimension=one_line(dimension), used=used, left=left))
    if job.error_code:
        terminal.say(f"  {one_line(job.error_code)}: {one_line(job.error_message)}")


def _row(job: Job, terminal: Terminal) -> str:
    created = datetime.fromtimestamp(job.created_at_ms / 1000, UTC).strftime("%Y-%m-%d %H:%M:%SZ")
    state = terminal.texts(f"state.{job.state.value}")
    return "  ".join((one_line(job.id), created, state, one_line(job.query)))
