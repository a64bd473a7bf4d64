"""Statements as sentences in English and Chinese, for the properties and units that have a name here."""

import re

from workers.sources.wikidata.replies import TIME, Entity, Value, about, aliases, label, values

_AMOUNT = re.compile(r"[+-]?[0-9]{1,30}(?:\.[0-9]{1,30})?")
_MONTHS = "January February March April May June July August September October November December"


def _table(rows: str) -> dict[str, tuple[str, str]]:
    """Read `ID=english=chinese; ...`."""
    cells = (row.strip().split("=") for row in rows.split(";"))
    return {key: (english, chinese) for key, english, chinese in cells}


PROPERTIES = _table(
    "P31=type=性质; P17=country=国家; P36=capital=首都; P131=administrative region=所在行政区; "
    "P30=continent=所在大洲; P37=official language=官方语言; P27=citizenship=国籍; P19=place of birth=出生地; "
    "P20=place of death=逝世地; P106=occupation=职业; P50=author=作者; P57=director=导演; P112=founder=创办者; "
    "P159=headquarters=总部所在地; P169=chief executive officer=首席执行官; P176=manufacturer=制造商; "
    "P178=developer=开发者; P275=copyright licence=版权许可; P277=programming language=编程语言; P361=whole=所属整体; "
    "P527=part=组成部分; P569=date of birth=出生日期; P570=date of death=逝世日期; P571=date of foundation=成立日期; "
    "P576=date of dissolution=解散日期; P577=publication date=出版日期; P1619=date of opening=开放日期; "
    "P348=software version=软件版本; P1082=population=人口; P1083=capacity=容量; P2031=start of work=职业生涯开始; "
    "P2043=length=长度; P2044=elevation above sea level=海拔; P2046=area=面积; P2048=height=高度; "
    "P2049=width=宽度; P2067=mass=质量; P2109=installed capacity=装机容量; P2139=total revenue=总收入; "
    "P4511=vertical depth=深度"
)
_UNITS = _table(
    "Q11573=metres=米; Q828224=kilometres=千米; Q174728=centimetres=厘米; Q712226=square kilometres=平方千米; "
    "Q35852=hectares=公顷; Q11570=kilograms=千克; Q41803=grams=克; Q191118=tonnes=吨; Q11229=per cent=%; "
    "Q25267=degrees Celsius=摄氏度; Q577=years=年; Q25236=watts=瓦; Q6982035=megawatts=兆瓦; "
    "Q4917=US dollars=美元; Q4916=euros=欧元; Q39099=yuan renminbi=元人民币"
)


def description(entity: Entity, language: str) -> str:
    """Return what is stated about an item by itself, a sentence per line; nothing when it is only named."""
    name, chinese = label(entity), language == "zh"
    described, others = about(entity, language), aliases(entity)
    lines: list[str] = []
    if described:
        lines.append(f"{name}：{described}。" if chinese else f"{name}: {described}.")
    if others:
        names = ("、" if chinese else ", ").join(others)
        lines.append(f"{name}又称{names}。" if chinese else f"{name} is also known as {names}.")
    for prop in PROPERTIES:
        for value, as_of in values(entity, prop):
            said = _said(value, language)
            lines += [sentence(language, name, prop, said, as_of)] if said else []
    return "\n".join(lines)


def sentence(language: str, name: str, prop: str, value: str, as_of: str = "") -> str:
    """Return one statement as a sentence, Chinese for `zh`, else English. as_of: a year, "" for none."""
    english, chinese = PROPERTIES[prop]
    if language == "zh":
        when = f"（{as_of}年）" if as_of else ""
        return f"{name}的{chinese}是{value}{when}。"
    when = f" (as of {as_of})" if as_of else ""
    return f"The {english} of {name} is {value}{when}."


def _said(value: Value, language: str) -> str:
    if value.time:
        return _day(value, language)
    return _quantity(value, language) if value.amount else value.text


def _quantity(value: Value, language: str) -> str:
    """Return a figure with its unit; one whose unit has no name here says nothing."""
    unit = value.unit.rpartition("/")[2]
    if not _AMOUNT.fullmatch(value.amount) or (unit != "1" and unit not in _UNITS):
        return ""
    whole, dot, rest = value.amount.lstrip("+").partition(".")
    number = f"{int(whole):,}{dot}{rest}"
    english, chinese = _UNITS.get(unit, ("", ""))
    return f"{number}{chinese}" if language == "zh" else f"{number} {english}".strip()


def _day(value: Value, language: str) -> str:
    """Return a date as exactly as it is known (precision 9: year, 10: month, 11: day), else nothing."""
    found = TIME.match(value.time)
    if found is None or value.precision not in {9, 10, 11}:
        return ""
    year, month, day = found[2], int(found[3]), int(found[4])
    if value.precision == 9 or not 1 <= month <= 12:
        return _era(year, found[1], language)
    if language == "zh":
        return (
            _era(year, found[1], language)
            + f"{month}月"
            + (f"{day}日" if value.precision == 11 else "")
        )
    name = _MONTHS.split()[month - 1]
    words = f"{day} {name}" if value.precision == 11 else name
    return f"{words} {_era(year, found[1], language)}"


def _era(year: str, sign: str, language: str) -> str:
    if language == "zh":
        return f"{'公元前' if sign == '-' else ''}{year}年"
    return f"{year} BC" if sign == "-" else year
