"""Every export format against its golden file. A format without one fails.

To renew a golden file after an intended change: delete it, run this test once (it writes the file and fails), and
read the difference before committing it.
"""

from pathlib import Path

import pytest
from signal_search.citations import FORMATS, export
from signal_search.errors import Invalid

from tests.fakes.results import a_result

GOLDEN = Path(__file__).parent / "golden"


@pytest.mark.parametrize("name", FORMATS)
def test_golden_file(name: str) -> None:
    written = export(a_result(), name).encode()
    path = GOLDEN / f"{name}.{FORMATS[name].suffix}"
    if not path.exists():
        path.write_bytes(written)
        pytest.fail("there was no golden file; one was written, read it")
    assert written == path.read_bytes()


def test_media_types_and_suffixes() -> None:
    assert {name: (each.media_type, each.suffix) for name, each in FORMATS.items()} == {
        "bibtex": ("application/x-bibtex", "bib"),
        "ris": ("application/x-research-info-systems", "ris"),
        "csl": ("application/vnd.citationstyles.csl+json", "json"),
        "markdown": ("text/markdown", "md"),
        "noteexpress": ("text/plain", "txt"),
    }


def test_an_unknown_format_is_refused() -> None:
    with pytest.raises(Invalid) as caught:
        export(a_result(), "endnote")
    assert caught.value.field == "format"
