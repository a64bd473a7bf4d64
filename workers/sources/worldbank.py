"""World Bank Indicators API v2: values of an indicator by country and year, each as a sentence with its unit.

The API has no full-text search over values. Common indicators are known here by the words people use for them; any
other question searches the metadata of the World Development Indicators, and the best series found are asked for.
Countries come from the question, else it is the world.
"""

import re
from collections.abc import Iterator
from itertools import groupby
from urllib.parse import quote, unquote, urlsplit

from msgspec import Struct, field
from signal_search.contracts.document import Document
from signal_search.contracts.source import Parsed, Reply, Request, SourceQuery

from workers.adapter import DocumentFacts, SourceConfig, make_document
from workers.asking import address, call
from workers.countries import countries_in, without_countries
from workers.figures import statement, written
from workers.records import days_of, iso, left_out, read_json, readable, refuse, words_of

_INDICATORS = """
NY.GDP.PCAP.CD gdp per capita, per capita gdp, 人均gdp, 人均国内生产总值
NY.GDP.MKTP.KD.ZG gdp growth, economic growth, economy grow, gdp增长, gdp增速, 经济增长
NY.GDP.MKTP.CD gdp, gross domestic product, size of the economy, 国内生产总值, 经济总量
NY.GNP.PCAP.CD gni per capita, national income per capita, 人均国民收入
FP.CPI.TOTL.ZG inflation, consumer prices, cpi, 通货膨胀, 通胀, 消费者物价
SL.UEM.TOTL.ZS unemployment, unemployed, jobless, 失业
SP.POP.GROW population growth, 人口增长
SP.URB.TOTL.IN.ZS urban population, urbanization, urbanisation, 城镇化, 城市化
SP.POP.65UP.TO.ZS ageing population, aging population, 老龄化
SP.POP.TOTL population, inhabitants, how many people live, 人口
SP.DYN.LE00.IN life expectancy, 预期寿命
SP.DYN.TFRT.IN fertility rate, births per woman, 生育率
SP.DYN.IMRT.IN infant mortality, 婴儿死亡率
SI.POV.GINI gini, income inequality, 基尼系数
SI.POV.DDAY extreme poverty, poverty, 贫困
EN.GHG.CO2.PC.CE.AR5 co2 emissions per capita, carbon emissions per capita, 人均碳排放
EN.GHG.CO2.MT.CE.AR5 co2 emissions, carbon dioxide emissions, carbon emissions, 碳排放
EG.FEC.RNEW.ZS renewable energy, 可再生能源
EG.ELC.ACCS.ZS access to electricity, 通电率
NE.EXP.GNFS.ZS exports, 出口
NE.IMP.GNFS.ZS imports, 进口
GC.DOD.TOTL.GD.ZS government debt, public debt, 政府债务
BX.KLT.DINV.CD.WD foreign direct investment, 外商直接投资
GB.XPD.RSDV.GD.ZS research and development expenditure, r&d spending, 研发投入, 研发支出
SE.XPD.TOTL.GD.ZS education expenditure, education spending, 教育支出
SH.XPD.CHEX.GD.ZS health expenditure, health spending, 卫生支出
MS.MIL.XPND.GD.ZS military expenditure, military spending, defence spending, defense spending, 军费
IT.NET.USER.ZS internet users, 互联网普及率
AG.LND.FRST.ZS forest area, 森林覆盖率
SE.ADT.LITR.ZS literacy, 识字率
"""
_MOST_INDICATORS = 2
_YEARS = 6
_MAX_ROWS = 1000
_SEARCH = "/sources/2/search/"  # source 2: World Development Indicators
_CODE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{1,60}")


class _Name(Struct, frozen=True):
    id: str = ""
    value: str = ""


class _Row(Struct, frozen=True):
    indicator: _Name
    country: _Name
    date: str
    value: float | None = None
    iso3: str = field(name="countryiso3code", default="")


class _Page(Struct, frozen=True):
    total: int | None = None
    lastupdated: str | None = None
    message: list[object] | None = None


class _Meta(Struct, frozen=True):
    id: str = ""
    value: str = ""


class _Variable(Struct, frozen=True):
    id: str
    name: str = ""
    metatype: list[object] | None = None


class _Concept(Struct, frozen=True):
    id: str = ""
    variable: list[object] | None = None


class _Found(Struct, frozen=True):
    concept: list[object] | None = None


class _Search(Struct, frozen=True):
    source: list[object] | None = None
    total: int | str | None = None


class WorldBank:
    """Development indicators of countries: economy, people, health, energy."""

    name: str = "worldbank"
    pushes_down: frozenset[str] = frozenset({"freshness"})
    shared: bool = False

    def __init__(self, config: SourceConfig) -> None:
        """Remember the row."""
        self._config = config

    def build(self, ask: SourceQuery) -> tuple[Request, ...]:
        """Return one request per indicator the question names, else a search of the indicators' metadata.

        A freshness `A..B` becomes a range of years; without one the latest values that exist are asked for.
        """
        places = countries_in(ask.text)
        known = _named(f"{ask.text} {' '.join(ask.terms)}".lower())
        if known:
            return tuple(self._values(code, places, ask.freshness) for code in known)
        words = words_of(
            SourceQuery(text=without_countries(ask.text), terms=()), most=3
        ) or words_of(ask, most=3)
        term = quote(" ".join(words) or "development", safe="", errors="replace")
        kept = f"{';'.join(places)} {_years(ask.freshness)}"
        return (self._request(f"{_SEARCH}{term}", {"format": "json"}, words=kept),)

    def parse(self, request: Request, reply: Reply) -> Parsed:
        """Turn values into one document per country and indicator, and a metadata search into requests for values.

        Raises:
            BadReply: HTML, XML, truncated or wrong-shaped JSON, a message instead of values.
        """
        if _SEARCH in urlsplit(request.url).path:
            return self._series(request, read_json(reply, _Search))
        body = read_json(reply, list[object])
        pages = readable(body[:1], _Page)
        if not pages or pages[0].message is not None:
            refuse("an error with status 200" if pages else "JSON of another shape")
        items = body[1] if len(body) > 1 and isinstance(body[1], list) else []
        rows = [row for row in readable(items, _Row) if row.value is not None]
        rows.sort(key=lambda row: (row.indicator.id, row.country.value, _newest_first(row.date)))
        groups = groupby(rows, key=lambda row: (row.indicator.id, row.country.id))
        documents = tuple(
            self._document(list(group), reply, iso(pages[0].lastupdated)) for _key, group in groups
        )
        note = left_out(len(items), len(rows), "without a value")
        return Parsed(documents=documents, total=len(documents), note=note)

    def _values(self, code: str, places: tuple[str, ...], freshness: str | None) -> Request:
        return self._of_years(code, ";".join(places), _years(freshness))

    def _of_years(self, code: str, places: str, years: str) -> Request:
        when = {"date": years} if years else {"mrnev": str(_YEARS)}
        fields = {"format": "json", "per_page": str(_MAX_ROWS), **when}
        return self._request(f"/country/{places or 'WLD'}/indicator/{code}", fields)

    def _request(self, path: str, fields: dict[str, str], words: str = "") -> Request:
        """Return a request; words: the places and years that its follow-ups need."""
        place = f"{self._config.endpoint.rstrip('/')}{path}"
        url = address(self._config, place, fields, safe=":;")
        return call(self._config, self.name, url, words=words)

    def _series(self, request: Request, found: _Search) -> Parsed:
        words = unquote(urlsplit(request.url).path.rpartition("/")[2]).lower().split()
        places, _space, years = request.words.partition(" ")
        series = sorted(_variables(found), key=lambda each: _distance(each, words))
        requests = tuple(
            self._of_years(each.id, places, years) for each in series[:_MOST_INDICATORS]
        )
        return Parsed(requests=requests, total=len(series))

    def _document(self, rows: list[_Row], reply: Reply, updated: str) -> Document:
        first = rows[0]
        place = f"https://data.worldbank.org/indicator/{quote(first.indicator.id, safe='')}"
        return make_document(
            url=f"{place}?locations={quote(first.country.id, safe='', errors='replace')}",
            title=f"{first.indicator.value}, {first.country.value}",
            text="\n".join(_sentence(row) for row in rows),
            source_id=self._config.id,
            fetched_at_ms=reply.fetched_at_ms,
            facts=DocumentFacts(
                language="en",
                published=updated,
                date_kind="record" if updated else "none",
                container="World Development Indicators",
                publisher="World Bank",
                work_type="dataset",
                source_type=self._config.source_type,
            ),
        )


def _named(text: str) -> list[str]:
    """Return the indicators that a text names, longest names first, so that `GDP per capita` is not GDP."""
    found: dict[str, int] = {}
    for phrase, code in _phrases():
        pattern = re.escape(phrase)
        whole = rf"(?<![a-z0-9]){pattern}(?![a-z0-9])" if phrase.isascii() else pattern
        match = re.search(whole, text)
        if match:
            found.setdefault(code, match.start())
            text = re.sub(whole, lambda hit: " " * len(hit[0]), text)
    return sorted(found, key=lambda code: found[code])[:_MOST_INDICATORS]


def _phrases() -> list[tuple[str, str]]:
    rows = (row.partition(" ") for row in _INDICATORS.split("\n") if row)
    pairs = ((name.strip(), code) for code, _space, names in rows for name in names.split(","))
    return sorted(pairs, key=lambda pair: -len(pair[0]))


def _years(freshness: str | None) -> str:
    days = days_of(freshness)
    return f"{days[0][:4]}:{days[1][:4]}" if days else ""


def _variables(found: _Search) -> Iterator[_Variable]:
    for source in readable(found.source or (), _Found):
        for concept in readable(source.concept or (), _Concept):
            if concept.id == "Series":
                found_here = readable(concept.variable or (), _Variable)
                yield from (each for each in found_here if _CODE.fullmatch(each.id))


def _distance(series: _Variable, words: list[str]) -> tuple[int, int, str]:
    """Order by how many of the words the name lacks, then by length: the plain series before its breakdowns."""
    metas = readable(series.metatype or (), _Meta)
    name = next((each.value for each in metas if each.id == "IndicatorName"), series.name).lower()
    return sum(word not in name for word in words), len(name), series.id


def _newest_first(date: str) -> tuple[int, ...]:
    return tuple(-ord(sign) for sign in date)


def _sentence(row: _Row) -> str:
    value = written(0.0 if row.value is None else row.value)
    return statement(row.indicator.value, row.country.value, value, when=row.date)
