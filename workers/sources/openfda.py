"""openFDA drug labels: what a drug's label says, section by section, found by the drug's names.

The index is searched by brand, generic and substance name, not by full text: a label mentions hundreds of other drugs.
The text is the manufacturer's, approved by the FDA. The API answers 404 with the code NOT_FOUND when nothing matches.
"""

import re
from urllib.parse import quote

from msgspec import Struct
from signal_search.contracts.document import Author, Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.records import (
    days_of,
    iso,
    left_out,
    line,
    read_json,
    readable,
    refuse,
    size_of,
    words_of,
)

_MAX_LIMIT = 1000
_MOST_WORDS = 6
_SECTION_CHARS = 2000
_NAMES = ("openfda.generic_name", "openfda.brand_name", "openfda.substance_name")
_SET_ID = re.compile(r"[0-9a-fA-F-]{36}")
_SECTIONS = {
    "boxed_warning": "Boxed warning",
    "indications_and_usage": "Indications and usage",
    "dosage_and_administration": "Dosage and administration",
    "contraindications": "Contraindications",
    "warnings_and_cautions": "Warnings and precautions",
    "warnings": "Warnings",
    "adverse_reactions": "Adverse reactions",
    "drug_interactions": "Drug interactions",
    "pregnancy": "Pregnancy",
    "mechanism_of_action": "Mechanism of action",
    "active_ingredient": "Active ingredient",
}


class _Names(Struct, frozen=True):
    brand_name: list[str] | None = None
    generic_name: list[str] | None = None
    manufacturer_name: list[str] | None = None
    route: list[str] | None = None
    product_type: list[str] | None = None
    application_number: list[str] | None = None


class _Label(Struct, frozen=True):
    set_id: str
    effective_time: str | None = None
    openfda: _Names = _Names()


class _Results(Struct, frozen=True):
    total: int | None = None


class _Meta(Struct, frozen=True):
    results: _Results = _Results()


class _Error(Struct, frozen=True):
    code: str = ""


class _Body(Struct, frozen=True):
    results: list[object] | None = None
    meta: _Meta = _Meta()
    error: _Error | None = None


class OpenFda:
    """Labels of drugs sold in the United States."""

    name: str = "openfda"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search of the labels of the drugs that the question names.

        A freshness `A..B` becomes a range of the day a label took effect.
        """
        words = " ".join(words_of(ask, most=_MOST_WORDS, hyphens=False)) or "aspirin"
        search = " ".join(f"{name}:({words})" for name in _NAMES)
        days = days_of(ask.freshness)
        if days:
            first, last = (day.replace("-", "") for day in days)
            search = f"({search}) AND effective_time:[{first} TO {last}]"
        fields = {"search": search, "limit": str(size_of(ask, _MAX_LIMIT))}
        url = address(self._config, self._config.endpoint, fields, safe="():[]")
        return (call(self._config, self.name, url, answers=(404,)),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn labels into documents: who makes it, since when it says so, and the sections that people ask for.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error other than NOT_FOUND.
        """
        del request
        body = read_json(reply, _Body)
        if body.error is not None:
            return Parsed(total=0) if body.error.code == "NOT_FOUND" else refuse("an error")
        if body.results is None:
            refuse("JSON of another shape")
        labels = [
            (label, item)
            for item in body.results
            if isinstance(item, dict)
            for label in readable([item], _Label)
            if _SET_ID.fullmatch(label.set_id)
        ]
        read = [self._document(label, item, reply) for label, item in labels]
        told = tuple(document for document in read if document.text)
        return Parsed(
            documents=told,
            total=body.meta.results.total,
            note=left_out(len(body.results), len(told), "unreadable, empty or without an id"),
        )

    def _document(self, label: _Label, item: dict[str, object], reply: Reply) -> Document:
        since = _day(label.effective_time)
        maker = _first(label.openfda.manufacturer_name)
        return make_document(
            url="https://dailymed.nlm.nih.gov/dailymed/drugInfo.cfm?setid="
            + quote(label.set_id.lower()),
            title=f"{_called(label)}: drug label",
            text="\n".join(filter(None, [*_facts(label, maker, since), *_sections(item)])),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=since,
                date_kind="record" if since else "none",
                authors=(Author(literal=maker),) if maker else (),
                container="openFDA drug labels",
                publisher="U.S. Food and Drug Administration",
                work_type="dataset",
                source_type=self._config.source_type,
                signals=("text_of_the_manufacturer",),
            ),
        )


def _first(values: list[str] | None) -> str:
    return line(next(iter(values or ()), ""))


def _day(compact: str | None) -> str:
    found = re.fullmatch(r"([0-9]{4})([0-9]{2})([0-9]{2})", compact or "")
    return iso("-".join(found.groups())) if found else ""


def _called(label: _Label) -> str:
    brand, generic = _first(label.openfda.brand_name), _first(label.openfda.generic_name).lower()
    if brand and generic and brand.lower() != generic:
        return f"{brand} ({generic})"
    return brand or generic or "A drug without a registered name"


def _facts(label: _Label, maker: str, since: str) -> list[str]:
    name, names = _called(label), label.openfda
    number = _first(names.application_number)
    kind, route = (
        _first(names.product_type).lower().replace("otc", "OTC"),
        _first(names.route).lower(),
    )
    return [
        f"The manufacturer of {name} is {maker}." if maker else "",
        f"The label of {name} took effect on {since}." if since else "",
        f"{name} is a {kind}." if kind else "",
        f"The route of administration of {name} is {route}." if route else "",
        f"The application number of {name} is {number}." if number else "",
    ]


def _sections(item: dict[str, object]) -> list[str]:
    """Return the sections under their headings; a label numbers and repeats its headings, which is left as it is."""
    told = ((heading, _section(item.get(name))) for name, heading in _SECTIONS.items())
    return [f"\n{heading}\n{text}" for heading, text in told if text]


def _section(value: object) -> str:
    parts = (
        [line(part) for part in value if isinstance(part, str)] if isinstance(value, list) else []
    )
    text = "\n".join(part for part in parts if part)
    return text if len(text) <= _SECTION_CHARS else _cut(text)


def _cut(text: str) -> str:
    """Cut at the end of a sentence, so that nothing is half said."""
    end = text.rfind(". ", 0, _SECTION_CHARS)
    return text[: end + 1] if end > 0 else text[:_SECTION_CHARS]
