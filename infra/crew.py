"""Which processes a stack has: from settings and wishes to children that are not started yet."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

from msgspec import Struct

from infra import command_lines
from infra.child import Child, Kept
from infra.clock import Clock
from infra.roles import Role
from infra.settings import Settings, child_environment

_GATEWAY_STOP_S = 12.0  # its own limit for open requests is 10 s
_WORKER_STOP_S = 25.0  # warm shutdown: the workers give up by themselves after 10 s
_OTHER_STOP_S = 5.0


class Parts(Struct, frozen=True, kw_only=True):
    """What shall run. port: 0 means the configured one. web_port: 0 means no loopback web.

    flower_password: empty means no Flower. concurrency: of each worker, 0 means its role's usual one.
    """

    workers: dict[Role, int]
    gateway: bool = False
    port: int = 0
    flower_password: str = ""
    web_port: int = 0
    concurrency: int = 0


class Crew:
    """The children of one stack, by kind; `others` are the loopback web and Flower."""

    def __init__(
        self,
        settings: Settings,
        parts: Parts,
        redis_url: str,
        clock: Clock,
        extra: Mapping[str, str],
    ) -> None:
        """Make the children; `extra` are environment variables on top of this process's own."""
        self._settings = settings
        self._parts = parts
        self._clock = clock
        self._environment = _environment(settings, parts, redis_url, extra)
        self.others = list(self._make_others())
        self.workers = list(self._make_workers())
        self.gateway = list(self._make_gateway())

    @property
    def in_stop_order(self) -> list[list[Kept]]:
        """Return the children in groups: a group is stopped when the one before it has ended."""
        return [self.gateway, self.workers, self.others]

    @property
    def everyone(self) -> list[Kept]:
        """Return all children, first needed first."""
        return [*self.others, *self.workers, *self.gateway]

    def _make_others(self) -> Iterator[Kept]:
        if self._parts.web_port:
            yield self._keep("web", command_lines.loopback_web(self._parts.web_port), {})
        if self._parts.flower_password:
            # Nobody but Flower needs to know the password.
            login = f"{self._settings.flower.user}:{self._parts.flower_password}"
            command = command_lines.flower(self._settings.flower)
            yield self._keep("flower", command, {"FLOWER_BASIC_AUTH": login})

    def _make_workers(self) -> Iterator[Kept]:
        for role, count in self._parts.workers.items():
            for number in range(1, count + 1):
                yield self._worker(role, f"{role}{number}")

    def _worker(self, role: Role, name: str) -> Kept:
        command = command_lines.worker(
            role,
            name=name,
            concurrency=self._parts.concurrency,
            events=bool(self._parts.flower_password),
        )
        role_variable = {"SIGNAL_SEARCH_WORKER_ROLE": role}
        return self._keep(f"worker-{name}", command, role_variable, stop_s=_WORKER_STOP_S)

    def _make_gateway(self) -> Iterator[Kept]:
        if self._parts.gateway:
            command = command_lines.gateway(self._settings.gateway, port=self._parts.port)
            yield self._keep("gateway", command, {}, stop_s=_GATEWAY_STOP_S)

    def _keep(
        self,
        name: str,
        command: Sequence[str],
        variables: Mapping[str, str],
        *,
        stop_s: float = _OTHER_STOP_S,
    ) -> Kept:
        log = folder(self._settings) / "logs" / f"{name}.log"
        environment = {**self._environment, **variables}
        child = Child(name, command, log=log, environment=environment)
        return Kept(child, self._clock, stop_s=stop_s)


def folder(settings: Settings) -> Path:
    """Return the data folder, absolute: children may run elsewhere."""
    return settings.data_path.absolute()


def ports(settings: Settings, parts: Parts) -> Iterator[tuple[str, str, int]]:
    """Yield who of a stack listens, and where: name, host, port."""
    if parts.web_port:
        yield "the loopback web", "127.0.0.1", parts.web_port
    if parts.flower_password:
        yield "Flower", settings.flower.host, settings.flower.port
    if parts.gateway:
        yield "the gateway", settings.gateway.host, parts.port or settings.gateway.port


def gateway_url(settings: Settings, parts: Parts) -> str:
    """Return where the stack's gateway listens, empty without one."""
    if not parts.gateway:
        return ""
    return f"http://{settings.gateway.host}:{parts.port or settings.gateway.port}"


def _environment(
    settings: Settings, parts: Parts, redis_url: str, extra: Mapping[str, str]
) -> dict[str, str]:
    ours = {
        "SIGNAL_SEARCH_REDIS_URL": redis_url,
        "SIGNAL_SEARCH_BROKER_URL": settings.broker_url or redis_url,
        "SIGNAL_SEARCH_DATA_DIR": str(folder(settings)),
        "SIGNAL_SEARCH_GATEWAY_URL": gateway_url(settings, parts),
    }
    return child_environment(**{**ours, **extra})
