"""The stop rule on labelled collections, where those are at hand: the bars of `signal-search eval stop`."""

import os
from pathlib import Path

import pytest
import typer
from signal_search.errors import Invalid
from typer.testing import CliRunner

from infra.settings import load
from scoring.stop_simulation import StopReport
from workers.commands import register
from workers.evaluation import evaluate_stops

ROOT = Path(__file__).parents[2]
COLLECTIONS = Path(os.environ.get("COLLECTIONS_DIR", ROOT / "../shared/data/ir"))

pytestmark = pytest.mark.timeout(120)


@pytest.fixture(scope="module")
def cranfield() -> StopReport:
    folder = COLLECTIONS / "cranfield"
    if not folder.is_dir():
        pytest.skip("no labelled collections: set COLLECTIONS_DIR")
    return evaluate_stops(folder, load().stop.model_dump())["cranfield"]


def test_saturated_is_seldom_wrong_and_cheap(cranfield: StopReport) -> None:
    found = cranfield.saturation
    assert found.n >= 150
    assert found.declared_saturated >= 0.8 * found.n
    assert found.false_saturated is not None
    assert found.rounds_share is not None
    assert found.false_saturated <= 0.40
    assert found.rounds_share <= 0.60
    assert sum(found.reasons.values()) == found.n


def test_complete_is_never_said_with_a_sub_question_open(cranfield: StopReport) -> None:
    assert cranfield.checklist.complete >= 100
    assert cranfield.checklist.complete_but_open == 0
    assert cranfield.checklist.without_reason == 0


def test_the_rule_beats_its_price_in_fixed_rounds(cranfield: StopReport) -> None:
    """At most eight rounds' cost, and right more often than four rounds."""
    fixed = cranfield.fixed_rounds
    assert cranfield.saturation.rounds_mean < fixed["8"].rounds_mean  # type: ignore[operator]
    assert cranfield.saturation.false_saturated < fixed["4"].false_saturated  # type: ignore[operator]


def _collection(folder: Path, qrels: str) -> Path:
    folder.mkdir()
    texts = ["alpha beta", "beta gamma", "delta", "alpha alpha"]
    rows = [f'{{"_id": "d{n}", "text": "{text}"}}' for n, text in enumerate(texts)]
    (folder / "corpus.jsonl").write_text("\n".join(rows))
    (folder / "queries.jsonl").write_text(
        '{"_id": "q", "text": "alpha"}\n{"_id": "r", "text": "x"}'
    )
    (folder / "qrels.tsv").write_text(qrels)
    return folder


def test_a_folder_of_collections_is_read_each_by_its_name(tmp_path: Path) -> None:
    _collection(tmp_path / "one", "query-id\tcorpus-id\tscore\nq\td3\t1\nq\td1\t0")
    _collection(tmp_path / "two", "q\t0\td0\t2")
    found = evaluate_stops(tmp_path, {})
    assert list(found) == ["one", "two"]
    assert found["one"].agreement["L0"].n == 1


@pytest.mark.parametrize("labels", ["q d3 1", "\x00"])
def test_what_is_no_collection_is_refused(tmp_path: Path, labels: str) -> None:
    folder = _collection(tmp_path / "one", labels)
    for each in (folder, tmp_path / "nowhere"):
        with pytest.raises(Invalid) as caught:
            evaluate_stops(each, {})
        assert caught.value.field == "dir"


def test_the_command_prints_the_report(tmp_path: Path) -> None:
    app = typer.Typer()
    register(app)
    folder = _collection(tmp_path / "one", "q\td3\t1")
    found = CliRunner().invoke(app, ["eval", "stop", "--dir", str(folder)])
    assert found.exit_code == 0
    assert '"false_saturated": null' in found.stdout
