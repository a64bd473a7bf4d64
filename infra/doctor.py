"""`doctor`: what is wrong with this installation, and what to do about it. It changes nothing and prints no secret."""

import stat
from collections.abc import Iterator
from urllib.parse import urlsplit

from signal_search.errors import Invalid

from infra import probe
from infra.catalog.catalog import SourceRow, custom_rows, shipped_rows
from infra.settings import Settings, child_environment
from infra.stack import running_stack
from infra.store_checks import Check, check_broker, check_store, listens
from infra.tokens import TokenStore, tokens_path

_LOOPBACK = {"127.0.0.1", "::1", "localhost"}


def examine(settings: Settings) -> list[Check]:
    """Return every finding, in the order in which one mends them."""
    running = running_stack(settings.data_path)
    return [
        *check_store(settings.redis_url or (running.redis_url if running else "")),
        *check_broker(settings.broker),
        *_check_tokens(settings),
        *_check_flower(settings),
        *_check_sources(settings),
        *_check_model(settings),
        *_check_ports(settings),
    ]


def is_well(checks: list[Check]) -> bool:
    """Return whether nothing failed; warnings are allowed."""
    return all(check.state != "fail" for check in checks)


def _check_tokens(settings: Settings) -> Iterator[Check]:
    path = tokens_path(settings)
    try:
        count = len(TokenStore.load(path).records)
    except Invalid:
        yield Check(
            name="tokens",
            state="fail",
            says="The tokens file is not valid.",
            advice="Restore it, or remove it and create tokens again with `signal-search token create`.",
        )
        return
    yield _tokens_found(count, settings.gateway.host in _LOOPBACK)
    if path.exists() and path.stat().st_mode & (stat.S_IRWXG | stat.S_IRWXO):
        yield Check(
            name="tokens",
            state="warn",
            says="Others on this machine can open the tokens file.",
            advice="chmod 600 the tokens file.",
        )


def _tokens_found(count: int, is_near: bool) -> Check:  # noqa: FBT001
    if count:
        return Check(name="tokens", state="ok", says=f"{count} token(s).")
    if is_near:
        return Check(
            name="tokens", state="ok", says="None: only this machine may call the gateway."
        )
    return Check(
        name="tokens",
        state="fail",
        says="The gateway listens beyond this machine and no token is configured: it lets nobody in.",
        advice="Run `signal-search token create --tenant NAME`.",
    )


def _check_flower(settings: Settings) -> Iterator[Check]:
    if settings.flower.host not in _LOOPBACK:
        yield Check(
            name="flower",
            state="warn",
            says="Flower listens beyond this machine; its /metrics and /healthcheck need no password.",
            advice="Set flower.host to 127.0.0.1 and reach it through a tunnel or a proxy.",
        )
    is_set = bool(settings.flower_password.get_secret_value())
    says = "Its password is set." if is_set else "No password set: one is made at each start."
    yield Check(name="flower", state="ok", says=says)


def _check_sources(settings: Settings) -> Iterator[Check]:
    try:
        rows = {row.id: row for row in (*shipped_rows(), *custom_rows(settings.sources.custom))}
    except Invalid as error:
        advice = "Correct the row in signal-search.toml."
        yield Check(name="sources", state="fail", says=error.message, advice=advice)
        return
    if "*" in settings.sources.enabled:
        yield Check(name="sources", state="ok", says="The whole catalogue is enabled.")
        return
    enabled = [rows[each] for each in settings.sources.enabled if each in rows]
    if len(enabled) < len(settings.sources.enabled):
        yield Check(
            name="sources",
            state="fail",
            says=f"sources.enabled names {len(settings.sources.enabled) - len(enabled)} unknown source(s).",
            advice="`signal-search sources list` shows the known ones.",
        )
    else:
        yield Check(name="sources", state="ok", says=f"{len(enabled)} enabled.")
    yield from _source_keys(enabled)


def _source_keys(enabled: list[SourceRow]) -> Iterator[Check]:
    present = child_environment()
    for row in enabled:
        if row.key_env and not present.get(row.key_env):
            yield Check(
                name="sources",
                state="warn",
                says=f"{row.id} has no key and is skipped.",
                advice=f"Set {row.key_env}, or take it out of sources.enabled.",
            )


def _check_model(settings: Settings) -> Iterator[Check]:
    search = settings.search
    wants = search.agent_enabled or search.scorer_generation_enabled
    if wants and not search.has_model:
        yield Check(
            name="model",
            state="warn",
            says="A model is switched on, but its address, name or key is missing.",
            advice="Set search.agent_base_url, search.agent_model and SIGNAL_SEARCH_SEARCH__AGENT_API_KEY.",
        )
        return
    says = "Generation of scorers is on." if search.generates else "No scorers are generated."
    yield Check(name="model", state="ok", says=says)
    parts = urlsplit(search.agent_base_url)
    if wants and parts.scheme.lower() == "http" and parts.hostname not in _LOOPBACK:
        yield Check(
            name="model",
            state="warn",
            says="The model's key goes to another machine unencrypted.",
            advice="Use an https address for search.agent_base_url.",
        )


def _check_ports(settings: Settings) -> Iterator[Check]:
    gateway, flower = settings.gateway, settings.flower
    if not listens(gateway.host, gateway.port):
        says = f"Port {gateway.port} is free for the gateway."
        yield Check(name="ports", state="ok", says=says)
    elif probe.answers(gateway.host, gateway.port, "/healthz"):
        yield Check(name="ports", state="ok", says=f"The gateway answers on port {gateway.port}.")
    else:
        yield Check(
            name="ports",
            state="fail",
            says=f"Another program has port {gateway.port}.",
            advice="Choose one: `signal-search up --port N` or SIGNAL_SEARCH_GATEWAY__PORT.",
        )
    if flower.port == gateway.port:
        yield Check(
            name="ports",
            state="fail",
            says="Flower and the gateway have the same port.",
            advice="Change flower.port or gateway.port.",
        )
