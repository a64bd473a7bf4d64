"""What a search is for: our own queries with the intent that a reader would give them, Chinese and English."""

from collections import Counter

import pytest
from signal_search.contracts.search_plan import SearchIntent

from workers.planning.search_intent import classify

GOLDEN: tuple[tuple[str, str], ...] = (
    # A definition.
    ("什么是向量数据库", "factual"),
    ("共识算法的定义", "factual"),
    ("幂等是什么意思", "factual"),
    ("TLS 1.3 是什么", "factual"),
    ("what is a monad", "factual"),
    ("What are zero-knowledge proofs?", "factual"),
    ("define backpressure", "factual"),
    ("meaning of eventual consistency", "factual"),
    # How it stands.
    ("固态电池 最新进展", "status"),
    ("Zig 语言 现状", "status"),
    ("Web 组件现在怎样了", "status"),
    ("React Server Components 目前支持情况", "status"),
    ("Servo 项目的状态", "status"),
    ("latest PostgreSQL version", "status"),
    ("What's new with Kubernetes", "status"),
    ("what is new in Python 3.14", "status"),
    ("status of the Ladybird browser", "status"),
    ("WASI updates", "status"),
    # One against the other.
    ("Redis vs Memcached", "comparison"),
    ("乐观锁和悲观锁的区别", "comparison"),
    ("Kafka 与 Pulsar 对比", "comparison"),
    ("用 Vue 还是 React", "comparison"),
    ("gRPC compared to REST", "comparison"),
    ("difference between a process and a thread", "comparison"),
    ("tabs or spaces?", "comparison"),
    ("is Go or Rust faster", "comparison"),
    ("compare SQLite and DuckDB", "comparison"),
    ("苹果vs安卓", "comparison"),
    # Two named things stay a comparison where something new is asked of them.
    ("Bun vs Deno 最新对比", "comparison"),
    ("Vite 和 Turbopack 最新区别", "comparison"),
    ("latest comparison of Bun vs Node", "comparison"),
    # How to do it.
    ("怎么做数据库分片", "tutorial"),
    ("如何部署 FastAPI", "tutorial"),
    ("Terraform 入门", "tutorial"),
    ("Rust 教程", "tutorial"),
    ("how to write a lexer", "tutorial"),
    ("how to install pip or conda", "tutorial"),
    ("getting started with Svelte", "tutorial"),
    ("nginx reverse proxy tutorial", "tutorial"),
    ("GitHub Actions tutorial", "tutorial"),
    ("how to update npm packages", "tutorial"),
    ("how to write documentation for an API", "tutorial"),
    ("什么是 Kotlin 教程", "tutorial"),
    # What there is.
    ("深入了解 eBPF", "exploratory"),
    ("关于拜占庭容错的一切", "exploratory"),
    ("Elixir 生态", "exploratory"),
    ("about homomorphic encryption", "exploratory"),
    ("deep dive CRDT", "exploratory"),
    ("Rust async ecosystem", "exploratory"),
    ("WebGPU", "exploratory"),
    ("向量检索", "exploratory"),
    ("React 组件的状态管理", "exploratory"),
    ("最近邻算法", "exploratory"),
    ("GitHub Copilot", "exploratory"),
    # What happened.
    ("芯片行业新闻", "news"),
    ("本周 AI 大事", "news"),
    ("开源社区最近发生了什么", "news"),
    ("quantum computing news", "news"),
    ("Apple security this week", "news"),
    ("latest Mozilla announcements", "news"),
    ("最新 AI 新闻", "news"),
    # Where it is.
    ("Blender 官网", "resource"),
    ("Django 文档", "resource"),
    ("VLC 下载", "resource"),
    ("Deno official site", "resource"),
    ("pandas documentation", "resource"),
    ("uv GitHub", "resource"),
    ("ripgrep github repo", "resource"),
    ("latest LLVM official docs", "resource"),
)


def test_the_list_is_long_and_has_every_intent_in_both_languages() -> None:
    assert len(GOLDEN) >= 40
    chinese = {intent for query, intent in GOLDEN if not query.isascii()}
    english = {intent for query, intent in GOLDEN if query.isascii()}
    assert chinese == english == {each.value for each in SearchIntent}
    assert max(Counter(query for query, _ in GOLDEN).values()) == 1


@pytest.mark.parametrize(("query", "intent"), GOLDEN)
def test_a_reader_would_say_the_same(query: str, intent: str) -> None:
    assert classify(query).intent == intent


@pytest.mark.parametrize(("query", "intent"), GOLDEN)
def test_case_and_spaces_say_nothing(query: str, intent: str) -> None:
    loud = query.upper() if query.isascii() else query
    assert classify(f"  {loud}\n").intent == intent


@pytest.mark.parametrize(
    ("query", "is_new"),
    [("Bun vs Deno 最新对比", True), ("Bun vs Deno", False), ("Kafka 与 Pulsar 现状对比", True)],
)
def test_a_comparison_remembers_that_something_new_was_asked(query: str, is_new: bool) -> None:
    assert classify(query).wants_new is is_new


def test_the_reason_is_the_words_that_decided() -> None:
    assert classify("Terraform 入门").reason == "signal: 入门"
    assert classify("WebGPU").reason == "no signal"
