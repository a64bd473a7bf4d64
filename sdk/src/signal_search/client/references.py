"""Which files the citations of a research are exported to when its caller names formats."""

from collections.abc import Iterable, Mapping

from signal_search.errors import Invalid

# The names of the files are the design document's.
REFERENCES: Mapping[str, str] = {
    "bibtex": "references.bib",
    "csl": "references.csl",
    "markdown": "references.md",
    "noteexpress": "references.ne",
    "ris": "references.ris",
}
# Its names of formats beside ours: `both` are the two that it began with.
_OTHER_NAMES: Mapping[str, tuple[str, ...]] = {"md": ("markdown",), "both": ("bibtex", "markdown")}


def as_names(wanted: str | Iterable[str] | None) -> tuple[str, ...]:
    """Return the formats as they are given: one name, several, or none."""
    if wanted is None:
        return ()
    return (wanted,) if isinstance(wanted, str) else tuple(wanted)


def reference_files(names: Iterable[str]) -> Mapping[str, str]:
    """Return the format of each file that is to be written, by file name.

    Raises:
        Invalid: there is no format of a name.
    """
    formats = [each for name in names for each in _OTHER_NAMES.get(name, (name,))]
    if not set(formats) <= set(REFERENCES):
        raise Invalid("there is no such export format", field="export_citations")
    return {REFERENCES[each]: each for each in formats}
