"""The texts and figures of the emulated official sources, read from TOML and checked when they are read."""

import tomllib
from functools import lru_cache

import msgspec
from msgspec import Struct

from infra.loopback_web.corpus import FOLDER


class Series(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An indicator of the World Bank; values: country code -> year -> value."""

    id: str
    name: str
    updated: str
    values: dict[str, dict[str, float]]


class Filing(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A filing with the SEC; id: number and file, as the search gives it."""

    id: str
    cik: str
    name: str
    ticker: str
    form: str
    filed: str
    period: str
    description: str
    text: str

    @property
    def path(self) -> str:
        """Return where the archive keeps it."""
        number, _colon, file = self.id.partition(":")
        return f"/Archives/edgar/data/{int(self.cik)}/{number.replace('-', '')}/{file}"


class Trial(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A registered study; done: its dates are past."""

    nct: str
    title: str
    status: str
    type: str
    phases: list[str]
    count: int
    count_type: str
    start: str
    primary: str
    completion: str
    posted: str
    sponsor: str
    conditions: list[str]
    interventions: list[tuple[str, str]]
    outcome: str
    frame: str
    summary: str
    done: bool = False
    results: bool = False


class Label(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A drug's label; effective: YYYYMMDD."""

    set_id: str
    brand: str
    generic: str
    substance: str
    maker: str
    effective: str
    route: str
    product: str
    number: str
    indications: str
    dosage: str
    adverse: str


class Opinion(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A court's opinion; cites: how many later ones cite it."""

    id: int
    slug: str
    name: str
    court: str
    court_id: str
    filed: str
    docket: str
    citations: list[str]
    cites: int
    judge: str
    text: str


class Entry(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A document of the Federal Register."""

    number: str
    title: str
    type: str
    abstract: str
    action: str
    citation: str
    published: str
    agencies: list[str]
    effective: str = ""
    close: str = ""


class Dataset(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A catalogue's record; title and description by language."""

    id: str
    publisher: str
    catalog: str
    country: str
    issued: str
    modified: str
    formats: list[str]
    title: dict[str, str]
    description: dict[str, str]


class HealthRow(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """A value of one place, year and group."""

    place: str
    year: int
    group: str
    value: float
    low: float | None = None
    high: float | None = None


class Indicator(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """An indicator of the Global Health Observatory."""

    code: str
    name: str
    updated: str
    rows: list[HealthRow]


class Official(Struct, frozen=True, kw_only=True, forbid_unknown_fields=True):
    """All of it."""

    series: list[Series]
    filing: list[Filing]
    trial: list[Trial]
    label: list[Label]
    opinion: list[Opinion]
    entry: list[Entry]
    dataset: list[Dataset]
    indicator: list[Indicator]


@lru_cache(maxsize=1)
def official() -> Official:
    """Return the texts and figures."""
    return msgspec.convert(
        tomllib.loads((FOLDER / "official.toml").read_text("utf-8")), Official, strict=False
    )
