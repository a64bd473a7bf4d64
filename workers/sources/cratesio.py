"""crates.io by its API: what a Rust package is, its newest version, and how much it is used."""

import re
from urllib.parse import urlsplit

from msgspec import Struct, field
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    NO_WORDS,
    iso,
    left_out,
    line,
    read_json,
    readable,
    refuse,
    refuse_error,
    size_of,
    words_of,
)

_MAX_PER_PAGE = 100
_MAX_WORDS = 4  # every word must be found
_NAMED = re.compile(r"(?:cargo add |crates\.io/crates/|crate )`?([A-Za-z][A-Za-z0-9_-]{0,63})")
_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]{0,63}")  # crates.io's rule for names


class _Crate(Struct):
    name: str
    description: str | None = None
    newest_version: str | None = None
    max_stable_version: str | None = None
    created_at: str | None = None
    updated_at: str | None = None
    downloads: int = 0
    recent_downloads: int | None = None
    repository: str | None = None
    documentation: str | None = None
    exact_match: bool = False


class _Meta(Struct):
    total: int | None = None


class _Body(Struct):
    crates: list[object] | None = None
    meta: _Meta = field(default_factory=_Meta)
    errors: list[object] | None = None


class CratesIo:
    """The registry of Rust packages."""

    name: str = "cratesio"
    pushes_down: frozenset[str] = frozenset()
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return the search; a crate named as such is searched by its name alone."""
        fields = {
            "q": _words(ask),
            "per_page": str(size_of(ask, _MAX_PER_PAGE)),
        }
        url = address(self._config, self._config.endpoint, fields)
        return (call(self._config, self.name, url),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn crates into documents, an exact match first.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, errors sent with 200.
        """
        body = read_json(reply, _Body)
        if body.errors:
            refuse_error(reply, body.errors)
        found = body.crates if body.crates is not None else refuse("JSON of another shape")
        crates = [each for each in readable(found, _Crate) if _NAME.fullmatch(each.name)]
        return Parsed(
            documents=tuple(
                self._document(each, reply)
                for each in sorted(crates, key=lambda crate: not crate.exact_match)
            ),
            total=body.meta.total,
            note=left_out(len(found), len(crates), "unreadable"),
        )

    def _document(self, crate: _Crate, reply: Reply) -> Document:
        site = urlsplit(self._config.endpoint)
        created, updated = iso(crate.created_at), iso(crate.updated_at)
        return make_document(
            url=f"{site.scheme}://{site.netloc}/crates/{crate.name}",
            title=crate.name,
            text=_text(crate),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                published=created,
                date_kind="record" if created else "none",
                container="crates.io",
                work_type="software",
                source_type=self._config.source_type,
                signals=(f"last_update={updated}",) if updated else (),
            ),
        )


def _words(ask: SourceQuery) -> str:
    named = _NAMED.search(ask.text)
    return named[1] if named else " ".join(words_of(ask, most=_MAX_WORDS)) or NO_WORDS


def _text(crate: _Crate) -> str:
    name, version = crate.name, crate.max_stable_version or crate.newest_version
    lines = [f"{name}: {line(crate.description) or 'no description'}"]
    if version:
        lines.append(f"The newest version of the Rust crate {name} is {version}.")
    if iso(crate.updated_at):
        lines.append(f"{name} was last updated on {iso(crate.updated_at)}.")
    lines.append(f"{name} has been downloaded {crate.downloads:,} times.")
    links = {"Repository": crate.repository, "Documentation": crate.documentation}
    lines += [f"{kind}: {url}" for kind, url in links.items() if url]
    return "\n".join(lines)
