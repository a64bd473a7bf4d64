"""Which files are written for which formats, before and after a research."""

from pathlib import Path

import pytest
from signal_search.citations import FORMATS
from signal_search.client.references import REFERENCES, as_names, reference_files
from signal_search.client.vault import Vault
from signal_search.errors import Invalid

from tests.fakes.gateway import a_result


@pytest.mark.parametrize(
    ("wanted", "files"),
    [
        ("ris", {"references.ris"}),
        ("bibtex", {"references.bib"}),
        ("md", {"references.md"}),
        ("both", {"references.bib", "references.md"}),
        (["csl", "noteexpress"], {"references.csl", "references.ne"}),
        ((), set()),
        (None, set()),
    ],
)
def test_each_format_has_its_file(wanted: str | list[str] | None, files: set[str]) -> None:
    assert set(reference_files(as_names(wanted))) == files


def test_every_format_can_be_exported() -> None:
    assert set(REFERENCES) == set(FORMATS)


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(Invalid) as refused:
        reference_files(["ris", "docx"])
    assert refused.value.field == "export_citations"


def test_the_files_hold_what_the_export_of_the_result_holds(tmp_path: Path) -> None:
    vault = Vault(tmp_path)
    vault.keep_references(a_result("j"), reference_files(list(REFERENCES)))
    for form, name in REFERENCES.items():
        assert (tmp_path / name).read_bytes() == FORMATS[form].write(a_result("j")).encode()
