"""data.europa.eu: the hub search over data sets.

Strict: unknown parameters, filters and sizes are 400 with a JSON body. No pace is published.
"""

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.official import Dataset, official
from infra.loopback_web.search import Index

_KNOWN = {"q", "filter", "limit", "page", "sort", "includes", "facets", "locale", "fields"}
_FILTERS = {"dataset", "catalogue", "dataservice"}
_SORTS = {"relevance+desc", "relevance+asc", "modified+desc", "issued+desc"}
_MIN_SHARE = 0.5


class DataEuropa:
    """The catalogue of open data."""

    def __init__(self) -> None:
        """Serve the records of the corpus."""
        self._datasets = official().dataset
        self._index = Index([(_all(each.title), _all(each.description)) for each in self._datasets])

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.path != "/api/hub/search/search":
            return exchange.json({"message": "Not Found"}, status=404)
        wrong = _wrong(ask.fields)
        if wrong:
            return exchange.json({"message": "Bad Request"}, status=400, complaint=wrong)
        ranked = self._index.rank(ask.fields.get("q", ""), share=_MIN_SHARE)
        size = int(ask.fields.get("limit", "10"))
        included = set(filter(None, ask.fields.get("includes", "").split(",")))
        results = [_record(self._datasets[number], included) for number in ranked[:size]]
        return exchange.json(
            {"result": {"index": "dataset", "count": len(ranked), "facets": [], "results": results}}
        )


def _all(texts: dict[str, str]) -> str:
    return " ".join(texts.values())


def _wrong(fields: dict[str, str]) -> str:
    for name in sorted(fields.keys() - _KNOWN):
        return name
    if fields.get("filter", "dataset") not in _FILTERS:
        return "filter"
    if fields.get("sort", "relevance+desc") not in _SORTS:
        return "sort"
    size, page = fields.get("limit", "10"), fields.get("page", "0")
    return "" if size.isdecimal() and int(size) <= 1000 and page.isdecimal() else "limit or page"


def _record(dataset: Dataset, included: set[str]) -> dict[str, object]:
    full: dict[str, object] = {
        "id": dataset.id,
        "title": dataset.title,
        "description": dataset.description,
        "publisher": {"type": "Organization", "name": dataset.publisher},
        "catalog": {"id": dataset.catalog.lower(), "title": {"en": dataset.catalog}},
        "country": {"id": "eu", "label": dataset.country},
        "issued": dataset.issued,
        "modified": dataset.modified,
        "distributions": [{"format": {"id": each, "label": each}} for each in dataset.formats],
    }
    heads = {name.partition(".")[0] for name in included}
    return {name: value for name, value in full.items() if not heads or name in heads}
