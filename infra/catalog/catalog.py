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
from signal_search.errors import Invalid

ROWS = Path(__file__).with_name("sources.toml")

Name = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9_-]{0,63}$")]
Language = Annotated[str, Field(pattern=r"^[a-z]{2,3}$")]
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
    lend their properties to `site:URL` and `feed:URL`. languages: empty means any. topics: what it is good for; empty
    means anything. tier: from which breadth of search it is asked. access: open, by a key of the operator's
    (`key_env` names the variable), or closed, which `terms` explains. published_pace_s: the pause in seconds its
    operator publishes, `pace_citation` where. constraints: which of the caller's constraints its requests carry.
    params: fixed query parameters, or settings of a generic adapter.
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
    terms: Annotated[str, Field(max_length=500)] = ""
    published_pace_s: Annotated[float, Field(gt=0.0, le=86_400.0)] | None = None
    pace_citation: Annotated[str, Field(max_length=500)] = ""
    constraints: tuple[Constraint, ...] = ()
    source_type: SourceType = "unknown"
    params: dict[str, str] = {}

    @property
    def is_generic(self) -> bool:
        """Tell whether this row is a pattern for addresses and cannot be asked by itself."""
        return not self.endpoint

    @model_validator(mode="after")
    def _is_consistent(self) -> Self:
        if self.endpoint and not _is_web_address(self.endpoint.replace("{language}", "en")):
            raise ValueError("endpoint must be an http or https address with a host")
        if (self.access == "key") != bool(self.key_env):
            raise ValueError("key_env belongs to access = 'key', and only there")
        if (self.published_pace_s is None) != (not self.pace_citation):
            raise ValueError("published_pace_s and pace_citation stand together")
        if self.access == "closed" and not self.terms:
            raise ValueError("a closed source says why in terms")
        return self


def _is_web_address(url: str) -> bool:
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
    """Return an operator's own rows. Without another word they are internal.

    Raises:
        Invalid: `sources.custom`, when a row is wrong, has no endpoint, or an id is given twice or is taken.
    """
    mine = read_rows(({"source_type": "internal", **row} for row in rows), field="sources.custom")
    taken = {row.id for row in shipped_rows()}
    if any(row.is_generic or row.id in taken for row in mine):
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
