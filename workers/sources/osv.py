"""OSV.dev by its API: a vulnerability of open-source packages by its number, with the versions that are affected.

The only way to ask by GET is by number (searching by package is POST), so a question without one gives no request.
"""

import re
from urllib.parse import quote

from msgspec import Struct
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import call
from workers.records import iso, line, read_json, refuse, refuse_error

_NOT_FOUND = 5  # gRPC, with status 404: no such number here
_MAX_IDS = 3
_MAX_AFFECTED = 20
_MAX_RANGES = 5
_MAX_REFERENCES = 5
_MAX_TEXT_CHARS = 50_000
# Databases whose numbers are unmistakable (ossf.github.io/osv-schema, "id").
_ID = re.compile(
    r"(?<![A-Za-z0-9-])(?:CVE-[0-9]{4}-[0-9]{4,7}|GHSA(?:-[23456789cfghjmpqrvwx]{4}){3}"
    r"|(?:PYSEC|RUSTSEC|GO|OSV|MAL)-[0-9]{4}-[0-9]{1,7})(?![0-9A-Za-z-])",
    re.IGNORECASE,
)


class _Package(Struct):
    ecosystem: str = ""
    name: str = ""


class _Event(Struct):
    introduced: str | None = None
    fixed: str | None = None
    last_affected: str | None = None


class _Range(Struct):
    type: str = ""
    events: list[_Event] = []


class _Affected(Struct):
    package: _Package | None = None
    ranges: list[_Range] | None = None


class _Reference(Struct):
    url: str = ""


class _Body(Struct):
    id: str = ""
    summary: str | None = None
    details: str | None = None
    aliases: list[str] | None = None
    published: str | None = None
    withdrawn: str | None = None
    affected: list[_Affected] | None = None
    references: list[_Reference] | None = None
    code: int | None = None
    message: object = None


class Osv:
    """Known vulnerabilities of open-source packages."""

    name: str = "osv"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per number in the question, none when there is no number."""
        ids = list(dict.fromkeys(_normal(each) for each in _ID.findall(ask.text)))[:_MAX_IDS]
        root = self._config.endpoint.rstrip("/")
        return tuple(
            call(self._config, self.name, f"{root}/{quote(each, safe='')}", answers=(404,))
            for each in ids
        )

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn a record into a document of summary, details and affected versions.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error sent with 200.
        """
        record = read_json(reply, _Body)
        if record.code == _NOT_FOUND:
            return Parsed(total=0)
        if record.code is not None:
            refuse_error(reply, record.message)
        if not record.id:
            refuse("JSON of another shape")
        published = iso(record.published)
        document = make_document(
            url=f"https://osv.dev/vulnerability/{quote(record.id, safe='', errors='replace')}",
            title=f"{record.id}: {line(record.summary)}" if record.summary else record.id,
            text=_text(record),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=published,
                date_kind="record" if published else "none",
                container="OSV.dev",
                work_type="dataset",
                source_type=self._config.source_type,
                retracted=record.withdrawn is not None,
            ),
        )
        return Parsed(documents=(document,), total=1)


def _normal(number: str) -> str:
    """Only the letters of a GHSA number are small."""
    return f"GHSA{number[4:].lower()}" if number.upper().startswith("GHSA") else number.upper()


def _text(record: _Body) -> str:
    parts = [f"{record.id}: {line(record.summary) or 'no summary'}"]
    if record.withdrawn is not None:
        day = iso(record.withdrawn)
        parts.append(f"{record.id} was withdrawn{f' on {day}' if day else ''}.")
    if record.aliases:
        parts.append(f"{record.id} is also known as {', '.join(record.aliases)}.")
    parts += [line for each in (record.affected or [])[:_MAX_AFFECTED] for line in _affected(each)]
    parts.append((record.details or "").strip()[:_MAX_TEXT_CHARS])
    urls = [each.url for each in record.references or () if each.url][:_MAX_REFERENCES]
    return "\n".join([part for part in parts if part] + [f"Reference: {url}" for url in urls])


def _affected(affected: _Affected) -> list[str]:
    """Return a sentence per range of versions; commits mean nothing to a reader."""
    package = affected.package
    if package is None or not package.name:
        return []
    name = f"{package.name} ({package.ecosystem})" if package.ecosystem else package.name
    spans = [_span(each) for each in affected.ranges or () if each.type != "GIT" and each.events]
    return [f"Affected: {name}, {span}." for span in spans[:_MAX_RANGES]]


def _span(versions: _Range) -> str:
    """Return the span in words; version 0 means from the first one on (ossf.github.io/osv-schema, "events")."""
    told: list[str] = []
    for event in versions.events:
        said = (
            ("from", event.introduced),
            ("fixed in", event.fixed),
            ("up to", event.last_affected),
        )
        told += [f"{word} {version}" for word, version in said if version and version != "0"]
    return ", ".join(told) or "in all versions"
