"""A double of the gateway's wire format: a real HTTP server on this machine with one scripted job and named faults.

It knows nothing of the product's own gateway; both are held against the same written interface.
"""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

import msgspec
from signal_search.citations import FORMATS, export
from signal_search.contracts.job import TERMINAL_STATES, Job, JobState, Progress, RetrieveSpec
from signal_search.contracts.plan import Plan, PlannedCall, SubQuestion
from signal_search.contracts.query import Intent, RetrieveRequest, Tier
from signal_search.contracts.result import Result
from signal_search.contracts.source import Request, SourceView
from signal_search.contracts.trace import (
    Assessed,
    CallRefused,
    Ended,
    FetchFinished,
    FetchQueued,
    LogEntry,
    Planned,
    Stopped,
    Submitted,
)

from tests.fakes.results import a_result, a_stop

JOB_ID = "job_0001"
NOW_MS = 1_790_000_000_000
BUNDLE = b"(\xb5/\xfd\x00\r\nbytes"


def a_log(state: JobState = JobState.SUCCEEDED) -> list[LogEntry]:
    """Return the log of a small job."""
    request = RetrieveRequest(query="What is WAL?")
    spec = RetrieveSpec(
        id=JOB_ID,
        tenant="t",
        request=request,
        created_at_ms=NOW_MS,
        deadline_ms=NOW_MS + 60_000,
        result_ttl_s=600,
    )
    plan = Plan(
        query="What is WAL?", language="en", intent=Intent.FACT, intent_confidence=0.9, tier=Tier.L1, tier_reason="short",
        questions=(SubQuestion(id="q1", text="What is WAL?"),), calls=(PlannedCall(id="c1", source_id="arxiv", question_id="q1"),),
        limits={"calls": 5}, max_sources=5, max_rounds=1,
    )  # fmt: skip
    url = "https://export.arxiv.org/api/query?q=a\u2028b"
    fetch = Request(url=url, adapter="arxiv", source_id="arxiv", kind="api")
    return [
        Submitted(at_ms=NOW_MS, key="1", job=spec),
        Planned(at_ms=NOW_MS, key="2", plan=plan, rules={}),
        CallRefused(
            at_ms=NOW_MS, key="3", call_id="c2", source_id="nowhere", reason="not_configured"
        ),
        FetchQueued(
            at_ms=NOW_MS,
            key="4",
            fetch_id="f1",
            call_id="c1",
            request=fetch,
            uid="u1",
            host="export.arxiv.org",
            disposition="queued",
            ready_in_ms=14_000,
        ),
        FetchFinished(
            at_ms=NOW_MS,
            key="5",
            fetch_id="f1",
            call_id="c1",
            url=url,
            state="fetched",
            status=200,
            documents=("d1",),
        ),
        Assessed(
            at_ms=NOW_MS,
            key="6",
            round=1,
            documents=1,
            coverage=1.0,
            saturation=0.5,
            tokens=10,
            verdict="stop",
        ),
        Stopped(at_ms=NOW_MS, key="7", stop=a_stop(), evidence=("d1",)),
        Ended(at_ms=NOW_MS, key="8", state=state),
    ]


@dataclass
class Seen:
    """One request as it came in."""

    method: str
    path: str
    query: dict[str, str]
    headers: dict[str, str]
    body: bytes


@dataclass
class Fault:
    """Answer the next matching request like this instead: a status, a dropped reply, or text of another kind."""

    method: str
    suffix: str
    status: int = 0
    code: str = ""
    headers: dict[str, str] = field(default_factory=dict)
    raw: bytes | None = None


@dataclass
class Script:
    """What the double does. `cut_after`: close the event stream after so many entries; None: to the end."""

    result: Result = field(default_factory=a_result)
    state: JobState = JobState.SUCCEEDED
    error_code: str = ""
    log: list[LogEntry] = field(default_factory=a_log)
    token: str = ""
    streams: bool = True
    cut_after: int | None = None
    endless: str = ""  # "alive": signs of life without end; "silent": nothing without end
    polls_to_end: int = 0
    faults: list[Fault] = field(default_factory=list)
    expired: bool = False


class WireGateway:
    """The server; `seen` is what it was asked, `jobs_made` how many jobs that made."""

    def __init__(self) -> None:
        self.script = Script()
        self.seen: list[Seen] = []
        self.keys: dict[str, bytes] = {}
        self.jobs_made = 0
        self.cancelled = threading.Event()
        self.stopping = threading.Event()
        self.polls = 0
        self.url = ""

    def job(self) -> Job:
        script = self.script
        running = bool(script.endless) or self.polls < script.polls_to_end
        state = JobState.CRAWLING if running else script.state
        if self.cancelled.is_set():
            state = JobState.CANCELLED
        progress = Progress(calls_planned=4, calls_done=2, fetches_queued=1, fetches_done=3, documents=2, round=1, coverage=0.5, saturation=0.25, used={"calls": 2}, left={"calls": 3}, waiting_on=("export.arxiv.org",), eta_ms=14_000)  # fmt: skip
        return Job(id=JOB_ID, kind="retrieve", state=state, query="What is WAL?", created_at_ms=NOW_MS, deadline_ms=NOW_MS + 60_000, progress=progress, error_code=script.error_code if state is JobState.FAILED else "", error_message="it broke" if script.error_code else "")  # fmt: skip

    def paths(self, method: str) -> list[str]:
        return [each.path for each in self.seen if each.method == method]


class _Handler(BaseHTTPRequestHandler):
    gateway: WireGateway

    def log_message(self, *args: object) -> None:
        pass

    def do_GET(self) -> None:
        self._take("GET")

    def do_POST(self) -> None:
        self._take("POST")

    def do_DELETE(self) -> None:
        self._take("DELETE")

    def _take(self, method: str) -> None:
        parts = urlsplit(self.path)
        query = {name: values[0] for name, values in parse_qs(parts.query).items()}
        body = self.rfile.read(int(self.headers.get("Content-Length", 0)))
        seen = Seen(
            method, parts.path, query, {k.lower(): v for k, v in self.headers.items()}, body
        )
        self.gateway.seen.append(seen)
        script = self.gateway.script
        if script.token and seen.headers.get("authorization") != f"Bearer {script.token}":
            self._problem(401, "unauthorized")
        elif not self._faulty(seen):
            self._answer(seen)

    def _faulty(self, seen: Seen) -> bool:
        for fault in self.gateway.script.faults:
            if fault.method == seen.method and seen.path.endswith(fault.suffix):
                self.gateway.script.faults.remove(fault)
                return self._do(fault, seen)
        return False

    def _do(self, fault: Fault, seen: Seen) -> bool:
        if fault.status == 0:  # do the work, then lose the reply
            if seen.method == "POST":
                self._make(seen)
            self.close_connection = True
        elif fault.raw is not None:
            self._send(fault.status, "text/html", fault.raw, fault.headers)
        else:
            self._problem(fault.status, fault.code, fault.headers)
        return True

    def _make(self, seen: Seen) -> bool:
        """Make a job unless the key is known; say whether it was new."""
        key = seen.headers["idempotency-key"]
        new = key not in self.gateway.keys
        if new:
            self.gateway.jobs_made += 1
            self.gateway.keys[key] = seen.body
        return new

    def _answer(self, seen: Seen) -> None:
        tail = seen.path.removeprefix(f"/v1/jobs/{JOB_ID}")
        match (seen.method, seen.path, tail):
            case ("POST", "/v1/retrieve", _):
                msgspec.json.decode(seen.body, type=RetrieveRequest)
                new = self._make(seen)
                self._json(
                    202 if new else 200, self.gateway.job(), {"Location": f"/v1/jobs/{JOB_ID}"}
                )
            case ("GET", "/v1/jobs", _):
                self._json(200, {"jobs": [self.gateway.job()], "next_cursor": "c2"})
            case ("GET", "/v1/sources", _):
                self._json(200, {"sources": [SourceView(id="arxiv", name="arXiv", kind="api", category="academic", languages=("en",), topics=(), access="open", enabled=True, key_present=None, constraints=(), terms="")]})  # fmt: skip
            case ("GET", _, ""):
                self.gateway.polls += 1
                self._json(200, self.gateway.job(), {"Retry-After": "1"})
            case ("DELETE", _, ""):
                self._cancel()
            case ("GET", _, "/result"):
                self._result()
            case ("GET", _, "/events"):
                self._events(seen)
            case ("GET", _, "/export"):
                name = seen.query["format"]
                self._send(
                    200, FORMATS[name].media_type, export(self.gateway.script.result, name).encode()
                )
            case ("GET", _, "/bundle"):
                self._send(200, "application/zstd", BUNDLE)
            case _:
                self._problem(404, "job_not_found")

    def _cancel(self) -> None:
        if self.gateway.job().state in TERMINAL_STATES:
            self._problem(409, "job_finished")
            return
        self.gateway.cancelled.set()
        self._json(202, self.gateway.job())

    def _result(self) -> None:
        job = self.gateway.job()
        if self.gateway.script.expired:
            self._problem(410, "result_expired")
        elif job.state not in {JobState.SUCCEEDED, JobState.PARTIAL}:
            self._problem(409, "job_unfinished")
        else:
            self._json(200, self.gateway.script.result)

    def _events(self, seen: Seen) -> None:
        script = self.gateway.script
        if not script.streams:
            self._problem(405, "method_not_allowed")
            return
        self.send_response(200)
        self.send_header("Content-Type", "text/event-stream; charset=utf-8")
        self.send_header("Connection", "close")
        self.end_headers()
        self._write(b": hello\n\n")
        start = int(seen.headers.get("last-event-id", "0-0").partition("-")[0])
        entries = list(enumerate(script.log, 1))[start:]
        if script.cut_after is not None:
            entries = entries[: script.cut_after]
        if script.endless:
            entries = entries[:2] if start == 0 else []
        for number, entry in entries:
            data = msgspec.json.encode(entry).decode()
            self._write(
                f"id: {number}-0\nevent: {json.loads(data)['type']}\ndata: {data}\n\n".encode()
            )
        self._never_end(script.endless)

    def _never_end(self, how: str) -> None:
        gone = False
        while how and not gone and not self.gateway.stopping.wait(0.01):
            if self.gateway.cancelled.is_set():
                return
            gone = how == "alive" and not self._write(b": keep-alive\n\n")

    def _write(self, data: bytes) -> bool:
        try:
            self.wfile.write(data)
            self.wfile.flush()
        except OSError:
            return False
        return True

    def _problem(self, status: int, code: str, headers: dict[str, str] | None = None) -> None:
        detail = {
            "code": code,
            "message": f"said {code}",
            "field": "query" if status == 422 else None,
        }
        self._json(
            status,
            {"detail": {k: v for k, v in detail.items() if v}, "request_id": "req_1"},
            headers,
        )

    def _json(self, status: int, value: Any, headers: dict[str, str] | None = None) -> None:
        self._send(status, "application/json", msgspec.json.encode(value), headers)

    def _send(
        self, status: int, kind: str, body: bytes, headers: dict[str, str] | None = None
    ) -> None:
        self.send_response(status)
        for name, value in {
            "Content-Type": kind,
            "Content-Length": str(len(body)),
            **(headers or {}),
        }.items():
            self.send_header(name, value)
        self.end_headers()
        self._write(body)


class _Server(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """A client that hangs up is part of the game."""


@contextmanager
def wire_gateway() -> Iterator[WireGateway]:
    """Run a double on a free port until the block ends."""
    gateway = WireGateway()
    handler = type("Handler", (_Handler,), {"gateway": gateway})
    with _Server(("127.0.0.1", 0), handler) as server:
        gateway.url = f"http://127.0.0.1:{server.server_port}"
        thread = threading.Thread(target=server.serve_forever, args=(0.01,))
        thread.start()
        try:
            yield gateway
        finally:
            gateway.stopping.set()
            server.shutdown()
            thread.join()
