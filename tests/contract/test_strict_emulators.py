"""Each API adapter has an emulator, and each emulator judges every parameter that the adapter sends.

An emulator that passes over a parameter would hide that the real place refuses it, or does something else. So each
request is sent as it is, which must please; then with each of its parameters under another name, and with a value that
no API accepts, which must not.
"""

import gzip
from collections.abc import Iterator, Mapping
from contextlib import suppress
from typing import Any, Final
from urllib.parse import parse_qsl, urlencode, urlsplit

import msgspec
import pytest
from msgspec.structs import replace
from pydantic import SecretStr
from signal_search.contracts.source import Reply, Request, SourceQuery
from signal_search.errors import BadReply

from infra.catalog.catalog import SourceRow, shipped_rows
from infra.catalog.generic import GENERIC_ADAPTERS
from infra.loopback_web.app import sites
from infra.loopback_web.exchange import Answer, Ask, Host
from infra.settings import load
from workers.fetching.credentials import outgoing
from workers.registry import _ADAPTERS, Registry, Source

NOW_MS: Final = 1_790_000_000_000
AGENT: Final = "SignalSearchBot/0.1 crawler@example.org"
KEYS: Final = {  # in the form of the real ones, which the emulators insist on
    "brave": "BSA-key-of-tests",
    "exa": "01234567-89ab-cdef-0123-456789abcdef",
    "grok": "xai-key-of-tests",
    "tavily": "tvly-key-of-tests",
}
# What asks pages, feeds and searches that only a row describes: they are tried on the plain sites and shelf.test.
BY_ROW: Final = {*GENERIC_ADAPTERS, "site", "feed"}
DATED: Final = "2020-01-01..2026-12-31"
QUESTIONS: Final = (
    SourceQuery(text="tidal array", terms=("tidal", "array"), freshness=DATED),
    SourceQuery(text="wild bees", terms=("wild bees",)),
    SourceQuery(text="10.5555/bees.2021.044 arXiv:2603.90002 CVE-1998-90001"),
    SourceQuery(text="population of Iceland", terms=("population",), freshness=DATED),
    SourceQuery(text="life expectancy in Iceland", terms=("life", "expectancy")),
    SourceQuery(text="a lock-free queue in Rust", terms=("queue",)),
    SourceQuery(text="NCT99900102 and Calmarin", terms=("Calmarin",), freshness=DATED),
    SourceQuery(text="TideObserver", terms=("TideObserver",)),
    SourceQuery(
        text="Tides of Merrin", terms=("Merrin", "tides"), freshness="1900-01-01..2026-12-31"
    ),
    SourceQuery(text="The Merrin Pilot", terms=("Merrin", "pilot")),
    SourceQuery(text="RFC 90001", terms=("Tide Table",)),
    SourceQuery(text="The Tide Table format", terms=("Tide Table",)),
    SourceQuery(text="Merrin tidal turbines 10-K", terms=("Merrin", "tidal"), freshness=DATED),
    SourceQuery(text="notice before a public slipway is closed", terms=(), freshness=DATED),
    SourceQuery(text="standards for tidal turbines", terms=(), freshness="2000-01-01..2026-12-31"),
    SourceQuery(text="科维尔山海拔多少？", terms=("科维尔山",), language="zh"),
)
# Any text is a question, and who asks may be called anything.
FREE: Final = frozenset(
    [
        "q",
        "query",
        "search",
        "srsearch",
        "term",
        "keywordSearch",
        "conditions[term]",
        "query.term",
        "title__icontains",
        "mailto",
        "email",
        "tool",
        "api_key",
        "api-key",
        "key",
        "words",
    ]
)
# Lists whose unknown members the real API leaves out without a word (openlibrary.org/dev/docs/api/search;
# archive.org/advancedsearch.php; data.europa.eu hub search).
# A yes or no of MediaWiki is yes whatever its value.
UNJUDGED: Final = {
    ("openlibrary", "fields"),
    ("internetarchive", "fl[]"),
    ("dataeuropa", "includes"),
    ("wikidata", "languagefallback"),
    ("wikipedia", "explaintext"),
    ("wikipedia", "exintro"),
}
IMPOSSIBLE: Final = "~no such value~"


def _rows() -> list[SourceRow]:
    rows = [row for row in shipped_rows() if row.adapter not in BY_ROW and row.access != "closed"]
    return list({row.adapter: row for row in reversed(rows)}.values())


@pytest.fixture(scope="module")
def hosts() -> dict[str, Host]:
    return sites(enforce_pace=False)


@pytest.fixture
def registry(monkeypatch: pytest.MonkeyPatch) -> Registry:
    for row in _rows():
        if row.key_env:
            monkeypatch.setenv(row.key_env, KEYS.get(row.adapter, "key-of-tests"))
    own = {
        "mailto": "crawler@example.org",
        "endpoints": {"searxng": "http://searx.test/search"},
    }
    return Registry(load(sources=load().sources.model_dump() | own))


def _sent(hosts: Mapping[str, Host], request: Request, key: str) -> Answer:
    """Send a request as the fetcher does: with our name, and the key where the row says."""
    out = outgoing(request, request.url, {"user-agent": AGENT}, SecretStr(key))
    parts = urlsplit(out.url)
    ask = Ask(
        host=parts.hostname or "",
        method=out.method,
        path=parts.path,
        query=parts.query,
        headers=dict(out.headers),
        body=out.body,
        now_ms=NOW_MS,
    )
    return hosts[ask.host](ask)


def _requests(
    hosts: Mapping[str, Host], source: Source, question: SourceQuery
) -> Iterator[tuple[Request, Answer]]:
    """Yield the API requests that a question leads to, with their answers."""
    todo = list(source.adapter.build(question))
    while todo:
        request = todo.pop(0)
        if request.kind == "page":
            continue
        answer = _sent(hosts, request, KEYS.get(source.row.adapter, "key-of-tests"))
        yield request, answer
        with suppress(BadReply):
            todo += source.adapter.parse(request, _as_reply(request, answer)).requests


def _as_reply(request: Request, answer: Answer) -> Reply:
    packed = answer.headers.get("content-encoding") == "gzip"
    body = gzip.decompress(answer.body) if packed else answer.body
    return Reply(
        url=request.url,
        status=answer.status,
        content_type=answer.headers.get("content-type", ""),
        body=body,
        text=body.decode("utf-8"),
        fetched_at_ms=NOW_MS,
        headers=answer.headers,
    )


def _is_liked(answer: Answer) -> bool:
    return answer.status == 200 and not answer.complaint


def _is_noticed(source: Source, request: Request, answer: Answer) -> bool:
    """Tell whether something came of a change: a refusal, a complaint, or nothing found any more."""
    if not _is_liked(answer):
        return True
    try:
        parsed = source.adapter.parse(request, _as_reply(request, answer))
    except BadReply:
        return True
    return not parsed.documents and not parsed.requests


# --- each has one -----------------------------------------------------------------------------------------------------


def test_every_adapter_of_an_api_has_an_emulator(
    hosts: Mapping[str, Host], registry: Registry
) -> None:
    asked = {
        row.adapter: {
            urlsplit(request.url).hostname
            for question in QUESTIONS
            for request in registry.source(row.id).adapter.build(question)
        }
        for row in _rows()
    }
    assert asked.keys() == _ADAPTERS.keys() - BY_ROW
    assert {name: asks - hosts.keys() for name, asks in asked.items() if asks - hosts.keys()} == {}
    assert all(asked.values())


# --- each judges ------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("row", _rows(), ids=lambda row: row.adapter)
def test_an_emulator_judges_every_parameter_that_is_sent(
    hosts: Mapping[str, Host], registry: Registry, row: SourceRow
) -> None:
    source, key = registry.source(row.id), KEYS.get(row.adapter, "key-of-tests")
    tried: set[tuple[str, str]] = set()
    missed: set[str] = set()
    liked = 0
    for question in QUESTIONS:
        for request, answer in _requests(hosts, source, question):
            if _is_noticed(source, request, answer):
                # It knows nothing of this; but it never has anything against the question.
                assert answer.status == 404 or not answer.complaint or row.adapter == "worldbank"
                continue
            liked += 1
            for what, spoiled in _spoiled(request, row.adapter):
                place = (urlsplit(request.url).path if row.adapter == "pubmed" else "", what)
                if place in tried:
                    continue
                tried.add(place)
                if not _is_noticed(source, spoiled, _sent(hosts, spoiled, key)):
                    missed.add(what)
    assert liked
    assert missed == set()


def _spoiled(request: Request, adapter: str) -> Iterator[tuple[str, Request]]:
    """Yield the request with each parameter, or field of its JSON, renamed or given a value that is none."""
    if request.method == "POST":
        body: dict[str, Any] = msgspec.json.decode(request.body)
        for name, value in body.items():
            rest = {key: other for key, other in body.items() if key != name}
            yield f"{name} renamed", _with_body(request, {**rest, f"{name}_x": value})
            wrong: object = {"no": "such value"} if name in FREE else IMPOSSIBLE
            if not isinstance(value, str) or name in FREE:
                yield f"{name} of another type", _with_body(request, {**rest, name: wrong})
        return
    pairs = parse_qsl(urlsplit(request.url).query, keep_blank_values=True)
    for at, (name, _value) in enumerate(pairs):
        yield f"{name} renamed", _with_pair(request, pairs, at, f"{name}_x", pairs[at][1])
        if name not in FREE and (adapter, name) not in UNJUDGED:
            yield f"{name} of no value", _with_pair(request, pairs, at, name, IMPOSSIBLE)


def _with_body(request: Request, body: dict[str, Any]) -> Request:
    return replace(request, body=msgspec.json.encode(body).decode())


def _with_pair(
    request: Request, pairs: list[tuple[str, str]], at: int, name: str, value: str
) -> Request:
    changed = [*pairs[:at], (name, value), *pairs[at + 1 :]]
    return replace(request, url=f"{request.url.partition('?')[0]}?{urlencode(changed)}")
