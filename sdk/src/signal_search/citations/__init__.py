"""Exports of a result: pure text, one file per format, and the table that names them."""

from collections.abc import Callable, Mapping
from types import MappingProxyType
from typing import NamedTuple

from signal_search.citations import bibtex, csl, markdown, noteexpress, ris
from signal_search.contracts.result import Result
from signal_search.errors import Invalid


class Format(NamedTuple):
    """A way to write a result: media type without parameters, file suffix without a dot, the writer."""

    media_type: str
    suffix: str
    write: Callable[[Result], str]


FORMATS: Mapping[str, Format] = MappingProxyType(
    {
        "bibtex": Format("application/x-bibtex", "bib", bibtex.write),
        "ris": Format("application/x-research-info-systems", "ris", ris.write),
        "csl": Format("application/vnd.citationstyles.csl+json", "json", csl.write),
        "markdown": Format("text/markdown", "md", markdown.write),
        "noteexpress": Format("text/plain", "txt", noteexpress.write),
    }
)


def export(result: Result, name: str) -> str:
    """Return the result in the named format.

    Raises:
        Invalid: there is no format of that name.
    """
    if name not in FORMATS:
        raise Invalid("there is no such export format", field="format")
    return FORMATS[name].write(result)
