"""What a search is for, read from its words: seven intents, Chinese and English (search guide, phase 1).

Of several signals the most telling one counts: resource, news, status, comparison, tutorial, factual, exploratory. One
exception: two things named against each other are a comparison even where something new is asked of them.
"""

import re
from functools import lru_cache

from msgspec import Struct
from signal_search.contracts.search_plan import SearchIntent

# Who writes documentation asks how, not where.
_NOT_WRITTEN = r"(?<!写)(?<!编写)(?<!生成)(?<!撰写)"
_SIDE = r"[^\s,，、?？]+(?: [^\s,，、?？]+){0,3}?"

_WORDINGS: dict[str, str] = {
    "resource": (
        rf"官网|官方(?:网站|文档|主页|仓库|下载)|{_NOT_WRITTEN}文档(?!数据库|生成|处理|解析|型|存储)|下载|源码(?:地址|仓库)|代码仓库|仓库地址"
        r"|\bofficial (?:web ?)?(?:site|page|docs?|documentation|repo(?:sitory)?|download)s?\b"
        r"|(?<!write )(?<!writing )(?<!generate )\b(?:documentation|docs)\b(?! generator| tool)"
        r"|\brepo(?:sitory)?\b(?! pattern)"
        r"|\bdownloads?(?: (?:link|page))?\s*$|^download\b(?! speed| manager)|\bhomepage\b"
        r"|\b(?:on|in) github\b|\bgithub (?:repo(?:sitory)?|page|link|url|project|source)\b"
        r"|github\s*(?:仓库|地址|链接|项目)"
    ),
    # "GitHub" is a place only where it stands last; GitHub Actions and GitHub Copilot are products.
    "place": r"\S\s+github\s*$",
    "news": (
        r"新闻(?!推荐|分类|聚合|稿|学)|(?:最近|近期|今天)发生了?什么|本周|这周|头条|快讯|今日(?:要闻|大事)"
        r"|(?<!hacker )\bnews\b(?! aggregat| feed| api)"
        r"|\bthis week\b|\blatest\b.{0,60}\bannouncements?\b|\bheadlines?\b|\bbreaking\b"
        r"|\bannounced (?:today|yesterday|this)\b"
    ),
    "status": (
        r"最新|现状|现在|目前|进展|近况|动态(?!规划|链接|语言|类型|代理|路由|数组|库|加载)|怎么?样了"
        r"|的状态(?!管理|机|码|栏|转移|模式|空间|变量)|最近(?!邻|点|公共)|近期|更新\s*$|更新日志"
        r"|\blatest\b|\bnewest\b|(?<!to )(?<!to the )(?<!\bi )\bupdates?\b(?! statement)|\bwhat(?:['’]s| is) new\b"
        r"|\bcurrent (?:status|state|version|situation|progress)\b|\bstatus of\b|\brecent(?:ly)?\b|\bchangelog\b"
    ),
    "comparison": (
        r"区别|对比|比较(?:一下)?|差异|差别|异同|哪个(?:更|好|比较)|优劣"
        r"|\bvs\.?(?![\w-])|\bversus\b|\bcompar(?:ed|ison|e|ing)\b|\bdifferences?\b|\bwhich is (?:better|faster)\b"
        r"|\bbetter than\b"
    ),
    "pair": (
        rf"\S\s*(?:\bvs\.?(?![\w-])|\bversus\b|\bcompared (?:to|with)\b)\s*\S"
        rf"|\b(?:differences?|comparison) between {_SIDE} and \S|\bcompare {_SIDE} (?:and|with|to) \S"
        r"|\S\s*(?:和|与|跟|同|、)\s*\S.{0,30}?(?:区别|对比|比较|差异|差别|异同|哪个)"
        r"|(?:对比|比较)\s*\S.{0,30}?(?:和|与|跟|、|/)\s*\S"
        r"|\S\s*还是\s*(?!不|没|无法|会|要|有|很|得)\S"
        r"|^(?:(?:should (?:i|we) (?:use|choose|learn)|which is better,?:?|is|use|choose) )?"
        rf"(?!(?:how|what|why|when|where|who|can|do|does) ){_SIDE},? or {_SIDE}\s*\??$"
    ),
    "tutorial": (
        r"怎么(?!样|看|回事|了)|如何(?!评价|看待)|怎样(?!了)|教程|入门|上手|指南|步骤|手把手|实战"
        r"|\bhow (?:to|do i|do you|do we|can i|can we|should i)\b|\btutorials?\b|\bguides?\b|\bgetting started\b"
        r"|\bstep[- ]by[- ]step\b|\blearn(?:ing)? to\b"
    ),
    "factual": (
        r"什么是|什么叫|是什么|是啥|的?定义|(?:什么|的)(?:意思|含义)|是谁|谁是"
        r"|\bwhat(?:['’]s| is| are| was| does)\b|\bdefine\b|\bdefinition\b|\bmeaning\b|\bwho (?:is|was)\b"
    ),
    "exploratory": (
        r"关于.+的一切|深入了解|生态|全景|\babout\b|\becosystem\b|\bdeep[- ]dive\b|\boverview of\b|\blandscape\b"
    ),
}
# ASCII, so that a Latin word ends where Chinese begins: 苹果vs安卓.
_PATTERNS = {
    name: re.compile(wording, re.IGNORECASE | re.ASCII) for name, wording in _WORDINGS.items()
}
_PRECEDENCE = (
    SearchIntent.RESOURCE,
    SearchIntent.NEWS,
    SearchIntent.STATUS,
    SearchIntent.COMPARISON,
    SearchIntent.TUTORIAL,
    SearchIntent.FACTUAL,
    SearchIntent.EXPLORATORY,
)


class SearchReading(Struct, frozen=True, kw_only=True):
    """The intent of a search, the words that decided, and whether something new is asked for besides."""

    intent: SearchIntent
    reason: str
    wants_new: bool = False


@lru_cache(maxsize=1024)
def classify(query: str) -> SearchReading:
    """Return the intent of a query; without any signal it is exploratory. Never asks, always the same."""
    text = " ".join(query.split())
    found = {
        name: match[0].strip() for name, each in _PATTERNS.items() if (match := each.search(text))
    }
    if "pair" in found:
        found.setdefault("comparison", found["pair"])
    if "place" in found and not found.keys() & {"comparison", "tutorial", "factual"}:
        found.setdefault("resource", "github")
    intent = _first(found)
    return SearchReading(
        intent=intent,
        reason=f"signal: {found[intent]}" if intent in found else "no signal",
        wants_new="status" in found,
    )


def _first(found: dict[str, str]) -> SearchIntent:
    named = next((each for each in _PRECEDENCE if each in found), SearchIntent.EXPLORATORY)
    is_pair = named == SearchIntent.STATUS and "pair" in found
    return SearchIntent.COMPARISON if is_pair else named
