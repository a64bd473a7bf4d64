"""One peer over one collection, in a process of its own: `python retrieval_peers.py PEER FOLDER`; prints JSON.

Run by the peers' own interpreter, which has none of the product; each peer is used as its documentation says, with its
own words: FTS5 with Porter's stemmer (Chinese: trigrams), bm25s with its English stop words and a stemmer, tantivy
with `en_stem`. Chinese is cut into pairs of characters for the two that have no rule for it.
"""

import json
import re
import resource
import sqlite3
import statistics
import sys
import tempfile
import time
from pathlib import Path
from typing import Any, Protocol

K = 100
HAN = re.compile("[\u4e00-\u9fff]")
ADDED = "zyzzyva was added just now"


def rows(path: Path) -> list[dict[str, Any]]:
    return [json.loads(line) for line in path.read_text("utf-8").splitlines() if line.strip()]


def pairs(text: str) -> str:
    """Return a text with pairs of Chinese characters as words."""
    return " ".join(first + second for first, second in zip(text, text[1:], strict=False))


class Index(Protocol):
    """What every peer can do: made in a folder, for Chinese or not."""

    def __init__(self, folder: str, is_chinese: bool) -> None: ...

    def add(self, documents: list[tuple[str, str]]) -> None:
        """Add (name, text), so that the next search finds them."""
        ...

    def search(self, query: str) -> list[str]:
        """Return up to K names, best first."""
        ...


class Fts5:
    def __init__(self, folder: str, is_chinese: bool) -> None:
        self.db = sqlite3.connect(f"{folder}/fts.db")
        self.db.execute("PRAGMA journal_mode = WAL")
        rule = "trigram" if is_chinese else "porter unicode61"
        self.db.execute(
            f"CREATE VIRTUAL TABLE t USING fts5(name UNINDEXED, text, tokenize = '{rule}')"
        )
        self.is_chinese = is_chinese

    def add(self, documents: list[tuple[str, str]]) -> None:
        with self.db:
            self.db.executemany("INSERT INTO t VALUES (?, ?)", documents)

    def search(self, query: str) -> list[str]:
        cut = (
            [query[at : at + 3] for at in range(len(query) - 2)]
            if self.is_chinese
            else re.findall(r"\w+", query)
        )
        match = " OR ".join('"' + word.replace('"', '""') + '"' for word in dict.fromkeys(cut))
        sql = "SELECT name FROM t WHERE t MATCH ? ORDER BY bm25(t) LIMIT ?"
        return [row[0] for row in self.db.execute(sql, (match, K))] if match else []


class Bm25s:
    def __init__(self, folder: str, is_chinese: bool) -> None:
        import bm25s
        import Stemmer

        self.lib, self.stemmer, self.is_chinese = bm25s, Stemmer.Stemmer("english"), is_chinese
        self.documents: list[tuple[str, str]] = []

    def cut(self, texts: list[str]) -> Any:
        if self.is_chinese:
            return self.lib.tokenize(
                [pairs(each) for each in texts],
                token_pattern=r"\S+",
                stopwords=None,
                show_progress=False,
            )
        return self.lib.tokenize(texts, stopwords="en", stemmer=self.stemmer, show_progress=False)

    def add(self, documents: list[tuple[str, str]]) -> None:
        """Build from nothing: this library cannot add."""
        self.documents += documents
        self.index = self.lib.BM25()
        self.index.index(self.cut([text for _name, text in self.documents]), show_progress=False)

    def search(self, query: str) -> list[str]:
        most = min(K, len(self.documents))
        found, scores = self.index.retrieve(self.cut([query]), k=most, show_progress=False)
        return [
            self.documents[at][0]
            for at, score in zip(found[0], scores[0], strict=True)
            if score > 0
        ]


class Tantivy:
    def __init__(self, folder: str, is_chinese: bool) -> None:
        import tantivy

        self.lib, self.is_chinese = tantivy, is_chinese
        builder = tantivy.SchemaBuilder()
        builder.add_text_field("name", stored=True, tokenizer_name="raw")
        builder.add_text_field("text", tokenizer_name="whitespace" if is_chinese else "en_stem")
        self.index = tantivy.Index(builder.build(), path=folder)
        self.writer = self.index.writer()

    def add(self, documents: list[tuple[str, str]]) -> None:
        for name, text in documents:
            said = pairs(text) if self.is_chinese else text
            self.writer.add_document(self.lib.Document(name=[name], text=[said]))
        self.writer.commit()
        self.index.reload()

    def search(self, query: str) -> list[str]:
        said = pairs(query) if self.is_chinese else query
        plain = re.sub(r"[^\w\s]", " ", said)
        for operator in ("AND", "OR", "NOT", "IN", "TO"):
            plain = re.sub(rf"\b{operator}\b", operator.lower(), plain)
        if not plain.strip():
            return []
        searcher = self.index.searcher()
        hits = searcher.search(self.index.parse_query(plain, ["text"]), K).hits
        return [searcher.doc(address)["name"][0] for _score, address in hits]


PEERS: dict[str, type[Index]] = {"fts5": Fts5, "bm25s": Bm25s, "tantivy": Tantivy}


def run(peer: str, folder: Path) -> dict[str, Any]:
    documents = [
        (each["_id"], f"{each.get('title') or ''}\n{each['text']}".strip())
        for each in rows(folder / "corpus.jsonl")
    ]
    questions = {each["_id"]: each["text"] for each in rows(folder / "queries.jsonl")}
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    with tempfile.TemporaryDirectory() as scratch:
        began = time.perf_counter()
        index = PEERS[peer](scratch, bool(HAN.search(documents[0][1])))
        index.add(documents)
        build_s = time.perf_counter() - began
        found, spent = {}, []
        for name, text in questions.items():
            began = time.perf_counter()
            found[name] = index.search(text)
            spent.append((time.perf_counter() - began) * 1000)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before
        began = time.perf_counter()
        index.add([("added", ADDED)])
        seen = index.search("zyzzyva was added")[:1] == ["added"]
        added_ms = (time.perf_counter() - began) * 1000
    return {
        "found": found,
        "build_s": round(build_s, 2),
        "query_ms_p50": round(statistics.median(spent), 3),
        "memory_mib": round(memory / 1024, 1),
        "added_visible_ms": round(added_ms, 1) if seen else None,
    }


if __name__ == "__main__":
    print(json.dumps(run(sys.argv[1], Path(sys.argv[2]))))
