"""Other words for the same search: usual short forms of technical names, and English for Chinese technical terms.

A short form counts as a whole word only, and in its own spelling where it is also an ordinary word: "Go" is Golang,
"go" is not. English comes from the dictionary alone: a query with a Chinese word that it does not know has no English
form.
"""

import re
from functools import cache

from workers.planning.language import has_han
from workers.planning.synonyms import chinese_to_english

# Search guide, phase 2. The second column says whether the spelling must be exactly this.
_SYNONYMS: tuple[tuple[str, bool, str], ...] = (
    ("k8s", False, "Kubernetes"),
    ("JS", True, "JavaScript"),
    ("TS", True, "TypeScript"),
    ("React", True, "React.js"),
    ("Vue", True, "Vue.js"),
    ("Go", True, "Golang"),
    ("Postgres", False, "PostgreSQL"),
    ("Mongo", False, "MongoDB"),
    ("tf", False, "TensorFlow"),
    ("torch", False, "PyTorch"),
)
_WHOLE = r"(?<![\w.+#/-]){word}(?![\w+#/]|[-.]\w)"
# "Go to ..." and "React to ..." are verbs.
_NO_VERB = r"(?!\s+to\b)"
_PATTERNS = tuple(
    (
        re.compile(
            _WHOLE.format(word=word) + _NO_VERB, re.ASCII if is_exact else re.ASCII | re.IGNORECASE
        ),
        other,
    )
    for word, is_exact, other in _SYNONYMS
)

# Compounds that are not the sum of their parts, or no part of the planner's glossary.
_COMPOUNDS = """
异步编程=async programming;并发编程=concurrent programming;网络编程=network programming;编程语言=programming language
编程=programming;源码=source code;内存管理=memory management;错误处理=error handling;性能调优=performance tuning
优化=optimization;多线程=multithreading;类型系统=type system;包管理器=package manager;依赖管理=dependency management
依赖注入=dependency injection;命令行工具=command line tool;分布式锁=distributed lock;服务网格=service mesh
日志收集=log collection;告警=alerting
"""
# The same characters as `has_han` looks for.
_HAN_RUN = re.compile(r"([\u3400-\u9fff\uf900-\ufaff]+)")
# Words that only join: 的 of "Rust 的异步编程".
_JOINING = "的之和与"
_LONGEST = 8
_SHORTEST = 2


def synonyms_of(query: str) -> tuple[str, ...]:
    """Return what the short forms in a query stand for, each once, leaving out what the query says already."""
    said = query.casefold()
    found = (other for pattern, other in _PATTERNS if pattern.search(query))
    return tuple(each for each in found if each.casefold() not in said)


def with_synonyms(query: str) -> str:
    """Return the query with its short forms written out; "" when it has none."""
    written = query
    said = query.casefold()
    for pattern, other in _PATTERNS:
        if other.casefold() not in said:
            written = pattern.sub(other, written)
    return "" if written == query else written


def english_variant(query: str) -> str:
    """Return a Chinese query in English, "" when it is not Chinese or a word of it is not in the dictionary."""
    if not has_han(query):
        return ""
    parts: list[str] = []
    for piece in _HAN_RUN.split(query):
        said = _translated(piece) if _HAN_RUN.fullmatch(piece) else piece
        if said is None:
            return ""
        parts.append(said)
    return " ".join(" ".join(parts).split())


@cache
def _dictionary() -> dict[str, str]:
    general = {word: english[0] for word, english in chinese_to_english().items()}
    own = (each.partition("=") for line in _COMPOUNDS.split("\n") for each in line.split(";"))
    return general | {word: english for word, _, english in own if word}


def _translated(run: str) -> str | None:
    """Return the English of a run of Chinese by longest match; None when a part of it is unknown.

    Single characters are left alone: 行 is a row, a line, or nothing by itself.
    """
    known, words, at = _dictionary(), [], 0
    while at < len(run):
        sizes = range(min(_LONGEST, len(run) - at), _SHORTEST - 1, -1)
        size = next((n for n in sizes if run[at : at + n] in known), 0)
        if size:
            words.append(known[run[at : at + size]])
        elif run[at] not in _JOINING:
            return None
        at += size or 1
    return " ".join(words)
