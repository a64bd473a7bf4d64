"""`signal-search demo`: the whole system on one machine, against a small web of our own, from nothing to an answer."""

import socket
import subprocess
import sys
import tempfile
from pathlib import Path

import msgspec

from infra.loopback_web.server import hosts
from infra.settings import load
from infra.stack import Parts, Stack

QUESTION = "How high is Mount Corvel?"
_INTERVAL_S = "0.5"


def run_demo(question: str) -> int:
    """Start Redis, a crawl worker, a reduce worker and the loopback web; ask; stop. Return the exit code."""
    port = _free_port()
    with tempfile.TemporaryDirectory(prefix="signal-search-demo-") as folder:
        parts = Parts(workers={"crawl": 1, "reduce": 1}, web_port=port)
        stack = Stack(load(data_dir=folder, redis_url=""), parts, environment=_environment(port))
        _say("Starting Redis, a crawl worker, a reduce worker and a small web on 127.0.0.1 ...")
        stack.start()
        try:
            return _ask(question or QUESTION, stack.redis_url)
        finally:
            stack.stop()
            _say("Everything was stopped; nothing is left running.")


def _ask(question: str, redis_url: str) -> int:
    _say(f"$ signal-search retrieve {question!r}")
    # A program of its own, as a user would run it.
    command = [str(Path(sys.executable).with_name("signal-search")), "retrieve", question]
    return subprocess.run([*command, "--redis", redis_url], check=False).returncode  # noqa: S603


def _environment(port: int) -> dict[str, str]:
    """Return the settings that send every request to the loopback web, and none elsewhere."""
    return {
        "SIGNAL_SEARCH_LOOPBACK__ONLY": "true",
        "SIGNAL_SEARCH_LOOPBACK__HOSTS": msgspec.json.encode(hosts(port)).decode(),
        "SIGNAL_SEARCH_POLITENESS__LOOPBACK_INTERVAL_S": _INTERVAL_S,
    }


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port: int = probe.getsockname()[1]
        return port


def _say(text: str) -> None:
    sys.stderr.write(f"{text}\n")
    sys.stderr.flush()
