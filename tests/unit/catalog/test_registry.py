"""The registry: rows become sources, addresses become sources, and nothing else does."""

from typing import Any

import pytest
from signal_search.contracts.source import Reply, Request, SourceQuery
from signal_search.errors import BadReply, Broken, Invalid

from infra.catalog.catalog import shipped_rows
from infra.settings import Settings, load
from workers.registry import Registry
from workers.sources.arxiv import Arxiv

OWN = {
    "id": "handbook",
    "name": "Our handbook",
    "adapter": "site",
    "kind": "web",
    "endpoint": "https://docs.example/",
}


def _settings(**sources: Any) -> Settings:
    return load(sources=load().sources.model_dump() | sources)


def _registry(**sources: Any) -> Registry:
    return Registry(_settings(**sources))


def test_enabled_sources_come_in_the_order_of_the_settings_then_custom_ones() -> None:
    registry = _registry(enabled=["crossref", "wikipedia"], custom=[OWN])
    assert [source.row.id for source in registry.enabled()] == ["crossref", "wikipedia", "handbook"]


def test_a_source_that_is_not_enabled_can_still_be_asked_by_name() -> None:
    registry = _registry(enabled=[])
    assert registry.source("arxiv").adapter.name == "arxiv"
    assert registry.enabled() == []


@pytest.mark.parametrize(
    ("source_id", "adapter", "url", "kind"),
    [
        ("site:https://docs.example/a", "site", "https://docs.example/a", "page"),
        ("site:http://127.0.0.1:8000/#top", "site", "http://127.0.0.1:8000/", "page"),
        (
            "feed:https://news.example/feed.xml?x=1",
            "feed",
            "https://news.example/feed.xml?x=1",
            "feed",
        ),
    ],
)
def test_addresses_are_sources(source_id: str, adapter: str, url: str, kind: str) -> None:
    source = _registry().source(source_id)
    (request,) = source.adapter.build(SourceQuery(text="tea"))
    assert (source.row.id, source.adapter.name, source.adapter.shared) == (source_id, adapter, True)
    assert (request.url, request.kind, request.source_id) == (url, kind, source_id)


@pytest.mark.parametrize(
    "source_id",
    [
        "nowhere",
        "",
        "site",
        "feed",
        "site:",
        "site:docs.example",
        "site:ftp://docs.example/",
        "site:file:///etc/passwd",
        "site:javascript:alert(1)",
        "site:http://",
        "site:http:///path",
        "site:http://user:secret@docs.example/",
        "site:http://docs.example:99999/",
        "site:http://[::1/",
        "site:http://docs.example/a b",
        "site:http://docs.example/\n",
        "feed:http://docs.example/" + "x" * 2048,
        "wikipedia:https://docs.example/",
        "Site:https://docs.example/",
    ],
)
def test_anything_else_is_refused_and_not_repeated(source_id: str) -> None:
    with pytest.raises(Invalid) as caught:
        _registry().source(source_id)
    assert caught.value.field == "constraints.source_prefs.only"
    assert "secret" not in caught.value.message
    assert "docs.example" not in caught.value.message


@pytest.mark.parametrize(
    ("sources", "field"),
    [
        ({"enabled": ["wikipedia", "gone"]}, "sources.enabled"),
        ({"enabled": ["site"]}, "sources.enabled"),
        ({"custom": [OWN | {"adapter": "gopher"}]}, "sources.custom"),
        ({"custom": [OWN | {"kind": "ftp"}]}, "sources.custom"),
    ],
)
def test_wrong_settings_are_refused_at_once(sources: dict[str, Any], field: str) -> None:
    with pytest.raises(Invalid) as caught:
        _registry(**sources)
    assert caught.value.field == field


def test_a_source_without_its_key_is_shown_but_not_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("HANDBOOK_KEY", raising=False)
    registry = _registry(enabled=[], custom=[OWN | {"access": "key", "key_env": "HANDBOOK_KEY"}])
    view = next(view for view in registry.views() if view.id == "handbook")
    assert (view.enabled, view.key_present, registry.enabled()) == (False, False, [])
    with pytest.raises(Invalid):
        registry.source("handbook")
    monkeypatch.setenv("HANDBOOK_KEY", "x")
    view = next(view for view in registry.views() if view.id == "handbook")
    assert (view.enabled, view.key_present) == (True, True)
    assert registry.source("handbook").row.id == "handbook"


def test_views_show_every_row() -> None:
    views = {view.id: view for view in _registry(enabled=["arxiv"]).views()}
    assert set(views) == {row.id for row in shipped_rows()}
    assert {name for name, view in views.items() if view.enabled} == {"arxiv"}
    assert views["wikipedia"].languages == ("en", "zh")
    assert views["arxiv"].constraints == ("freshness",)
    assert views["arxiv"].key_present is None


def test_the_polite_address_and_the_site_limits_reach_the_adapters() -> None:
    registry = _registry(
        mailto="me@example.org", site=load().sources.site.model_dump() | {"max_links": 1}
    )
    (request,) = registry.source("crossref").adapter.build(SourceQuery(text="tea"))
    assert "mailto=me%40example.org" in request.url
    body = "<urlset><url><loc>/a</loc></url><url><loc>/b</loc></url></urlset>"
    sitemap = Request(
        url="https://docs.example/sitemap.xml",
        adapter="site",
        source_id="site:https://docs.example/",
        kind="sitemap",
    )
    assert len(registry.parse(sitemap, _reply(body)).links) == 1


def _reply(text: str) -> Reply:
    return Reply(
        url="https://docs.example/",
        status=200,
        content_type="",
        body=text.encode(),
        text=text,
        fetched_at_ms=1,
    )


def test_parse_goes_to_the_adapter_of_the_request() -> None:
    registry = _registry()
    request = Request(
        url="https://export.arxiv.org/api/query", adapter="arxiv", source_id="arxiv", kind="api"
    )
    with pytest.raises(BadReply, match="plain text instead of records"):
        registry.parse(request, _reply("Rate exceeded."))


def test_a_request_whose_adapter_is_not_its_source_s_is_our_bug() -> None:
    request = Request(url="https://x.example/", adapter="crossref", source_id="arxiv", kind="api")
    with pytest.raises(Broken):
        _registry().parse(request, _reply(""))


def test_adapters_are_found_by_name() -> None:
    assert _registry().adapter("arxiv") is Arxiv
    with pytest.raises(Broken):
        _registry().adapter("gopher")


def test_a_star_enables_whatever_can_be_asked_here(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("FRED_API_KEY", raising=False)
    enabled = {source.row.id for source in _registry(enabled=["*"]).enabled()}
    assert {"wikipedia", "arxiv", "dbnomics", "nbs"} <= enabled
    assert not {"google", "cnki", "fred", "site", "feed", "searxng"} & enabled
    monkeypatch.setenv("FRED_API_KEY", "x")
    assert "fred" in {source.row.id for source in _registry(enabled=["*"]).enabled()}


def test_where_only_loopback_may_be_asked_nothing_else_is_chosen() -> None:
    loopback = {"only": True, "hosts": {"en.wikipedia.org": "127.0.0.1:8601"}}
    registry = Registry(_settings(enabled=["*"]).model_copy(update={"loopback": load(loopback=loopback).loopback}))  # fmt: skip
    assert [source.row.id for source in registry.enabled()] == ["wikipedia"]


def test_a_closed_source_is_shown_with_what_covers_it_and_never_asked() -> None:
    registry = _registry(enabled=["*"])
    view = next(view for view in registry.views() if view.id == "cnki")
    assert (view.access, view.enabled, "openalex" in view.alternative) == ("closed", False, True)
    with pytest.raises(Invalid):
        registry.source("cnki")


def test_the_row_decides_whether_one_call_serves_all() -> None:
    own = {"id": "kb", "url_template": "https://kb.example/all.json", "static": True, "item_map": {"url": "u", "title": "t"}}  # fmt: skip
    registry = _registry(custom=[own])
    assert registry.is_shared("kb")
    assert not registry.is_shared("dbnomics")
    assert registry.is_shared("site:https://docs.example/")
