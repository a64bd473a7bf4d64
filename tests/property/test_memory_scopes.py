"""Scopes: nothing of another one comes out, and nothing in another one changes what comes out."""

import tempfile
from pathlib import Path

from hypothesis import given, settings
from hypothesis import strategies as st
from msgspec import structs
from signal_search.contracts.research import MemoryStatus, RouterResult, ScopeKey

from infra.clock import FixedClock
from tests.fakes.research import NOW_MS, Shelf, a_memory, a_scope
from workers.memory.bm25 import Bm25
from workers.memory.grep import Grep, GrepTool
from workers.memory.index_file import IndexFile
from workers.memory.postings import Passage, add, remove
from workers.memory.reranking import RuleReranker
from workers.memory.router import Router
from workers.memory.scope import scope_digest

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


CHANNELS = ("research-memory", "bm25", "vector", "grep")
PLANS = st.none() | st.permutations(CHANNELS).flatmap(
    lambda names: st.integers(1, 4).map(lambda at: [list(names[:at]), *([[n] for n in names[at:]])])
)


class House:
    """A shelf, and a folder for each scope that its grep reads: all four channels."""

    def __init__(self, folder: Path) -> None:
        self.shelf = Shelf(folder / "files")
        self.roots = folder / "roots"

    def root(self, scope: ScopeKey) -> Path:
        made = self.roots / scope_digest(scope)
        made.mkdir(parents=True, exist_ok=True)
        return made

    def fill(self, scope: ScopeKey, corpus: dict[str, str]) -> None:
        self.shelf.index(scope, corpus)
        for name, text in corpus.items():
            self.shelf.publish(a_memory(name, text, scope))
            (self.root(scope) / f"{name}.txt").write_text(f"{text}\n")

    def ask(self, query: str, scope: ScopeKey, plan: object) -> RouterResult:
        tools = self.shelf.tools([(self.root(scope), scope)])
        assert tuple(each.name for each in tools) == CHANNELS
        router = Router(tools, self.shelf.clock, reranker=RuleReranker())
        return router.retrieve(query, scope, tool_rounds=plan)


def answer(found: RouterResult) -> object:
    """Everything but the times."""
    traces = [structs.replace(each, duration_ms=0.0) for each in found.traces]
    return structs.replace(found, traces=tuple(traces))


@settings(max_examples=12, deadline=None)
@given(
    scopes=st.lists(SCOPES, min_size=2, max_size=3, unique=True),
    corpora=st.lists(CORPORA, min_size=3, max_size=3),
    query=QUERIES,
    plan=PLANS,
)
def test_everything_found_by_any_channel_is_of_the_asked_scope(
    scopes: list[ScopeKey], corpora: list[dict[str, str]], query: str, plan: object
) -> None:
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        for at, (scope, corpus) in enumerate(zip(scopes, corpora, strict=False)):
            house.fill(scope, {f"{name}-{at}": text for name, text in corpus.items()})
        for at, scope in enumerate(scopes):
            found = house.ask(query, scope, plan)
            assert found.scope == scope
            assert found.scope_leak_count == 0
            assert all(each.scope == scope for each in found.evidence)
            assert all(f"-{at}" in each.source_ref for each in found.evidence)


@settings(max_examples=12, deadline=None)
@given(
    ours=CORPORA,
    theirs=CORPORA,
    query=QUERIES,
    plan=PLANS,
    part=st.integers(0, 4),
)
def test_nothing_in_another_scope_changes_an_answer(
    ours: dict[str, str], theirs: dict[str, str], query: str, plan: object, part: int
) -> None:
    """Same ids, order, scores, traces and codes, whatever is added to a scope that differs in one name alone.

    What is added has our very ids too; then it is taken out of the index again, revoked and deleted.
    """
    name = ("team_id", "project_id", "repository", "branch", "experiment_environment")[part]
    mine, other = a_scope(), a_scope(**{name: "elsewhere"})
    with tempfile.TemporaryDirectory() as folder:
        house = House(Path(folder))
        house.fill(mine, ours)
        before = answer(house.ask(query, mine, plan))
        house.fill(other, {**ours, **theirs})
        assert answer(house.ask(query, mine, plan)) == before
        with IndexFile(house.shelf.folder, other).writing() as (db, header):
            remove(db, header, list({**ours, **theirs}))
        for each in {**ours, **theirs}:
            house.shelf.store(other).move(each, MemoryStatus.REVOKED, actor="ann")
            (house.root(other) / f"{each}.txt").unlink()
        assert answer(house.ask(query, mine, plan)) == before


@given(query=TEXTS, text=TEXTS)
def test_a_channel_that_is_bound_to_a_scope_finds_nothing_for_another(
    query: str, text: str
) -> None:
    mine, other = a_scope(), a_scope(branch="elsewhere")
    with tempfile.TemporaryDirectory() as folder:
        (Path(folder) / "a.txt").write_text(f"{text} {query}\n")
        tool = GrepTool(Grep(Path(folder), other), FixedClock(NOW_MS))
        assert tool.retrieve(query, mine).chunks == ()
        assert len(tool.retrieve(query, other).chunks) == 1


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
