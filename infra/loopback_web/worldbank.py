"""api.worldbank.org: values of the Indicators API v2 and the search of its metadata.

Strict where the API is: errors are messages with status 200, and without `format=json` the answer is XML. It ignores
parameters it does not know; here the log notes them.
"""

import re
from urllib.parse import unquote

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.official import Series, official
from infra.loopback_web.search import terms

_KNOWN = {"format", "per_page", "page", "date", "mrv", "mrnev", "gapfill", "frequency", "source"}
_MAX_PER_PAGE = 32_500
_NAMES = {"ISL": ("IS", "Iceland"), "WLD": ("1W", "World"), "KEN": ("KE", "Kenya")}
_VALUES = re.compile(r"/v2/country/([A-Za-z0-9;]+)/indicator/([A-Za-z0-9.]+)")
_SEARCH = re.compile(r"/v2/sources/2/search/(.+)")


class WorldBank:
    """Indicators of countries. No pace is published."""

    def __init__(self) -> None:
        """Serve the series of the corpus."""
        self._series = {each.id: each for each in official().series}

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        if ask.fields.get("format") != "json":
            return exchange.text("<wb:data/>", kind="text/xml; charset=utf-8")
        values, search = _VALUES.fullmatch(ask.path), _SEARCH.fullmatch(unquote(ask.path))
        if values:
            return self._values(values[1].upper().split(";"), values[2], ask.fields)
        if search:
            return self._search(search[1], ask.fields)
        return _refusal("110", "Invalid format", "The requested address was not found")

    def _values(self, places: list[str], code: str, fields: dict[str, str]) -> Answer:
        series = self._series.get(code)
        unknown = [place for place in places if place not in _NAMES]
        if series is None or unknown or _is_wrong(fields):
            return _refusal("120", "Invalid value", "The provided parameter value is not valid")
        rows = [row for place in places for row in _rows(series, place, fields)]
        head = {
            "page": 1,
            "pages": 1,
            "per_page": int(fields.get("per_page", "50")),
            "total": len(rows),
            "sourceid": "2",
            "lastupdated": series.updated,
        }
        return exchange.json([head, rows], complaint=_unknown(fields))

    def _search(self, words: str, fields: dict[str, str]) -> Answer:
        wanted = set(terms(words))
        found = [each for each in self._series.values() if wanted <= set(terms(each.name))]
        variables = [
            {
                "id": each.id,
                "name": each.id,
                "metatype": [{"id": "IndicatorName", "value": each.name}],
            }
            for each in found
        ]
        concepts = [{"id": "Series", "name": "Series", "variable": variables}] if found else []
        source = {"id": "2", "name": "World Development Indicators", "concept": concepts}
        body = {"page": 1, "pages": 1, "per_page": "5000", "total": len(found), "source": [source]}
        return exchange.json(body, complaint=_unknown(fields))


def _rows(series: Series, place: str, fields: dict[str, str]) -> list[dict[str, object]]:
    values = series.values.get(place, {})
    years = sorted(values, reverse=True)
    if "mrnev" in fields:
        years = years[: int(fields["mrnev"])]
    if "date" in fields:
        first, _colon, last = fields["date"].partition(":")
        years = [str(year) for year in range(int(last or first), int(first) - 1, -1)]
    iso2, name = _NAMES[place]
    return [
        {
            "indicator": {"id": series.id, "value": series.name},
            "country": {"id": iso2, "value": name},
            "countryiso3code": place,
            "date": year,
            "value": values.get(year),
            "unit": "",
            "obs_status": "",
            "decimal": 0,
        }
        for year in years
    ]


def _is_wrong(fields: dict[str, str]) -> bool:
    size = fields.get("per_page", "50")
    return (
        not (size.isdecimal() and 0 < int(size) <= _MAX_PER_PAGE)
        or not re.fullmatch(r"[0-9]{4}(:[0-9]{4})?", fields.get("date", "2000"))
        or not re.fullmatch(r"[0-9]{1,4}", fields.get("mrnev", "1"))
    )


def _unknown(fields: dict[str, str]) -> str:
    return ", ".join(sorted(fields.keys() - _KNOWN))


def _refusal(number: str, key: str, sentence: str) -> Answer:
    message = {"id": number, "key": key, "value": sentence}
    return exchange.json([{"message": [message]}], complaint=sentence)
