"""Catalogue rows and adapter files become sources. The only file that names the adapters.

A source is asked for by the id of its row, or by address: `site:URL` and `feed:URL` take the properties of the generic
row of that name.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from signal_search.contracts.source import Parsed, Reply, Request, SourceView
from signal_search.errors import Broken, Invalid

from infra.catalog.catalog import SourceRow, custom_rows, shipped_rows
from infra.settings import Settings, is_set
from workers.adapter import Adapter, SourceConfig
from workers.sources.arxiv import Arxiv
from workers.sources.crossref import Crossref
from workers.sources.feed import Feed
from workers.sources.site import Site
from workers.sources.wikipedia import Wikipedia

_ADAPTERS: Final[dict[str, type[Adapter]]] = {
    "arxiv": Arxiv,
    "crossref": Crossref,
    "feed": Feed,
    "site": Site,
    "wikipedia": Wikipedia,
}
_GENERIC: Final = ("site", "feed")
_ASKED = "constraints.source_prefs.only"
_MAX_URL_CHARS = 2048


@dataclass(frozen=True)
class Source:
    """A row and the adapter made for it."""

    row: SourceRow
    adapter: Adapter


class Registry:
    """All sources of this deployment. It holds no connection and never changes once made."""

    def __init__(self, settings: Settings) -> None:
        """Join shipped and custom rows with their adapters.

        Raises:
            Invalid: `sources.custom` or `sources.enabled`, when a row is wrong or an enabled id is unknown.
        """
        self._settings = settings
        self._custom = custom_rows(settings.sources.custom)
        self._rows = {row.id: row for row in (*shipped_rows(), *self._custom)}
        if any(row.adapter not in _ADAPTERS for row in self._rows.values()):
            raise Invalid(
                "A source row names an adapter that does not exist.", field="sources.custom"
            )
        if not self._askable_ids().issuperset(settings.sources.enabled):
            raise Invalid(
                "A source that is not in the catalogue is enabled.", field="sources.enabled"
            )

    def source(self, source_id: str) -> Source:
        """Return the source of a row's id, or of `site:URL` or `feed:URL`.

        Raises:
            Invalid: `constraints.source_prefs.only`, when there is no such source, it cannot be asked here, or
                the address is not http or https with a host.
        """
        kind, colon, url = source_id.partition(":")
        if colon and kind in _GENERIC:
            return self._made(_addressed(self._rows[kind], source_id, _checked_url(url)))
        if source_id not in self._askable_ids():
            raise Invalid("There is no such source.", field=_ASKED)
        row = self._rows[source_id]
        if not _is_usable(row):
            raise Invalid("This source is closed or has no key here.", field=_ASKED)
        return self._made(row)

    def is_shared(self, source_id: str) -> bool:
        """Return whether one call to a source serves every sub-question."""
        kind = source_id.partition(":")[0]
        row = self._rows.get(kind if kind in _GENERIC else source_id)
        return row is not None and self.adapter(row.adapter).shared

    def enabled(self) -> list[Source]:
        """Return the sources that may be chosen without being named: enabled or custom, open or with a key."""
        chosen = dict.fromkeys([*self._settings.sources.enabled, *(row.id for row in self._custom)])
        rows = (self._rows[source_id] for source_id in chosen)
        return [self._made(row) for row in rows if _is_usable(row)]

    def views(self) -> list[SourceView]:
        """Return every row as this deployment sees it; pace and health are the frontier's to add."""
        enabled = {source.row.id for source in self.enabled()}
        return [_view(row, enabled=row.id in enabled) for row in self._rows.values()]

    def adapter(self, name: str) -> type[Adapter]:
        """Return the adapter of that name.

        Raises:
            Broken: when there is none: names come from rows that were checked.
        """
        try:
            return _ADAPTERS[name]
        except KeyError as error:
            raise Broken from error

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Let the adapter that built a request read its reply.

        Raises:
            BadReply: the reply is not what the source promises.
            Invalid: the source has left the configuration since.
            Broken: the request names an adapter that its source does not have.
        """
        source = self.source(request.source_id)
        if source.adapter.name != request.adapter:
            raise Broken
        return source.adapter.parse(request, reply)

    def _askable_ids(self) -> set[str]:
        return {row.id for row in self._rows.values() if not row.is_generic}

    def _made(self, row: SourceRow) -> Source:
        config = SourceConfig(
            id=row.id,
            name=row.name,
            endpoint=row.endpoint,
            language=row.languages[0] if len(row.languages) == 1 else "",
            params=self._params(row),
            mailto=self._settings.sources.mailto,
            source_type=row.source_type,
        )
        return Source(row=row, adapter=self.adapter(row.adapter)(config))

    def _params(self, row: SourceRow) -> dict[str, str]:
        if row.adapter != "site":
            return row.params
        return {"max_links": str(self._settings.sources.site.max_links), **row.params}


def _addressed(generic: SourceRow, source_id: str, url: str) -> SourceRow:
    """Return the generic row for one address. Not validated again: its id is an address, not a name."""
    host = urlsplit(url).hostname or ""
    return generic.model_copy(update={"id": source_id, "name": host, "endpoint": url})


def _checked_url(url: str) -> str:
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError as error:
        raise Invalid("The address of a site or feed is not a URL.", field=_ASKED) from error
    if parts.scheme not in {"http", "https"} or not parts.hostname or "@" in parts.netloc:
        raise Invalid("A site or feed needs an http or https address with a host.", field=_ASKED)
    if len(url) > _MAX_URL_CHARS or any(sign.isspace() or not sign.isprintable() for sign in url):
        raise Invalid("The address of a site or feed is too long or holds blanks.", field=_ASKED)
    return url.partition("#")[0]


def _is_usable(row: SourceRow) -> bool:
    return row.access == "open" or (row.access == "key" and is_set(row.key_env))


def _view(row: SourceRow, *, enabled: bool) -> SourceView:
    return SourceView(
        id=row.id,
        name=row.name,
        kind=row.kind,
        category=row.category,
        languages=row.languages,
        topics=row.topics,
        access=row.access,
        enabled=enabled,
        key_present=is_set(row.key_env) if row.access == "key" else None,
        constraints=row.constraints,
        terms=row.terms,
    )
