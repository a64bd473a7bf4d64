"""Nobody but the listed files can open a connection, or start a program that could: read from the tree itself.

Pages, APIs, robots.txt and sitemaps leave by `infra/http.py` alone; the rest of the list talks to this machine or to
the deployment's own store and gateway. A new name in one of these tables is a new way out, and needs its reason.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
ROOMS = ("api_gateway", "budget", "infra", "scoring", "workers", "sdk/src/signal_search", "bench")
SOURCES = sorted(path for room in ROOMS for path in (ROOT / room).rglob("*.py"))

NOBODYS_MODULES = (
    "aiohttp",
    "anyio",
    "asyncssh",
    "curl_cffi",
    "ftplib",
    "imaplib",
    "multiprocessing.connection",
    "nntplib",
    "paramiko",
    "poplib",
    "pycurl",
    "requests",
    "smtplib",
    "socketserver",
    "telnetlib",
    "trio",
    "urllib.request",
    "urllib3",
    "websocket",
    "websockets",
    "wsgiref",
    "xmlrpc",
    "pty",
)
NOBODYS_NAMES = (
    "open_unix_connection",
    "create_unix_connection",
    "create_datagram_endpoint",
    "sock_connect",
    "urlopen",
    "urlretrieve",
    "fetch_url",
    "fetch_response",
    "create_subprocess_exec",
    "create_subprocess_shell",
    "subprocess_exec",
    "subprocess_shell",
    "popen",
    "posix_spawn",
    "gethostbyname",
    "execv",
    "spawnv",
    "spawnvp",
    "os.system",
)

# What can open a connection, and the files that may import it.
MODULES: dict[str, frozenset[str]] = {
    "httpcore": frozenset({"infra/http.py"}),
    "httpx": frozenset({"infra/http.py", "sdk/src/signal_search/client/http.py"}),
    "ssl": frozenset({"infra/http.py"}),
    "socket": frozenset(
        {
            "workers/fetching/url_guard.py",  # looks names up, for the door
            "infra/store_checks.py",  # is the store's port open?
            "infra/loopback_web/server.py",  # listens on loopback
            "workers/demo.py",  # looks for a free port of this machine
            "bench/place.py",
        }
    ),
    "http.client": frozenset(
        {
            "infra/probe.py",  # the gateway's own health page
            "bench/place.py",  # what the server saw
            "bench/stacks.py",
        }
    ),
    "http.server": frozenset({"bench/site_corpus.py"}),
    "subprocess": frozenset(
        {
            "infra/child.py",
            "workers/demo.py",
            "bench/__main__.py",
            "bench/peers.py",
            "bench/retrieval.py",
        }
    ),
    **dict.fromkeys(NOBODYS_MODULES, frozenset()),
}

# What opens a connection or starts a program by another way, and the files that may say its name.
NAMES: dict[str, frozenset[str]] = {
    "getaddrinfo": frozenset({"workers/fetching/url_guard.py"}),
    "create_connection": frozenset({"infra/store_checks.py"}),
    "open_connection": frozenset({"bench/raw_client.py", "bench/search_latency.py"}),
    "connect_tcp": frozenset({"infra/http.py"}),
    "execve": frozenset({"infra/commands.py"}),  # becomes a worker or Flower
    "execvp": frozenset({"infra/tether.py"}),  # becomes the process that it ties to its parent
    **dict.fromkeys(NOBODYS_NAMES, frozenset()),
}
PROGRAMS = frozenset({"curl", "wget", "nc", "ncat", "socat", "ssh", "telnet", "lynx", "aria2c"})


def imported(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Import):
            yield from (each.name for each in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            yield node.module
            yield from (f"{node.module}.{each.name}" for each in node.names)


def said(tree: ast.AST) -> Iterator[str]:
    for node in ast.walk(tree):
        if isinstance(node, ast.Attribute):
            yield node.attr
            yield ast.unparse(node) if isinstance(node.value, ast.Name) else ""
        elif isinstance(node, ast.Name):
            yield node.id
        elif isinstance(node, ast.ImportFrom):
            yield from (each.name for each in node.names)
            yield from (f"{node.module}.{each.name}" for each in node.names)


def started(tree: ast.AST) -> Iterator[str]:
    """Yield the first word of every text that could be a command."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str):
            words = node.value.split()
            if words and words[0].rsplit("/", 1)[-1] in PROGRAMS:
                yield words[0]


def doors(text: str, name: str) -> list[str]:
    """Return every way out that the text of a file takes and its name is not listed for."""
    tree = ast.parse(text)
    modules = {
        known
        for each in imported(tree)
        for known, allowed in MODULES.items()
        if (each == known or each.startswith(f"{known}.")) and name not in allowed
    }
    names = {each for each in said(tree) if name not in NAMES.get(each, {name})}
    return sorted({*modules, *names, *started(tree)})


def named(path: Path) -> str:
    return str(path.relative_to(ROOT))


def test_there_is_something_to_check() -> None:
    assert len(SOURCES) > 200


def test_no_other_code_can_open_a_connection_to_the_outside() -> None:
    found = {named(path): doors(path.read_text("utf-8"), named(path)) for path in SOURCES}
    assert {name: ways for name, ways in found.items() if ways} == {}


def test_no_listed_file_is_listed_in_vain() -> None:
    """Who no longer needs a way out leaves the list."""
    texts = {named(path): path.read_text("utf-8") for path in SOURCES}
    for table, read in ((MODULES, imported), (NAMES, said)):
        for known, files in table.items():
            for name in files:
                seen = set(read(ast.parse(texts[name])))
                assert any(each == known or each.startswith(f"{known}.") for each in seen), (
                    known,
                    name,
                )


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("import socket", ["socket"]),
        ("from socket import create_connection", ["create_connection", "socket"]),
        ("import http.client", ["http.client"]),
        ("from http import client", ["http.client"]),
        ("from urllib import request", ["urllib.request"]),
        ("import urllib.request as r\nr.urlopen('x')", ["urllib.request", "urlopen"]),
        ("import asyncio\nasyncio.open_connection('h', 1)", ["open_connection"]),
        ("import asyncio\nrun = asyncio.create_subprocess_exec", ["create_subprocess_exec"]),
        ("import subprocess", ["subprocess"]),
        ("from os import popen", ["popen"]),
        ("import os\nos.system('x')", ["os.system"]),
        ("from os import system", ["os.system"]),
        ("import platform\nplatform.system()", []),
        ("def f():\n    import requests", ["requests"]),
        ("import httpx._client", ["httpx"]),
        ("import trafilatura\ntrafilatura.fetch_url('x')", ["fetch_url"]),
        ("run(['/usr/bin/curl', '-s'])", ["/usr/bin/curl"]),
        ("loop.getaddrinfo('h', 1)", ["getaddrinfo"]),
        ("from http import HTTPStatus\nfrom urllib.parse import quote", []),
        ("import asyncio\nasyncio.run(main())", []),
        ('"""Curling is a sport."""', []),
    ],
)
def test_the_check_sees_it(text: str, expected: list[str]) -> None:
    assert doors(text, "workers/anywhere.py") == expected


def test_the_list_of_public_suffixes_is_never_downloaded() -> None:
    """tldextract asks the network for a newer list unless it is told not to."""
    calls = [
        node
        for path in SOURCES
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and "TLDExtract" in ast.unparse(node.func)
    ]
    assert calls
    for call in calls:
        keywords = {each.arg: ast.unparse(each.value) for each in call.keywords}
        assert keywords.get("suffix_list_urls") == "()"
