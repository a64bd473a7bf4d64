"""ghoapi.azureedge.net: the Global Health Observatory by OData.

Strict: an unknown option that starts with `$` and a filter that is not understood are 400 with an error object, an
unknown indicator is 404. Options without `$` are the caller's own and ignored (OData 4.01, URL Conventions, 5.2).
"""

import re

from infra.loopback_web import exchange
from infra.loopback_web.exchange import Answer, Ask
from infra.loopback_web.official import HealthRow, Indicator, official

_KNOWN = {"$filter", "$orderby", "$top", "$skip", "$select", "$count"}
_NAME_TEST = re.compile(r"contains\((?:tolower\(IndicatorName\)|IndicatorName),'((?:[^']|'')*)'\)")
_PLACE_TEST = re.compile(r"SpatialDim eq '([A-Z]{3,10})'")
_TIME_TEST = re.compile(r"TimeDim (ge|le) ([0-9]{4})")
_ORDER = re.compile(r"TimeDim( desc| asc)?")
_CONTEXT = "https://ghoapi.azureedge.net/api/$metadata#"


class Who:
    """Indicators and their values. No pace is published."""

    def __init__(self) -> None:
        """Serve the indicators of the corpus."""
        self._indicators = {each.code: each for each in official().indicator}

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.method not in {"GET", "HEAD"}:
            return exchange.method_not_allowed("GET", "HEAD")
        options = {name: value for name, value in ask.fields.items() if name.startswith("$")}
        if options.keys() - _KNOWN or not options.get("$top", "1").isdecimal():
            return _refusal("The query specified in the URI is not valid.")
        name = ask.path.removeprefix("/api/")
        if name == "Indicator":
            return self._names(options)
        indicator = self._indicators.get(name)
        if indicator is None:
            return exchange.text("", status=404)
        return _values(indicator, options)

    def _names(self, options: dict[str, str]) -> Answer:
        tests = options.get("$filter", "")
        words = [each.replace("''", "'").lower() for each in _NAME_TEST.findall(tests)]
        if _NAME_TEST.sub("", tests).replace(" and ", "").strip():
            return _refusal("Syntax error in filter.")
        found = [
            each
            for each in self._indicators.values()
            if all(word in each.name.lower() for word in words)
        ]
        rows = [
            {"IndicatorCode": each.code, "IndicatorName": each.name, "Language": "EN"}
            for each in found[: int(options.get("$top", "1000"))]
        ]
        return exchange.json({"@odata.context": f"{_CONTEXT}Indicator", "value": rows})


def _values(indicator: Indicator, options: dict[str, str]) -> Answer:
    tests = options.get("$filter", "")
    rest = _TIME_TEST.sub("", _PLACE_TEST.sub("", tests))
    if re.sub(r"[()\s]|\band\b|\bor\b", "", rest):
        return _refusal("Syntax error in filter.")
    places, times = _PLACE_TEST.findall(tests), _TIME_TEST.findall(tests)
    rows = [
        each
        for each in indicator.rows
        if (not places or each.place in places) and all(_in_time(each, *test) for test in times)
    ]
    order = _ORDER.fullmatch(options.get("$orderby", "TimeDim desc"))
    if order is None:
        return _refusal("Could not find a property to order by.")
    if "$orderby" in options:
        rows.sort(key=lambda each: each.year, reverse=order[1] == " desc")
    shown = [_row(indicator, each, n) for n, each in enumerate(rows, 1)]
    body = {"@odata.context": f"{_CONTEXT}{indicator.code}"}
    return exchange.json({**body, "value": shown[: int(options.get("$top", "1000"))]})


def _in_time(row: HealthRow, test: str, year: str) -> bool:
    return row.year >= int(year) if test == "ge" else row.year <= int(year)


def _row(indicator: Indicator, row: HealthRow, number: int) -> dict[str, object]:
    return {
        "Id": number,
        "IndicatorCode": indicator.code,
        "SpatialDimType": "COUNTRY" if row.place != "GLOBAL" else "GLOBAL",
        "SpatialDim": row.place,
        "ParentLocation": None,
        "TimeDimType": "YEAR",
        "TimeDim": row.year,
        "Dim1Type": "SEX",
        "Dim1": row.group,
        "Dim2": None,
        "Value": f"{row.value:.1f}",
        "NumericValue": row.value,
        "Low": row.low,
        "High": row.high,
        "Date": indicator.updated,
    }


def _refusal(message: str) -> Answer:
    body = {"error": {"code": "", "message": message}}
    return exchange.json(body, status=400, complaint=message)
