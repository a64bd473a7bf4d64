"""Callers of research memory over HTTP: their tokens, and bodies with sensible contents."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from hashlib import sha256
from pathlib import Path
from typing import Any, NamedTuple, cast

import httpx
from msgspec import structs
from redis import Redis
from signal_search.contracts.research import ScopeKey

from infra.settings import Settings
from infra.tokens import TokenStore, tokens_path
from tests.fakes.search_stack import serving

ROOT = "/v1/research"
TOKEN = "ab" * 32  # of a receipt
TOKEN_DIGEST = sha256(TOKEN.encode()).hexdigest()
CONTENT = {"environment": "lab", "verification_summary": "ran", "evidence_refs": ["r1"]}


class Caller(NamedTuple):
    """Somebody with a token."""

    http: httpx.Client
    headers: dict[str, str]
    token: str

    def get(self, path: str, scope: ScopeKey, **params: Any) -> httpx.Response:
        query = {**structs.asdict(scope), **params}
        return self.http.get(f"{ROOT}{path}", params=query, headers=self.headers)

    def post(self, path: str, scope: ScopeKey, key: str = "", **body: Any) -> httpx.Response:
        headers = {**self.headers, **({"idempotency-key": key} if key else {})}
        named = {"scope": structs.asdict(scope), **body}
        return self.http.post(f"{ROOT}{path}", json=named, headers=headers)

    def kept(self, scope: ScopeKey, content: str = "alpha", **more: Any) -> str:
        """Keep a memory; return its id."""
        given = {"kind": "knowledge", "title": "note", "content": content, **more}
        return str(done(self.post("/memories", scope, **given), 201)["memory_id"])

    def move(self, memory_id: str, step: str, scope: ScopeKey, **body: Any) -> httpx.Response:
        return self.post(f"/memories/{memory_id}/{step}", scope, **body)

    def asked(self, case_id: str, scope: ScopeKey, **more: Any) -> dict[str, Any]:
        """Ask for an approval; return the package."""
        given = {
            "case_memory_id": case_id,
            "payload": {"b": 2, "a": ["patch"]},
            "receipt_token_digest": TOKEN_DIGEST,
            **more,
        }
        return done(self.post("/approvals", scope, **given), 201)


def done(reply: httpx.Response, status: int = 200) -> dict[str, Any]:
    assert reply.status_code == status, reply.text
    found: dict[str, Any] = reply.json()
    return found


def refused(reply: httpx.Response) -> tuple[int, str, str | None]:
    """Return status, code and field of a refusal."""
    detail = reply.json()["detail"]
    return reply.status_code, detail["code"], detail.get("field")


def a_receipt(package: dict[str, Any], **changes: Any) -> dict[str, Any]:
    """Return the body of a receipt, without its scope."""
    return {
        "package_id": package["package_id"],
        "case_memory_id": package["case_memory_id"],
        "payload_hash": package["payload_hash"],
        "receipt_token": TOKEN,
        "receipt_id": "step-1",
        "status": "passed",
        "receipt": CONTENT,
        **changes,
    }


def everything(redis: Redis, key: bytes) -> str:
    """Return all that is stored under a key, as text."""
    read: dict[bytes, Callable[[], object]] = {
        b"string": lambda: redis.get(key),
        b"hash": lambda: redis.hgetall(key),
        b"stream": lambda: redis.xrange(key),
        b"list": lambda: redis.lrange(key, 0, -1),
        b"set": lambda: redis.smembers(key),
        b"zset": lambda: redis.zrange(key, 0, -1),
        b"none": lambda: None,  # gone since it was listed
    }
    return repr(read[cast("bytes", redis.type(key))]())


class Library:
    """A gateway, workers with the folder, and tokens for whoever comes."""

    def __init__(self, http: httpx.Client, settings: Settings) -> None:
        self.http = http
        self.settings = settings

    def caller(self, tenant: str, *scopes: ScopeKey, person: str = "") -> Caller:
        store = TokenStore.load(tokens_path(self.settings))
        token, _record = store.create(
            tenant, ["read", "write"], {}, now_ms=0, research=scopes, person=person
        )
        return Caller(self.http, {"authorization": f"Bearer {token}"}, token)


@contextmanager
def a_library(redis_url: str, folder: Path, **more: Any) -> Iterator[Library]:
    """Serve until the block ends; `more` settings of research memory."""
    research = {"folder": str(folder / "memory"), "vectors": "off", **more}
    with serving(redis_url, folder, research=research) as found:
        yield Library(found.http, found.settings)
