"""An operator's own search source: the short form, its defaults, and what is refused before anything is asked."""

from typing import Any

import pytest
from signal_search.contracts.source import SourceQuery
from signal_search.errors import Invalid

from infra.catalog.catalog import SourceRow, custom_rows
from infra.settings import load
from workers.registry import Registry

KB: dict[str, Any] = {
    "id": "mykb",
    "url_template": "https://kb.example/api?q={q}",
    "json_items": "results",
    "item_map": {"url": "link", "title": "t"},
}


def _row(**changes: Any) -> SourceRow:
    (row,) = custom_rows([{**KB, **changes}])
    return row


def test_the_name_of_research_memory_is_taken() -> None:
    with pytest.raises(Invalid) as refused:
        _row(id="memory")
    assert refused.value.field == "sources.custom"


def test_the_defaults_of_the_short_form() -> None:
    row = _row()
    assert (row.name, row.adapter, row.kind, row.endpoint) == ("mykb", "json_api", "api", KB["url_template"])  # fmt: skip
    assert (row.category, row.source_type, row.quality) == ("private_kb", "internal", "B")
    assert (row.force_include, row.access, row.topics) == (True, "open", ())


@pytest.mark.parametrize(
    ("response", "adapter", "kind"),
    [
        ("html", "site_search", "web"),
        ("atom", "opensearch", "feed"),
        ("rss", "opensearch", "feed"),
    ],
)
def test_the_response_chooses_the_adapter(response: str, adapter: str, kind: str) -> None:
    row = _row(response=response)
    assert (row.adapter, row.kind) == (adapter, kind)


@pytest.mark.parametrize(
    ("template", "place", "endpoint"),
    [
        ("https://kb.example/api?q={q}", "bearer", "https://kb.example/api?q={q}"),
        ("https://kb.example/api?key={token}&q={q}", "query:key", "https://kb.example/api?q={q}"),
        ("https://kb.example/api?q={q}&key={token}", "query:key", "https://kb.example/api?q={q}"),
    ],
)
def test_a_key_is_sent_where_the_row_says_and_stays_out_of_the_address(
    template: str, place: str, endpoint: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    row = _row(url_template=template, key_env="KB_KEY", auth="bearer")
    assert (row.access, row.key_env, row.key_place, row.endpoint) == ("key", "KB_KEY", place, endpoint)  # fmt: skip
    monkeypatch.setenv("KB_KEY", "hunter2")
    own = {**KB, "url_template": template, "key_env": "KB_KEY"}
    registry = Registry(load(sources=load().sources.model_dump() | {"custom": [own]}))
    (request,) = registry.source("mykb").adapter.build(SourceQuery(text="x"))
    assert (request.auth, request.auth_place) == ("KB_KEY", place)
    assert "hunter2" not in repr(request)


def test_everything_else_of_a_row_may_be_said_too() -> None:
    row = _row(name="KB", topics=["dev"], quality="A", force_include=False, static=True, url_template="https://kb.example/all.json")  # fmt: skip
    assert (row.topics, row.quality, row.force_include) == (("dev",), "A", False)
    assert row.params == {"static": "true"}


@pytest.mark.parametrize(
    "change",
    [
        {"url_template": "https://kb.example/api"},
        {"url_template": "https://{q}.example/api"},
        {"url_template": "https://kb.example/api?q={q}&x={secret}"},
        {"url_template": "https://kb.example/#q={q}"},
        {"url_template": "https://kb.example/知识?q={q}"},
        {"url_template": "file:///etc/passwd?{q}"},
        {"url_template": "https://kb.example/api?q={q}&key={token}", "key_env": ""},
        {"item_map": {"url": "link"}},
        {"item_map": {"url": "link", "title": "t", "price": "p"}},
        {"response": "html", "params": {"match": "("}},
        {"params": {"follow": "many"}},
        {"params": {"static": "perhaps"}},
        {"params": {"keep": "true"}},
        {"response": "yaml"},
        {"auth": "basic"},
        {"auth_header": "x"},
        {"quality": "Z"},
        {"endpoint": "https://other.example/?q={q}"},
    ],
)
def test_a_row_that_cannot_work_is_refused_by_number_not_by_value(change: dict[str, Any]) -> None:
    with pytest.raises(Invalid) as caught:
        _row(**change)
    assert caught.value.field == "sources.custom"
    assert caught.value.message.startswith("Source row 1 is not valid:")
    assert "example" not in caught.value.message
