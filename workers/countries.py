"""Which countries a question names, by the codes that statistical APIs take. Pure.

Names in English and Chinese; short forms that are also common words (US, UK, EU) count in capitals alone.
"""

import re
from functools import lru_cache
from typing import Final

_MOST: Final = 4
# ISO 3166-1 alpha-3: names; codes of groups are the World Bank's.
_NAMES: Final = """
WLD world, worldwide, global, globally, 世界, 全球
EUU European Union, 欧盟
CHN China, 中国
USA United States, United States of America, America, 美国
GBR United Kingdom, Great Britain, Britain, 英国
IND India, 印度
JPN Japan, 日本
DEU Germany, 德国
FRA France, 法国
ITA Italy, 意大利
ESP Spain, 西班牙
PRT Portugal, 葡萄牙
NLD Netherlands, 荷兰
BEL Belgium, 比利时
LUX Luxembourg, 卢森堡
CHE Switzerland, 瑞士
AUT Austria, 奥地利
SWE Sweden, 瑞典
NOR Norway, 挪威
DNK Denmark, 丹麦
FIN Finland, 芬兰
ISL Iceland, 冰岛
IRL Ireland, 爱尔兰
POL Poland, 波兰
CZE Czechia, Czech Republic, 捷克
SVK Slovakia, 斯洛伐克
HUN Hungary, 匈牙利
ROU Romania, 罗马尼亚
BGR Bulgaria, 保加利亚
GRC Greece, 希腊
HRV Croatia, 克罗地亚
SRB Serbia, 塞尔维亚
UKR Ukraine, 乌克兰
RUS Russia, Russian Federation, 俄罗斯
TUR Turkey, Türkiye, Turkiye, 土耳其
KAZ Kazakhstan, 哈萨克斯坦
UZB Uzbekistan, 乌兹别克斯坦
CAN Canada, 加拿大
MEX Mexico, 墨西哥
BRA Brazil, 巴西
ARG Argentina, 阿根廷
CHL Chile, 智利
COL Colombia, 哥伦比亚
PER Peru, 秘鲁
VEN Venezuela, 委内瑞拉
CUB Cuba, 古巴
AUS Australia, 澳大利亚
NZL New Zealand, 新西兰
KOR South Korea, Korea, 韩国
PRK North Korea, 朝鲜
SGP Singapore, 新加坡
MYS Malaysia, 马来西亚
IDN Indonesia, 印度尼西亚, 印尼
THA Thailand, 泰国
VNM Vietnam, Viet Nam, 越南
PHL Philippines, 菲律宾
PAK Pakistan, 巴基斯坦
BGD Bangladesh, 孟加拉国
LKA Sri Lanka, 斯里兰卡
NPL Nepal, 尼泊尔
MMR Myanmar, 缅甸
KHM Cambodia, 柬埔寨
MNG Mongolia, 蒙古国
HKG Hong Kong, 香港
IRN Iran, 伊朗
IRQ Iraq, 伊拉克
ISR Israel, 以色列
SAU Saudi Arabia, 沙特阿拉伯, 沙特
ARE United Arab Emirates, 阿联酋
QAT Qatar, 卡塔尔
EGY Egypt, 埃及
MAR Morocco, 摩洛哥
DZA Algeria, 阿尔及利亚
NGA Nigeria, 尼日利亚
ETH Ethiopia, 埃塞俄比亚
KEN Kenya, 肯尼亚
TZA Tanzania, 坦桑尼亚
GHA Ghana, 加纳
RWA Rwanda, 卢旺达
ZAF South Africa, 南非
"""
_SHORT: Final = {"US": "USA", "U.S.": "USA", "UK": "GBR", "U.K.": "GBR", "EU": "EUU", "UAE": "ARE"}


@lru_cache(maxsize=1)
def _codes() -> dict[str, str]:
    rows = (row.partition(" ") for row in _NAMES.split("\n") if row)
    named = {name.strip(): code for code, _space, names in rows for name in names.split(",")}
    # A long name goes before a shorter one inside it: South Korea, Korea.
    return dict(sorted(named.items(), key=lambda each: -len(each[0])))


@lru_cache(maxsize=1)
def _pattern() -> re.Pattern[str]:
    names = [*_codes(), *sorted(_SHORT, key=len, reverse=True)]
    latin = "|".join(re.escape(name) for name in names if name[0].isascii())
    han = "|".join(re.escape(name) for name in names if not name[0].isascii())
    return re.compile(rf"(?i)(?<![A-Za-z0-9])(?:{latin})(?![A-Za-z0-9])|{han}")


def countries_in(text: str) -> tuple[str, ...]:
    """Return the codes of the countries and groups that a text names, in its order, four at most."""
    found = (_code(match[0]) for match in _pattern().finditer(text))
    return tuple(dict.fromkeys(code for code in found if code))[:_MOST]


def without_countries(text: str) -> str:
    """Return the text with a blank for each country: an index of indicators does not know them."""
    return _pattern().sub(lambda match: " " if _code(match[0]) else match[0], text)


def name_of(code: str) -> str:
    """Return the English name of a code, the code itself when it is not known here."""
    return next((name for name, known in _in_order() if known == code), code)


def _in_order() -> list[tuple[str, str]]:
    rows = (row.partition(" ") for row in _NAMES.split("\n") if row)
    return [(names.partition(",")[0].strip(), code) for code, _space, names in rows]


def _code(name: str) -> str:
    folded = {known.casefold(): code for known, code in _codes().items()}
    return _SHORT.get(name) or folded.get(name.casefold(), "")
