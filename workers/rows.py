"""What a row of the catalogue is worth in this deployment, and how it is shown. No adapters here."""

from signal_search.contracts.source import SourceView

from infra.catalog.catalog import SourceRow
from infra.settings import is_set


def is_usable(row: SourceRow) -> bool:
    """Tell whether a source can be asked: open or with its key, and with an address."""
    has_key = row.access != "key" or is_set(row.key_env)
    return row.access != "closed" and has_key and bool(row.endpoint)


def view_of(row: SourceRow, *, enabled: bool) -> SourceView:
    """Return a row as callers see it."""
    return SourceView(
        id=row.id,
        name=row.name,
        kind=row.kind,
        category=row.category,
        languages=row.languages,
        topics=row.topics,
        access=row.access,
        enabled=enabled,
        key_present=is_usable(row) if row.access == "key" or row.self_hosted else None,
        constraints=row.constraints,
        terms=row.terms,
        force_include=row.force_include,
        quality=row.quality,
        alternative=row.alternative,
    )
