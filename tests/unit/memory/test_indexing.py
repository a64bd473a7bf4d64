"""A folder into an index, what changed and nothing else; the words it is found by; the figures of a collection."""

import json
from datetime import UTC, datetime
from pathlib import Path

import pytest
from signal_search.contracts.research import EvidenceChunk
from signal_search.errors import Invalid

from infra.clock import FixedClock
from tests.fakes.research import NOW_MS, HashedVectors, Shelf, a_memory, a_scope
from workers.memory.bm25 import Bm25
from workers.memory.collection import Collection, read_collection
from workers.memory.evaluation import evaluate_retrieval
from workers.memory.gold import evaluate_gold
from workers.memory.grep import Grep, GrepTool
from workers.memory.index_file import IndexFile
from workers.memory.indexing import passages_of, sync
from workers.memory.metrics import ndcg
from workers.memory.postings import Passage, add
from workers.memory.recall import MemoryTool
from workers.memory.reranking import FusedOnly, RuleReranker
from workers.memory.router import Router
from workers.memory.tool import ToolFailed
from workers.memory.words import terms

SCOPE = a_scope()


class TickingClock(FixedClock):
    """A clock that goes on whenever it is looked at, as a real one does."""

    def now_ms(self) -> int:
        self.advance(1)
        return super().now_ms()


def found(file: IndexFile, query: str) -> list[str]:
    return [each.chunk.source_ref for each in Bm25(file).search(query, 10)]


def test_what_is_new_changed_or_gone(tmp_path: Path) -> None:
    root, file, clock = tmp_path / "root", IndexFile(tmp_path / "index", SCOPE), FixedClock(NOW_MS)
    (root / "sub").mkdir(parents=True)
    (root / "a.md").write_text("alpha zebra\n")
    (root / "sub" / "b.md").write_text("beta zebra\n")
    first = sync(root, file, clock)
    assert (first.files, first.added, first.removed, first.skipped) == (2, 2, 0, 0)
    assert sync(root, file, clock).added == 0
    (root / "a.md").write_text("gamma zebra\n")
    (root / "sub" / "b.md").unlink()
    (root / "credentials.txt").write_text("zebra\n")
    second = sync(root, file, clock)
    assert (second.files, second.added, second.removed, second.skipped) == (1, 1, 2, 1)
    assert (found(file, "alpha"), found(file, "beta"), found(file, "gamma")) == ([], [], ["a.md"])
    assert found(file, "zebra") == ["a.md"]
    assert file.header().documents == 1


def test_vectors_of_another_model_are_never_mixed(tmp_path: Path) -> None:
    root, file, clock = tmp_path / "root", IndexFile(tmp_path / "index", SCOPE), FixedClock(NOW_MS)
    root.mkdir()
    (root / "a.md").write_text("alpha\n")
    sync(root, file, clock, embedder=HashedVectors())
    other = HashedVectors()
    other.model_id = "another"
    with pytest.raises(ToolFailed) as refused:
        sync(root, file, clock, embedder=other)
    assert refused.value.reason == "embedding_model_mismatch"


def test_passages_cover_every_line_once() -> None:
    lines = [f"line {number} " + "x" * (number % 90) for number in range(200)]
    made = passages_of("a", "\n".join(lines))
    assert "\n".join(each.content for each in made).split("\n") == lines
    assert all(len(each.content) < 1400 for each in made)
    assert made[0].locator == f"line:1-{made[0].content.count(chr(10)) + 1}"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("全文检索", ["全", "文", "检", "索", "全文", "文检", "检索"]),
        ("readTimeout", ["readtimeout", "read", "timeout"]),
        ("read_timeout", ["read_timeout", "read", "timeout"]),
        ("HTTPServer2", ["httpserver2", "http", "server", "2"]),
        ("the running dogs", ["run", "dog"]),
        ("用Python写", ["用", "python", "写"]),
        ("!!! --", []),
    ],
)
def test_words_of_the_index(text: str, expected: list[str]) -> None:
    assert terms(text) == expected


def test_two_characters_find_a_longer_run(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.index(SCOPE, {"doc": "分布式全文检索系统", "other": "数据库事务"})
    assert [
        each.chunk_id for each in shelf.ask("检索", SCOPE, tool_rounds=[["bm25"]]).evidence
    ] == ["doc"]


def test_a_live_channel_is_fresh_while_the_clock_goes_on(tmp_path: Path) -> None:
    shelf, clock = Shelf(tmp_path / "files"), TickingClock(NOW_MS)
    shelf.publish(a_memory("m", "alpha", SCOPE))
    tools = [MemoryTool(shelf.folder, clock), GrepTool(Grep(tmp_path, SCOPE), clock)]
    assert Router(tools, clock).retrieve("alpha", SCOPE).rejections == ()


def test_an_index_is_stale_a_day_after_it_was_compared(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.index(SCOPE, {"doc": "alpha"})
    shelf.clock.advance(86_400_000)
    assert shelf.ask("alpha", SCOPE, tool_rounds=[["bm25"]]).rejections == ()
    shelf.clock.advance(1)
    assert shelf.ask("alpha", SCOPE, tool_rounds=[["bm25"]]).rejections == ("bm25:stale_index",)


def test_one_channel_keeps_its_own_order_in_the_product() -> None:
    chunks = [
        EvidenceChunk(chunk_id=name, scope=SCOPE, content=text, source_ref=name)
        for name, text in (("z", "nothing"), ("a", "alpha"))
    ]
    made = FusedOnly(RuleReranker()).rerank("alpha", chunks)
    assert [each.chunk_id for each in made.chunks] == ["z", "a"]


def test_sixteen_small_segments_become_one(tmp_path: Path) -> None:
    file = IndexFile(tmp_path, SCOPE)
    for number in range(40):
        with file.writing() as (db, header):
            add(
                db,
                header,
                [Passage(chunk_id=f"{number}", source_ref=f"{number}", content="alpha beta")],
            )
    with file.reading() as (db, _header):
        sizes = sorted(row[0] for row in db.execute("SELECT chunks FROM segments"))
    assert sum(sizes) == 40
    assert len(sizes) < 16
    assert len(Bm25(file).search("alpha", 100)) == 40


# --- figures ----------------------------------------------------------------------------------------------------------


def test_ndcg_by_hand() -> None:
    """(2/log2(2) + 1/log2(4)) / (2/log2(2) + 1/log2(3)) = 2.5 / 2.6309..."""
    assert ndcg(["a", "x", "b"], {"a": 2, "b": 1}, 10) == pytest.approx(2.5 / 2.6309297535714573)
    assert ndcg(["x"], {}, 10) == 0


def a_collection(folder: Path, headed: str = "") -> Path:
    folder.mkdir()
    corpus = [{"_id": "d1", "title": "alpha", "text": "beta"}, {"_id": "d2", "text": "gamma"}]
    queries = [
        {"_id": "q1", "text": "alpha"},
        {"_id": "q2", "text": "gamma"},
        {"_id": "q3", "text": "delta"},
    ]
    for name, rows in (("corpus", corpus), ("queries", queries)):
        (folder / f"{name}.jsonl").write_text("\n".join(map(json.dumps, rows)))
    (folder / "qrels.tsv").write_text(f"{headed}q1\td1\t1\nq2\td1\t1\n")
    return folder


@pytest.mark.parametrize("headed", ["", "query-id\tcorpus-id\tscore\n"])
def test_a_collection_through_the_product(tmp_path: Path, headed: str) -> None:
    """q1 finds its document first, q2 only another one, q3 has no answer and counts in no mean."""
    read = read_collection(a_collection(tmp_path / "set", headed))
    made = evaluate_retrieval(read, tmp_path / "index", FixedClock(NOW_MS), HashedVectors())
    assert (made.documents, made.questions, made.questions_without_answer) == (2, 3, 1)
    words = made.channels["bm25"]
    assert (words.n, words.ndcg_at_10, words.mrr_at_10, words.recall_at_10) == (2, 0.5, 0.5, 0.5)
    assert set(made.channels) == {"bm25", "reranked", "vector", "hybrid", "hybrid_reranked"}
    assert {each.scope_leak_count for each in made.channels.values()} == {0}


def test_what_is_no_collection_is_refused(tmp_path: Path) -> None:
    with pytest.raises(Invalid) as refused:
        read_collection(tmp_path)
    assert refused.value.field == "dir"


def test_an_interrupted_run_goes_on_where_it_was(tmp_path: Path) -> None:
    clock = FixedClock(NOW_MS)
    part = Collection(documents={"a": "alpha"}, questions={}, grades={})
    evaluate_retrieval(part, tmp_path, clock)
    whole = Collection(
        documents={"a": "alpha", "b": "beta"}, questions={"q": "beta"}, grades={"q": {"b": 1}}
    )
    assert evaluate_retrieval(whole, tmp_path, clock).channels["bm25"].ndcg_at_10 == 1.0


SCOPED = dict.fromkeys(SCOPE.__struct_fields__, "x")


def test_a_gold_file() -> None:
    """Recall 1 and 1/2, first ranks 2 and 1; the third case has no answer; one candidate is of another scope."""
    other = {**SCOPED, "branch": "y"}
    cases = [
        {"case_id": "1", "scope": SCOPED, "candidate_ids": ["a", "b"], "relevant_ids": ["b"]},
        {"case_id": "2", "scope": SCOPED, "candidate_ids": ["a", "b"], "relevant_ids": ["a", "b"]},
        {
            "case_id": "3",
            "scope": SCOPED,
            "candidate_ids": ["a"],
            "relevant_ids": [],
            "candidate_scopes": [other],
        },
    ]
    made = evaluate_gold(json.dumps({"cases": cases}).encode(), 1, FixedClock(NOW_MS))
    assert (made.cases, made.without_answer, made.scope_leak_count) == (3, 1, 1)
    assert (made.recall_at_k, made.mrr) == (0.25, 0.75)


@pytest.mark.parametrize(
    "change",
    [
        {"case_id": " "},
        {"scope": {}},
        {"candidate_ids": []},
        {"relevant_ids": ["z"]},
        {"candidate_ids": ["a", "a"]},
    ],
)
def test_a_gold_file_is_checked(change: dict[str, object]) -> None:
    case = {
        "case_id": "1",
        "scope": SCOPED,
        "candidate_ids": ["a"],
        "relevant_ids": ["a"],
        **change,
    }
    with pytest.raises(Invalid):
        evaluate_gold(json.dumps({"cases": [case]}).encode(), 1, FixedClock(NOW_MS))


def test_the_time_of_a_comparison_is_utc(tmp_path: Path) -> None:
    shelf = Shelf(tmp_path)
    shelf.index(SCOPE, {"doc": "alpha"})
    built_ms = IndexFile(tmp_path, SCOPE).header().built_at_ms
    assert datetime.fromtimestamp(built_ms / 1000, UTC).isoformat() == "2026-09-21T14:13:20+00:00"


GOLD = Path(__file__).with_name("retrieval_gold.json")


def test_our_own_gold_file() -> None:
    """Errors, symbols and meaning in two languages, with the same texts about in a second scope: all found, no leak."""
    made = evaluate_gold(GOLD.read_bytes(), 3, FixedClock(NOW_MS))
    assert (made.cases, made.without_answer, made.scope_leak_count) == (8, 1, 0)
    assert made.recall_at_k == 1.0
    assert made.mrr >= 0.85
