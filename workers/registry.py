"""Catalogue rows and adapter files become sources. The only file that names the adapters.

A source is asked for by the id of its row, or by address: `site:URL` and `feed:URL` take the properties of the generic
row of that name.
"""

from dataclasses import dataclass
from typing import Final
from urllib.parse import urlsplit

from signal_search.contracts.source import FetchOutcome, Parsed, Reply, Request, SourceView
from signal_search.errors import Broken, Invalid

from infra.catalog.catalog import SourceRow, custom_rows, shipped_rows
from infra.settings import Settings
from workers.adapter import Adapter, PageReader, SourceConfig
from workers.rows import is_usable, view_of
from workers.sources.arxiv import Arxiv
from workers.sources.brave import Brave
from workers.sources.clinicaltrials import ClinicalTrials
from workers.sources.courtlistener import CourtListener
from workers.sources.cratesio import CratesIo
from workers.sources.crossref import Crossref
from workers.sources.datacite import DataCite
from workers.sources.dataeuropa import DataEuropa
from workers.sources.datatracker import Datatracker
from workers.sources.dblp import Dblp
from workers.sources.doaj import Doaj
from workers.sources.edgar import Edgar
from workers.sources.europepmc import EuropePmc
from workers.sources.exa import Exa
from workers.sources.federalregister import FederalRegister
from workers.sources.feed import Feed
from workers.sources.gdelt import Gdelt
from workers.sources.github import GitHub
from workers.sources.grok import Grok
from workers.sources.guardian import Guardian
from workers.sources.hackernews import HackerNews
from workers.sources.internetarchive import InternetArchive
from workers.sources.json_api import JsonApi
from workers.sources.mdn import Mdn
from workers.sources.nvd import Nvd
from workers.sources.openalex import OpenAlex
from workers.sources.openfda import OpenFda
from workers.sources.openlibrary import OpenLibrary
from workers.sources.opensearch import OpenSearch
from workers.sources.osv import Osv
from workers.sources.pubmed import PubMed
from workers.sources.searxng import Searxng
from workers.sources.semanticscholar import SemanticScholar
from workers.sources.site import Site
from workers.sources.site_search import SiteSearch
from workers.sources.stackexchange import StackExchange
from workers.sources.tavily import Tavily
from workers.sources.who import Who
from workers.sources.wikidata import Wikidata
from workers.sources.wikipedia import Wikipedia
from workers.sources.worldbank import WorldBank

_ADAPTERS: Final[dict[str, type[Adapter]]] = {
    "arxiv": Arxiv,
    "brave": Brave,
    "clinicaltrials": ClinicalTrials,
    "courtlistener": CourtListener,
    "cratesio": CratesIo,
    "crossref": Crossref,
    "datacite": DataCite,
    "dataeuropa": DataEuropa,
    "datatracker": Datatracker,
    "dblp": Dblp,
    "doaj": Doaj,
    "edgar": Edgar,
    "europepmc": EuropePmc,
    "exa": Exa,
    "federalregister": FederalRegister,
    "feed": Feed,
    "gdelt": Gdelt,
    "github": GitHub,
    "grok": Grok,
    "guardian": Guardian,
    "hackernews": HackerNews,
    "internetarchive": InternetArchive,
    "json_api": JsonApi,
    "mdn": Mdn,
    "nvd": Nvd,
    "openalex": OpenAlex,
    "openfda": OpenFda,
    "openlibrary": OpenLibrary,
    "opensearch": OpenSearch,
    "osv": Osv,
    "pubmed": PubMed,
    "searxng": Searxng,
    "semanticscholar": SemanticScholar,
    "site": Site,
    "site_search": SiteSearch,
    "stackexchange": StackExchange,
    "tavily": Tavily,
    "who": Who,
    "wikidata": Wikidata,
    "wikipedia": Wikipedia,
    "worldbank": WorldBank,
}
ALL: Final = "*"
_GENERIC: Final = ("site", "feed")
_ASKED = "constraints.source_prefs.only"
_MAX_URL_CHARS = 2048


@dataclass(frozen=True)
class Source:
    """A row and the adapter made for it."""

    row: SourceRow
    adapter: Adapter


def _takes_address(row: SourceRow, endpoint: str) -> bool:
    """Say whether a source may stand elsewhere here; where a key is sent, over https only."""
    return row.self_hosted or (row.is_movable and endpoint.startswith("https://"))


class Registry:
    """All sources of this deployment. It holds no connection and never changes once made."""

    def __init__(self, settings: Settings) -> None:
        """Join shipped and custom rows with their adapters.

        Raises:
            Invalid: `sources.custom`, `sources.enabled`, `sources.endpoints` or `sources.models`, when a row is wrong,
                an enabled id is unknown, or an address or a model is given to a source that takes none.
        """
        self._settings = settings
        self._custom = custom_rows(settings.sources.custom)
        rows = (*shipped_rows(), *self._custom)
        self._rows = {row.id: row.as_seen_by(settings.sources.mailto) for row in rows}
        if any(row.adapter not in _ADAPTERS for row in self._rows.values()):
            raise Invalid(
                "A source row names an adapter that does not exist.", field="sources.custom"
            )
        self._place(settings.sources.endpoints)
        self._name_models(settings.sources.models)
        if not self._askable_ids().issuperset({*settings.sources.enabled} - {ALL}):
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
        if not is_usable(row):
            raise Invalid("This source is closed, or has no key or address here.", field=_ASKED)
        return self._made(row)

    def lacks_setup(self, source_id: str) -> bool:
        """Return whether a source exists and only the operator's key or address is missing."""
        row = self._rows.get(source_id)
        return (
            row is not None
            and not row.is_generic
            and not (row.access == "closed" or is_usable(row))
        )

    def quota_per_day(self, source_id: str) -> int | None:
        """Return how many requests a UTC day a source may be sent: the operator's figure, else its row's, else None."""
        row = self._rows.get(source_id)
        own = self._settings.sources.quota_per_day.get(source_id)
        return own if own is not None or row is None else row.quota_per_day

    def is_shared(self, source_id: str) -> bool:
        """Return whether one call to a source serves every sub-question."""
        kind = source_id.partition(":")[0]
        row = self._rows.get(kind if kind in _GENERIC else source_id)
        return row is not None and self._made(row).adapter.shared

    def enabled(self) -> list[Source]:
        """Return the sources that may be chosen without being named: enabled or custom, open or with a key.

        `*` enables the whole catalogue. Where only listed loopback hosts may be asked, a source elsewhere is not.
        """
        enabled = self._settings.sources.enabled
        named = [*self._rows] if ALL in enabled else enabled
        chosen = dict.fromkeys([*named, *(row.id for row in self._custom)])
        rows = (self._rows[source_id] for source_id in chosen)
        return [self._made(row) for row in rows if is_usable(row) and self._is_within_reach(row)]

    def _is_within_reach(self, row: SourceRow) -> bool:
        host = urlsplit(row.endpoint.replace("{language}", "en")).netloc.lower()
        return not self._settings.loopback.only or self._settings.is_loopback_host(host)

    def views(self) -> list[SourceView]:
        """Return every row as this deployment sees it; pace and health are the frontier's to add."""
        enabled = {source.row.id for source in self.enabled()}
        return [view_of(row, enabled=row.id in enabled) for row in self._rows.values()]

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

    def read_page(self, request: Request, outcome: FetchOutcome) -> FetchOutcome:
        """Let the adapter that built a request for a page say what its outcome means; most have nothing to say."""
        try:
            adapter = self.source(request.source_id).adapter
        except Invalid:  # the source has left the configuration since; the page is what it is
            return outcome
        return adapter.read_page(request, outcome) if isinstance(adapter, PageReader) else outcome

    def _place(self, endpoints: dict[str, str]) -> None:
        """Give sources that stand elsewhere here their addresses."""
        for source_id, endpoint in endpoints.items():
            row = self._rows.get(source_id)
            if row is None or not _takes_address(row, endpoint):
                raise Invalid(
                    "Only sources that others offer too, or that each operator runs, take an address.",
                    field="sources.endpoints",
                )
            self._rows[source_id] = row.model_copy(update={"endpoint": endpoint})

    def _name_models(self, models: dict[str, str]) -> None:
        for source_id, model in models.items():
            row = self._rows.get(source_id)
            if row is None or "model" not in row.params:
                raise Invalid("Only a source that is a model takes one.", field="sources.models")
            params = {**row.params, "model": model}
            self._rows[source_id] = row.model_copy(update={"params": params})

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
            auth=row.key_env,
            auth_place=row.key_place,
            json_items=row.json_items,
            item_map=row.item_map,
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
