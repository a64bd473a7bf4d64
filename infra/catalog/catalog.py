"""The catalogue of sources: rows of data that a person can read, add to and check. Code for them lives in workers.

The rows of `sources.toml` and an operator's own rows (`sources.custom`) have one definition and one set of checks.
"""

import tomllib
from collections.abc import Iterable, Mapping
from functools import lru_cache
from pathlib import Path
from typing import Annotated, Literal, Self
from urllib.parse import urlsplit

from pydantic import BaseModel, ConfigDict, Field, ValidationError, model_validator
from signal_search.contracts.document import SourceType
from signal_search.contracts.query import MEMORY_SOURCE
from signal_search.errors import Invalid

from infra.catalog.generic import GENERIC_ADAPTERS, fault_of, spelled_out

ROWS = Path(__file__).with_name("sources.toml")

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
KeyPlace = Annotated[
    str,
    Field(
        pattern=r"^(bearer|header:[A-Za-z][A-Za-z0-9-]{0,63}|query:[A-Za-z][A-Za-z0-9_.-]{0,63})$"
    ),
]
Constraint = Literal["language", "freshness", "domain"]
Category = Literal[
    "intl_engines",
    "reference",
    "academic_api",
    "authoritative",
    "industry_keyless",
    "privacy_extra",
    "cn_official",
    "ai_search",
    "private_kb",
    "web",
]


class SourceRow(BaseModel):
    """One source.

    adapter: the code that builds its requests and reads its replies. endpoint: the API's address, the feed's or the
    site's start address; `{language}` stands for the question's language; empty only in the two generic rows, which
    lend their properties to `site:URL` and `feed:URL`, and where `self_hosted` says that each operator runs a server
    of their own, whose address is in the settings. is_movable: others offer the same API, so that the settings may
    name another address (https, since the key goes there). needs_mailto: closed until `sources.mailto` names who is
    responsible. languages: empty means any. topics: what it is good for; empty means anything. tier: from which
    breadth of search it is asked. access: open, by a key of the operator's (`key_env` names the variable, `key_place`
    where it is sent), or closed, which `terms` explains. published_pace_s: the pause in seconds its operator
    publishes, `pace_citation` where. quota_per_day: the requests in a UTC day that its operator allows,
    `quota_citation` where. constraints: which of the caller's constraints its requests carry. params: fixed query
    parameters, or settings of a generic adapter. json_items, item_map: of a generic JSON source, the path to its
    results and to our fields in each. quality: A (primary, official or edited), B or C. force_include: asked whatever
    the question is about. replaces: names under which other catalogues list this place. alternative: what a closed
    place is covered by, ids of rows that are not closed.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    id: Name
    name: Annotated[str, Field(min_length=1, max_length=120)]
    adapter: Name
    endpoint: Annotated[str, Field(max_length=2048)] = ""
    kind: Literal["api", "web", "feed"]
    category: Category = "private_kb"
    languages: tuple[Language, ...] = ()
    topics: tuple[Name, ...] = ()
    tier: Literal["lite", "standard", "full"] = "standard"
    access: Literal["open", "key", "closed"] = "open"
    key_env: Annotated[str, Field(pattern=r"^([A-Z][A-Z0-9_]{0,99})?$")] = ""
    key_place: KeyPlace = "bearer"
    self_hosted: bool = False
    is_movable: bool = False
    needs_mailto: bool = False
    terms: Annotated[str, Field(max_length=500)] = ""
    published_pace_s: Annotated[float, Field(gt=0.0, le=86_400.0)] | None = None
    pace_citation: Annotated[str, Field(max_length=500)] = ""
    quota_per_day: Annotated[int, Field(ge=1, le=10_000_000)] | None = None
    quota_citation: Annotated[str, Field(max_length=500)] = ""
    constraints: tuple[Constraint, ...] = ()
    source_type: SourceType = "unknown"
    params: dict[str, str] = {}
    json_items: Annotated[str, Field(max_length=200)] = ""
    item_map: dict[str, Annotated[str, Field(min_length=1, max_length=500)]] = {}
    quality: Literal["A", "B", "C"] = "B"
    force_include: bool = False
    replaces: tuple[str, ...] = ()
    alternative: tuple[Name, ...] = ()

    @property
    def is_generic(self) -> bool:
        """Tell whether this row is a pattern for addresses and cannot be asked by itself."""
        return not self.endpoint and not self.self_hosted

    def as_seen_by(self, mailto: str) -> Self:
        """Return the row, closed when it answers only to who names a mail address and there is none."""
        is_closed = self.needs_mailto and not mailto
        return self.model_copy(update={"access": "closed"}) if is_closed else self

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.endpoint and not _is_web_address(self.endpoint.replace("{language}", "en")):
            raise ValueError("endpoint must be an http or https address with a host")
        if self.endpoint and self.self_hosted:
            raise ValueError("the address of a self-hosted source stands in the settings")
        if (self.access == "key") != bool(self.key_env):
            raise ValueError("key_env belongs to access = 'key', and only there")
        if (self.published_pace_s is None) != (not self.pace_citation):
            raise ValueError("published_pace_s and pace_citation stand together")
        if (self.quota_per_day is None) != (not self.quota_citation):
            raise ValueError("quota_per_day and quota_citation stand together")
        if self.access == "closed" and not self.terms:
            raise ValueError("a closed source says why in terms")
        if (self.access == "closed") != bool(self.alternative):
            raise ValueError("a closed source, and only that, names an alternative")
        return self

    @model_validator(mode="after")
    def _says_how_to_ask(self) -> Self:
        if self.adapter not in GENERIC_ADAPTERS or self.access == "closed":
            return self
        fault = fault_of(self.adapter, self.endpoint, self.params, self.item_map)
        if fault:
            raise ValueError(fault)
        return self


def _is_web_address(url: str) -> bool:
    """Tell whether a URL is http or https with a host, and without user information."""
    try:
        parts = urlsplit(url)
        _ = parts.port
    except ValueError:
        return False
    return parts.scheme in {"http", "https"} and bool(parts.hostname) and "@" not in parts.netloc


@lru_cache(maxsize=1)
def shipped_rows() -> tuple[SourceRow, ...]:
    """Return the rows of sources.toml, in its order."""
    return read_rows(tomllib.loads(ROWS.read_text("utf-8"))["source"], field="sources")


def custom_rows(rows: Iterable[Mapping[str, object]]) -> tuple[SourceRow, ...]:
    """Return an operator's own rows, whether written like the catalogue's or in the short form (generic.py).

    Raises:
        Invalid: `sources.custom`, when a row is wrong, has no endpoint, or an id is given twice or is taken.
    """
    mine = read_rows(map(spelled_out, rows), field="sources.custom")
    taken = {MEMORY_SOURCE, *(row.id for row in shipped_rows())}
    if any(not row.endpoint or row.id in taken for row in mine):
        raise Invalid(
            "A custom source needs an endpoint and an id of its own.", field="sources.custom"
        )
    return mine


def read_rows(rows: Iterable[Mapping[str, object]], *, field: str) -> tuple[SourceRow, ...]:
    """Check rows one by one and their ids together.

    Raises:
        Invalid: `field`, naming the number of the row (from 1) and the wrong keys, never their values.
    """
    checked = tuple(_row(number, row, field) for number, row in enumerate(rows, 1))
    if len({row.id for row in checked}) < len(checked):
        raise Invalid("Two sources have the same id.", field=field)
    return checked


def _row(number: int, row: Mapping[str, object], field: str) -> SourceRow:
    try:
        return SourceRow.model_validate(row)
    except ValidationError as error:
        wrong = sorted({".".join(map(str, each["loc"])) or "the row" for each in error.errors()})
        known = [name for name in wrong if name.split(".")[0] in SourceRow.model_fields]
        named = ", ".join(known) or "unknown or contradicting keys"
        raise Invalid(f"Source row {number} is not valid: {named}.", field=field) from error
