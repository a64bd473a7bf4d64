"""WHO Global Health Observatory by OData: indicators found by name, then their values by country and year as sentences.

A value row has the indicator's code and not its name, so the name goes along with the request for the rows, as the
places and years go along with the search.
"""

import re
from urllib.parse import quote, urlsplit

from msgspec import Struct
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.countries import countries_in, name_of, without_countries
from workers.figures import statement, written
from workers.records import days_of, iso, left_out, line, read_json, readable, refuse, words_of

_MOST_WORDS = 2
_MOST_INDICATORS = 2
_MOST_ROWS = 60
_LIST = "Indicator"
_CODE = re.compile(r"[A-Za-z][A-Za-z0-9_.-]{1,60}")
_WORLD = "GLOBAL"
_COMMON = frozenset({"latest", "year", "years", "number", "data", "statistics", "who", "average"})
_DIMENSIONS = {
    "SEX_BTSX": "both sexes",
    "SEX_MLE": "males",
    "SEX_FMLE": "females",
    "BTSX": "both sexes",
    "MLE": "males",
    "FMLE": "females",
    "RESIDENCEAREATYPE_TOTL": "urban and rural areas",
    "RESIDENCEAREATYPE_URB": "urban areas",
    "RESIDENCEAREATYPE_RUR": "rural areas",
}


class _Indicator(Struct, frozen=True, rename="pascal"):
    indicator_code: str
    indicator_name: str


class _Row(Struct, frozen=True, rename="pascal"):
    spatial_dim: str
    time_dim: int | str | None = None
    dim1: str | None = None
    dim2: str | None = None
    numeric_value: float | None = None
    value: str | None = None
    low: float | None = None
    high: float | None = None
    date: str | None = None


class _Body(Struct, frozen=True):
    value: list[object] | None = None
    error: object = None


class Who:
    """Health figures of the member states of the World Health Organization."""

    name: str = "who"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one search of indicator names that hold both of the first words.

        Countries in the question choose the rows asked for next, else it is the world. A freshness `A..B` becomes a
        range of years.
        """
        bare = SourceQuery(text=without_countries(ask.text), terms=_without(ask.terms))
        words = [each for each in words_of(bare, most=12) if _tells(each)]
        tests = [
            f"contains(tolower(IndicatorName),'{_quoted(word)}')" for word in words[:_MOST_WORDS]
        ]
        fields = {"$filter": " and ".join(tests)} if tests else {"$top": "20"}
        places, days = _places(ask.text), days_of(ask.freshness)
        kept = f"{days[0][:4]}:{days[1][:4]}" if days else ""
        return (self._request(_LIST, fields, words=f"{';'.join(places)} {kept} {' '.join(words)}"),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn indicators into requests for their values, and values into one document per place.

        Raises:
            BadReply: HTML, truncated or wrong-shaped JSON, an error with status 200.
        """
        body = read_json(reply, _Body)
        if body.error is not None:
            refuse("an error")
        if body.value is None:
            refuse("JSON of another shape")
        code = urlsplit(request.url).path.rpartition("/")[2]
        if code == _LIST:
            return self._follow(body.value, request)
        return self._values(body.value, code, request.words or code, request, reply)

    def _request(self, path: str, fields: dict[str, str], words: str) -> Request:
        place = f"{self._config.endpoint.rstrip('/')}/{path}"
        url = address(self._config, place, fields, safe="$(),';:", blank="%20")
        return call(self._config, self.name, url, words=words)

    def _follow(self, items: list[object], request: Request) -> Parsed:
        found = [
            each for each in readable(items, _Indicator) if _CODE.fullmatch(each.indicator_code)
        ]
        places, years, *words = (request.words or " ").split(" ")
        found.sort(key=lambda each: _distance(each, words))
        return Parsed(
            requests=tuple(
                self._rows(each, places or _WORLD, years) for each in found[:_MOST_INDICATORS]
            ),
            total=len(found),
            note=left_out(len(items), len(found)),
        )

    def _rows(self, indicator: _Indicator, places: str, years: str) -> Request:
        tests = " or ".join(f"SpatialDim eq '{each}'" for each in places.split(";"))
        if years:
            first, last = years.split(":")
            tests = f"({tests}) and TimeDim ge {first} and TimeDim le {last}"
        fields = {
            "$filter": tests,
            "$orderby": "TimeDim desc",
            "$top": str(_MOST_ROWS),
        }
        name = line(indicator.indicator_name)[:200]
        return self._request(indicator.indicator_code, fields, words=name)

    def _values(
        self, items: list[object], code: str, name: str, request: Request, reply: Reply
    ) -> Parsed:
        rows = [each for each in readable(items, _Row) if _number(each)]
        places = dict.fromkeys(each.spatial_dim for each in rows)
        documents = tuple(
            self._document(
                [each for each in rows if each.spatial_dim == place], code, name, request, reply
            )
            for place in places
        )
        return Parsed(
            documents=documents,
            total=len(documents),
            note=left_out(len(items), len(rows), "without a value"),
        )

    def _document(
        self, rows: list[_Row], code: str, name: str, request: Request, reply: Reply
    ) -> Document:
        place = rows[0].spatial_dim
        updated = max((iso(each.date) for each in rows), default="")
        test = quote(f"SpatialDim eq '{place}'", safe="'", errors="replace")
        place_url = request.url.partition("?")[0]
        return make_document(
            url=f"{place_url}?$filter={test}",
            title=f"{name}, {_place(place)}",
            text="\n".join(dict.fromkeys(_sentence(each, name) for each in rows)),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=updated,
                date_kind="record" if updated else "none",
                container="Global Health Observatory",
                publisher="World Health Organization",
                work_type="dataset",
                source_type=self._config.source_type,
                signals=(f"indicator={code}",),
            ),
        )


def _places(text: str) -> list[str]:
    """Return GHO's codes; it has no figures for the European Union."""
    named = (each for each in countries_in(text) if each != "EUU")
    return [_WORLD if each == "WLD" else each for each in named]


def _without(terms: tuple[str, ...]) -> tuple[str, ...]:
    return tuple(filter(None, (without_countries(term).strip() for term in terms)))


def _tells(word: str) -> bool:
    return word.lower() not in _COMMON and not word.isdecimal() and len(word) > 1


def _stem(word: str) -> str:
    """Return a word without its plural ending, so that it is contained in both forms."""
    plain = word.lower()
    return plain[:-1] if len(plain) > 4 and plain.endswith("s") and plain[-2] != "s" else plain


def _distance(indicator: _Indicator, words: list[str]) -> tuple[int, int, str]:
    """Order by how many of the words the name lacks, then by length: the plain indicator before its breakdowns."""
    name = indicator.indicator_name.lower()
    return sum(_stem(word) not in name for word in words), len(name), indicator.indicator_code


def _quoted(word: str) -> str:
    return _stem(word).replace("'", "''")  # OData 4.01, URL Conventions, 5.1.1.14.1


def _number(row: _Row) -> str:
    return written(row.numeric_value) if row.numeric_value is not None else line(row.value)


def _place(code: str) -> str:
    return "the world" if code == _WORLD else name_of(code)


def _group(row: _Row) -> str:
    named = (
        _DIMENSIONS.get(each, each.partition("_")[2] or each)
        for each in (row.dim1, row.dim2)
        if each
    )
    return ", ".join(each.replace("_", " ") for each in named)


def _sentence(row: _Row, name: str) -> str:
    value = _number(row)
    if row.low is not None and row.high is not None:
        value += f" (between {written(row.low)} and {written(row.high)})"
    when = "" if row.time_dim is None else str(row.time_dim)
    return statement(name, _place(row.spatial_dim), value, when=when, group=_group(row))
