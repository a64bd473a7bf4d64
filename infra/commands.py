"""The cellar's commands: up, worker, gateway, flower, token, doctor."""

import os
import signal
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from threading import Event
from types import FrameType
from typing import Annotated, NoReturn

import msgspec
import typer
from pydantic import ValidationError
from signal_search.errors import Conflict, SignalSearchError

from infra import command_lines, ids
from infra.doctor import examine, is_well
from infra.roles import Role
from infra.settings import Settings, child_environment, current
from infra.stack import Parts, Stack, running_stack
from infra.store_checks import Check
from infra.token_commands import tokens

_STATES = {"ok": "ok  ", "warn": "warn", "fail": "FAIL"}
_WEB_PORT = 8601


def register(app: typer.Typer) -> None:
    """Add this room's commands to the command line."""
    app.command()(up)
    app.command()(worker)
    app.command()(gateway)
    app.command()(flower)
    app.command()(doctor)
    app.add_typer(tokens, name="token")


def up(
    workers_crawl: Annotated[int, typer.Option(min=0, max=64, help="Workers that fetch.")] = 1,
    workers_reduce: Annotated[int, typer.Option(min=0, max=64, help="Workers that think.")] = 1,
    port: Annotated[int, typer.Option(min=0, max=65535, help="The gateway's port; 0: as set.")] = 0,
    flower: Annotated[bool, typer.Option(help="Show workers and queues in Flower.")] = True,  # noqa: FBT002
    loopback_web: Annotated[bool, typer.Option(help="Ask only a small web of our own.")] = False,  # noqa: FBT002
    web_port: Annotated[int, typer.Option(min=1, max=65535, help="That web's port.")] = _WEB_PORT,
) -> None:
    """Run the whole stack on this machine until Ctrl-C."""
    settings = _settings()
    password = _flower_password(settings) if flower else ""
    parts = Parts(
        workers={"crawl": workers_crawl, "reduce": workers_reduce},
        gateway=True,
        port=port,
        flower_password=password,
        web_port=web_port if loopback_web else 0,
    )
    stack = Stack(settings, parts, environment=_web_environment(parts.web_port))
    with _told(), _one_interrupt():
        _run(stack, settings, parts)


def worker(
    role: Annotated[Role, typer.Option(help="Which queues it takes.")] = "all",
    concurrency: Annotated[int, typer.Option(min=0, max=256, help="0: as usual.")] = 0,
    name: Annotated[str, typer.Option(help="Needed for a second one of a role.")] = "",
    events: Annotated[bool, typer.Option(help="Tell Flower what happens.")] = False,  # noqa: FBT002
) -> None:
    """Run one worker of a role; it becomes this process."""
    with _told():
        environment = {**_store_environment(_settings()), "SIGNAL_SEARCH_WORKER_ROLE": role}
        command = command_lines.worker(role, name=name, concurrency=concurrency, events=events)
        _become(command, environment)


def gateway(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: as set.")] = 0,
) -> None:
    """Run the HTTP gateway; it becomes this process."""
    with _told():
        settings = _settings()
        _become(command_lines.gateway(settings.gateway, port=port), _store_environment(settings))


def flower(
    port: Annotated[int, typer.Option(min=0, max=65535, help="0: as set.")] = 0,
    address: Annotated[str, typer.Option(help="Where to listen; empty: as set.")] = "",
) -> None:
    """Run Flower, read-only and behind a password; it becomes this process."""
    with _told():
        settings = _settings()
        login = f"{settings.flower.user}:{_flower_password(settings)}"
        environment = {**_store_environment(settings), "FLOWER_BASIC_AUTH": login}
        _become(command_lines.flower(settings.flower, address=address, port=port), environment)


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print one JSON document.")] = False,  # noqa: FBT002
) -> None:
    """Say what is wrong with this installation and what to do."""
    checks = _examine()
    if as_json:
        typer.echo(msgspec.json.encode({"well": is_well(checks), "checks": checks}))
    for check in [] if as_json else checks:
        typer.echo(f"{_STATES[check.state]}  {check.name:<12} {check.says}")
        if check.advice:
            typer.echo(f"      {'':<12} -> {check.advice}")
    raise typer.Exit(0 if is_well(checks) else 1)


def _examine() -> list[Check]:
    try:
        settings = current()
    except ValidationError as error:
        advice = "Correct it in signal-search.toml or the environment; bounds: docs/reference/settings.md."
        return [
            Check(name="settings", state="fail", says=each, advice=advice) for each in _wrong(error)
        ]
    return [Check(name="settings", state="ok", says="All valid."), *examine(settings)]


def _settings() -> Settings:
    try:
        return current()
    except ValidationError as error:
        for each in _wrong(error):
            typer.echo(each, err=True)
        raise typer.Exit(2) from error


def _wrong(error: ValidationError) -> list[str]:
    """Return a line per wrong setting: its name and the rule, never the value."""
    found = error.errors(include_input=False, include_url=False)
    return [f"{'.'.join(map(str, each['loc']))}: {each['msg']}" for each in found]


def _run(stack: Stack, settings: Settings, parts: Parts) -> None:
    _say("starting ...")
    try:
        stack.start()
        _say(f"gateway   {stack.gateway_url}")
        if parts.flower_password:
            _say(f"flower    http://{settings.flower.host}:{settings.flower.port}")
        if parts.web_port:
            _say(f"web       http://127.0.0.1:{parts.web_port}")
        _say(f"logs      {settings.data_path / 'logs'}")
        _say("ready; Ctrl-C stops everything")
        stack.run(Event(), lambda name: _say(f"{name} ended and was started again"))
    except KeyboardInterrupt:
        _say("stopping ...")
    finally:
        stack.stop()
    _say("stopped")


def _web_environment(port: int) -> dict[str, str]:
    """Return the settings that send every request to the loopback web on `port`, and none elsewhere."""
    if not port:
        return {}
    from infra.loopback_web.server import hosts  # noqa: PLC0415  a web server; only this flag needs it

    return {
        "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
        "SIGNAL_SEARCH_LOOPBACK__HOSTS": msgspec.json.encode(hosts(port)).decode(),
    }


def _flower_password(settings: Settings) -> str:
    """Return the configured password, else a new one, shown once."""
    password = settings.flower_password.get_secret_value()
    if not password:
        password = ids.secret_token()
        _say(f"flower    user {settings.flower.user}, password {password}")
    return password


def _store_environment(settings: Settings) -> dict[str, str]:
    """Return this environment with the store's and the broker's address in it.

    Raises:
        Conflict: no store is configured, and no stack runs on the data folder.
    """
    running = running_stack(settings.data_path)
    url = settings.redis_url or (running.redis_url if running else "")
    if not url:
        raise Conflict("There is no store: run `signal-search up`, or set SIGNAL_SEARCH_REDIS_URL.")
    return child_environment(
        SIGNAL_SEARCH_REDIS_URL=url,
        SIGNAL_SEARCH_BROKER_URL=settings.broker_url or url,
    )


def _become(command: list[str], environment: dict[str, str]) -> NoReturn:
    sys.stdout.flush()
    os.execve(command[0], command, environment)  # noqa: S606  our own command, no shell


@contextmanager
def _told() -> Iterator[None]:
    """End with the error's own sentence instead of a traceback."""
    try:
        yield
    except SignalSearchError as error:
        typer.echo(error.message, err=True)
        raise typer.Exit(1) from error


@contextmanager
def _one_interrupt() -> Iterator[None]:
    """Let the first of SIGINT, SIGTERM, SIGHUP interrupt; the rest must not disturb the orderly end."""
    numbers = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)

    def interrupt(_number: int, _frame: FrameType | None) -> None:
        for number in numbers:
            signal.signal(number, signal.SIG_IGN)
        raise KeyboardInterrupt

    before = {number: signal.signal(number, interrupt) for number in numbers}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _say(line: str) -> None:
    with suppress(BrokenPipeError):  # the terminal is gone; the end must still be orderly
        typer.echo(line, err=True)
