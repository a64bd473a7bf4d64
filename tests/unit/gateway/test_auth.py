"""The gate: tokens when there are any, this machine's own callers when there are none, nobody in doubt."""

from pathlib import Path
from typing import Any

import pytest
from signal_search.errors import Forbidden, Unauthorized

from api_gateway.auth import Gate, is_loopback
from infra.tokens import TokenStore


def scope(
    token: str | None = None,
    *,
    method: str = "GET",
    client: tuple[str, int] | None = ("127.0.0.1", 5),
    host: str = "127.0.0.1:8600",
    **more: str,
) -> dict[str, Any]:
    headers = [(b"host", host.encode())]
    if token is not None:
        headers.append((b"authorization", token.encode()))
    headers += [(key.replace("_", "-").encode(), value.encode()) for key, value in more.items()]
    return {"headers": headers, "method": method, "client": client}


@pytest.fixture
def tokens(tmp_path: Path) -> Path:
    return tmp_path / "tokens.json"


def add(path: Path, tenant: str, *scopes: str) -> str:
    token, _record = TokenStore.load(path).create(tenant, scopes, {}, now_ms=1)
    return token


def test_a_token_names_its_tenant(tokens: Path):
    red, blue = add(tokens, "red", "read"), add(tokens, "blue", "read")
    gate = Gate(tokens)
    assert gate.admit(scope(f"Bearer {red}")).tenant == "red"
    assert (
        gate.admit(scope(f"bearer {blue}", client=("203.0.113.9", 5), host="a.example")).tenant
        == "blue"
    )


@pytest.mark.parametrize(
    "given", [None, "", "Bearer", "Bearer ", "Bearer wrong", "Basic {}", "{}", "Bearer {}x"]
)
def test_without_a_valid_token_nobody_comes_in(tokens: Path, given: str | None):
    right = add(tokens, "red", "read")
    with pytest.raises(Unauthorized):
        Gate(tokens).admit(scope(given and given.format(right)))


def test_two_tokens_in_one_request_are_none(tokens: Path):
    right = add(tokens, "red", "read")
    twice = scope(f"Bearer {right}")
    twice["headers"].append((b"authorization", b"Bearer other"))
    with pytest.raises(Unauthorized):
        Gate(tokens).admit(twice)


def test_a_scope_says_what_a_token_may_do(tokens: Path):
    gate = Gate(tokens)
    reader = add(tokens, "red", "read")
    gate.admit(scope(f"Bearer {reader}", method="HEAD"))
    for method in ("POST", "DELETE"):
        with pytest.raises(Forbidden):
            gate.admit(scope(f"Bearer {reader}", method=method))


def test_a_revoked_token_ends_at_once_and_the_gate_stays_locked(tokens: Path):
    token = add(tokens, "red", "read")
    gate = Gate(tokens)
    gate.admit(scope(f"Bearer {token}"))
    tokens.unlink()
    with pytest.raises(Unauthorized):
        gate.admit(scope(f"Bearer {token}"))
    with pytest.raises(Unauthorized):
        gate.admit(scope())


def test_a_broken_file_leaves_the_tokens_in_force(tokens: Path):
    token = add(tokens, "red", "read")
    gate = Gate(tokens)
    tokens.write_text("{")
    assert gate.admit(scope(f"Bearer {token}")).tenant == "red"


@pytest.mark.parametrize(
    ("client", "host"),
    [
        (("127.0.0.1", 1), "localhost:8600"),
        (("::1", 1), "[::1]:8600"),
        (None, "127.0.0.1"),
    ],
)
def test_with_no_token_configured_this_machine_is_the_local_tenant(
    tokens: Path, client: Any, host: str
):
    assert Gate(tokens).admit(scope(client=client, host=host, method="POST")).tenant == "local"


@pytest.mark.parametrize(
    "asked",
    [
        scope(client=("203.0.113.9", 1)),
        scope(host="rebound.example"),
        scope(host=""),
        scope(host="[::1"),
        scope(x_forwarded_for="203.0.113.9"),
        scope(forwarded="for=203.0.113.9"),
    ],
)
def test_with_no_token_configured_others_stay_out(tokens: Path, asked: dict[str, Any]):
    with pytest.raises(Unauthorized):
        Gate(tokens).admit(asked)


def test_the_first_token_locks_a_running_gate(tokens: Path):
    gate = Gate(tokens)
    gate.admit(scope())
    add(tokens, "red", "read")
    with pytest.raises(Unauthorized):
        gate.admit(scope())


@pytest.mark.parametrize(
    ("host", "near"),
    [
        ("127.0.0.1", True),
        ("127.9.9.9", True),
        ("::1", True),
        ("localhost", True),
        ("10.0.0.1", False),
        ("localhost.example", False),
        ("", False),
    ],
)
def test_what_is_this_machine(host: str, near: bool):
    assert is_loopback(host) is near
