"""What a question is about, as weights by topic: which sources are worth asking beyond the general ones.

Chinese words are found anywhere, English ones as whole words only ("second" is not SEC); names that are also common
words (WHO, SEC) count in capitals alone.
"""

import re
from functools import cache

STRONG = 2.0
WEAK = 1.0

_TOOLS = (
    "python java rust golang typescript sql sqlite mysql postgresql redis docker kubernetes linux git github api sdk"
    " npm pypi programming database compiler open-source software framework library algorithm"
)

# topic: strong words; weak words; capitals. The topics are those of the catalogue's rows.
_WORDS: dict[str, tuple[str, str, str]] = {
    "academic": (
        "论文 文献 doi 预印本 arxiv 期刊 综述 学术 preprint isbn",
        "引用 研究 书评 paper papers article citation citations journal research scholar literature",
        "",
    ),
    "dev": (
        "html css javascript js web标准 rfc api规范 unicode tc39 mdn ecmascript",
        "规范 前端 后端 编程 代码规范 html5 css3 standard spec 数据库 开源 源码 框架 编译 软件 算法 "
        + _TOOLS,
        "",
    ),
    "finance": (
        "股价 股票 财报 主力 净流入 市值 市盈率 营收 净利润 上市公司 证券 10-k",
        "金融 基金 etf 年报 stock earnings revenue market_cap pe_ratio listed_company share_price buyback",
        "SEC",
    ),
    "macro": (
        "gdp 通胀 通货膨胀 cpi 宏观经济 经济增长 失业率 imf oecd gdp增长",
        "世界经济 经济 economy inflation unemployment 货币政策 monetary_policy",
        "",
    ),
    "health": (
        "疾病 临床 药物 疫苗 流行病学 cdc 临床试验 公卫 fda 药监 clinical_trial clinical_trials",
        "医疗 症状 治疗 药品 disease clinical drug vaccine epidemic health medicine healthcare patients",
        "WHO",
    ),
    "legal": (
        "法律 法规 法条 判例 法院 立法 合规 司法解释 法规数据库",
        "legal law statute case_law regulation court gdpr 监管 patent 专利",
        "",
    ),
    "gov": (
        "统计 人口 普查",
        "社融 开放数据 政府数据 statistics population census government dataset 欧盟数据 英国政府 美国政府",
        "",
    ),
    "climate": (
        "气候 气象 卫星 气温 碳排放 海洋 地质 nasa noaa",
        "地球科学 climate weather satellite carbon earth space usgs",
        "",
    ),
    "privacy": ("隐私", "匿名 privacy 独立索引", ""),
    "cn_official": (
        "国标 国家标准 国家法律法规",
        "中国企业 信用记录 中文文献 中文学术 科技文献 科学数据 国家药监 卫健委 自然科学基金 中科院",
        "",
    ),
    "corp": ("公司信用 企业信用", "工商 企业信息", ""),
    "security": ("cve 漏洞 vulnerability", "exploit ransomware 勒索 补丁 security_advisory", ""),
    "news": (
        "新闻 头条 breaking_news",
        "报道 快讯 突发 news headline headlines newspaper",
        "",
    ),
    "python": ("python cpython pip", "", ""),
    "packages": ("crates.io crate crates", "rust cargo", ""),
    "ai": (
        "大模型 大语言模型 llm llms",
        "rag 机器学习 深度学习 machine_learning deep_learning 人工智能",
        "",
    ),
}
SCHEME_TOPICS = {
    "doi": "academic",
    "arxiv": "academic",
    "isbn": "academic",
    "cve": "security",
    "rfc": "dev",
    "patent": "legal",
    "package": "dev",
}


@cache
def _matchers() -> tuple[tuple[str, re.Pattern[str], float], ...]:
    found: list[tuple[str, re.Pattern[str], float]] = []
    for topic, (strong, weak, capitals) in _WORDS.items():
        found.extend((topic, _word(each), STRONG) for each in strong.split())
        found.extend((topic, _word(each), WEAK) for each in weak.split())
        found.extend((topic, _word(each, re.NOFLAG), STRONG) for each in capitals.split())
    return tuple(found)


def _word(word: str, flags: re.RegexFlag = re.IGNORECASE) -> re.Pattern[str]:
    text = re.escape(word.replace("_", " "))
    return re.compile(rf"(?<![A-Za-z0-9]){text}(?![A-Za-z0-9])" if word.isascii() else text, flags)


def topics_of(text: str) -> dict[str, float]:
    """Return the weight of each topic a question names: the sum of its distinct words' weights."""
    found: dict[str, float] = {}
    for topic, pattern, weight in _matchers():
        if pattern.search(text):
            found[topic] = found.get(topic, 0.0) + weight
    return found
