"""Scopes: nothing of another one comes out, and nothing in another one changes what comes out."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from signal_search.contracts.research import RouterResult, ScopeKey

from tests.fakes.research import Shelf, a_memory, a_scope
from workers.memory.bm25 import Bm25
from workers.memory.index_file import IndexFile
from workers.memory.postings import Passage, add, remove

PARTS = st.sampled_from(
    ["a", "A", "a b", "a|b", "*", "a--b", "ａ", "甲", '"', "a'; DROP TABLE x", "%", "}"]
)
SCOPES = st.builds(
    ScopeKey,
    team_id=PARTS,
    project_id=PARTS,
    repository=PARTS,
    branch=PARTS,
    experiment_environment=PARTS,
)
WORDS = st.sampled_from(
    ["alpha", "beta", "gamma", "检索", "全文检索", "read_timeout", "error", "the"]
)
TEXTS = st.lists(WORDS, min_size=1, max_size=8).map(" ".join)
CORPORA = st.dictionaries(st.sampled_from([f"doc{at}" for at in range(9)]), TEXTS, max_size=6)
OPERATORS = st.sampled_from(
    ["scope:*", '{x}: "a"', "alpha AND NOT beta", "a OR b NEAR/2 c", '"', "' OR 1=1 --"]
)
QUERIES = TEXTS | OPERATORS


def fill(shelf: Shelf, scope: ScopeKey, corpus: dict[str, str], kind: str) -> None:
    if kind in {"index", "both"}:
        shelf.index(scope, corpus)
    if kind in {"memory", "both"}:
        for name, text in corpus.items():
            shelf.publish(a_memory(name, text, scope))


def answer(found: RouterResult) -> object:
    return [
        (each.chunk_id, each.rerank_score, each.vector_score, each.metadata)
        for each in found.evidence
    ]


@settings(max_examples=15, deadline=None)
@given(
    scopes=st.lists(SCOPES, min_size=2, max_size=3, unique=True),
    corpora=st.lists(CORPORA, min_size=3, max_size=3),
    query=QUERIES,
)
def test_everything_found_is_of_the_asked_scope(
    scopes: list[ScopeKey], corpora: list[dict[str, str]], query: str
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        for at, (scope, corpus) in enumerate(zip(scopes, corpora, strict=False)):
            fill(shelf, scope, {f"{name}-{at}": text for name, text in corpus.items()}, "both")
        for at, scope in enumerate(scopes):
            found = shelf.ask(query, scope)
            assert found.scope == scope
            assert found.scope_leak_count == 0
            assert all(each.scope == scope for each in found.evidence)
            assert all(each.chunk_id.endswith(f"-{at}") for each in found.evidence)


@settings(max_examples=15, deadline=None)
@given(
    ours=CORPORA,
    theirs=CORPORA,
    query=QUERIES,
    part=st.integers(0, 4),
    kind=st.sampled_from(["index", "both"]),
)
def test_nothing_in_another_scope_changes_an_answer(
    ours: dict[str, str], theirs: dict[str, str], query: str, part: int, kind: str
) -> None:
    """Same ids, order and every score, whatever is added to a scope that differs in one name alone."""
    name = ("team_id", "project_id", "repository", "branch", "experiment_environment")[part]
    mine, other = a_scope(), a_scope(**{name: "elsewhere"})
    with tempfile.TemporaryDirectory() as folder:
        shelf = Shelf(Path(folder))
        fill(shelf, mine, ours, "both")
        before = shelf.ask(query, mine)
        fill(shelf, other, theirs, kind)
        after = shelf.ask(query, mine)
        assert answer(after) == answer(before)
        assert (after.degradations, after.rejections) == (before.degradations, before.rejections)


@settings(max_examples=25, deadline=None)
@given(
    steps=st.lists(
        st.tuples(st.booleans(), st.sampled_from("abcdefgh"), TEXTS), min_size=1, max_size=40
    ),
    query=TEXTS,
)
def test_an_index_that_grew_says_what_one_made_at_once_says(
    steps: list[tuple[bool, str, str]], query: str
) -> None:
    """Adding, replacing and removing one by one leaves the same scores as building what is left from nothing."""
    with tempfile.TemporaryDirectory() as one, tempfile.TemporaryDirectory() as other:
        grown = IndexFile(Path(one), a_scope())
        left: dict[str, str] = {}
        index = Bm25(grown)
        for is_added, name, text in steps:
            with grown.writing() as (db, header):
                if is_added:
                    add(db, header, [Passage(chunk_id=name, source_ref=name, content=text)])
                    left[name] = text
                else:
                    remove(db, header, [name])
                    left.pop(name, None)
            index.search(query, 3)
        made = IndexFile(Path(other), a_scope())
        with made.writing() as (db, header):
            add(db, header, [Passage(chunk_id=n, source_ref=n, content=t) for n, t in left.items()])
        wanted = [(each.chunk.chunk_id, each.score) for each in Bm25(made).search(query, 10)]
        for seen in (index, Bm25(grown)):
            assert [(each.chunk.chunk_id, each.score) for each in seen.search(query, 10)] == wanted
