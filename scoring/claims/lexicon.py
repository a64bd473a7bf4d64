"""Words that change what a sentence claims, as data: negation, opposites, exclusives, debunking, modality.

Single Chinese characters stand in many words that do not carry their meaning (非洲, 未来), so those words are named and
taken out before counting.
"""

import re
from itertools import chain

from scoring.claims.roots import root

_NEGATIONS = """
    not no never none neither nor without cannot nobody nothing hardly barely false incorrect untrue myth hoax fake
    unable lack lacks lacking lacked failed fail fails deny denied denies refuse refused refuses reject rejected rejects
    isn't aren't
    wasn't weren't don't doesn't didn't won't wouldn't can't couldn't hasn't haven't hadn't shouldn't ain't unlikely
"""
NEGATIONS = frozenset(_NEGATIONS.split())
NEGATION_KEYS = frozenset(root(word.replace("'", "")) for word in NEGATIONS) | frozenset(
    "不没未无非沒無並并绝而"
)
CHINESE_NEGATION = re.compile(
    "不|没|未|无|并非|並非|绝非|而非|否认|禁止|拒绝|谣言|虚假|误传|假的|辟谣|沒|無|謠言"
)
CHINESE_NOT_NEGATION = re.compile(
    "非常|非洲|南非|北非|西非|东非|非凡|未来|未來|不仅|不僅|不但|不过|不過|不同|不断|不斷|不久|不少|不锈|不丹|无线|無線|无锡|無錫|"
    "无论|無論|不论|不管|无数|無數|是否|能否|差不多|除非|莫非|绯"
)

_ANTONYMS = """
    increase/decrease increase/reduce rise/fall rose/fell rising/falling higher/lower high/low more/less more/fewer
    most/least before/after first/last win/lose won/lost wins/loses born/died largest/smallest biggest/smallest
    longest/shortest north/south northern/southern east/west eastern/western male/female positive/negative
    safe/dangerous safe/unsafe safe/harmful effective/ineffective begin/end began/ended start/end started/ended
    early/late earlier/later older/younger oldest/youngest father/mother son/daughter brother/sister husband/wife
    accept/reject support/oppose allow/ban legal/illegal up/down above/below open/close major/minor warm/cool
    warming/cooling hot/cold gain/loss worse/better worsen/improve worst/best success/failure successful/unsuccessful
    guilty/innocent acquitted/convicted alive/dead always/never all/none same/different single/multiple import/export
    buy/sell hero/villain protect/harm prevent/cause public/private friend/enemy ally/enemy left/right many/few
    several/none ally/opponent comedy/tragedy fiction/nonfiction summer/winter morning/evening day/night young/old
    poor/rich negative/favorable negative/acclaim maximum/minimum possible/impossible approve/reject
    strong/weak strengthen/weaken true/false full/empty inside/outside permanent/temporary internal/external
"""
_CHINESE_ANTONYMS = """
    增加/减少 上升/下降 上涨/下跌 提高/降低 增长/下降 升高/降低 高于/低于 超过/不足 最大/最小 最高/最低
    最长/最短 第一/最后 赞成/反对 支持/反对 同意/拒绝 允许/禁止 合法/非法 开始/结束 成功/失败 进口/出口
    顺差/逆差 上调/下调 放宽/收紧 安全/危险 有效/无效 有益/有害 出生/去世 全部/部分 所有/部分 利好/利空
    儿子/女儿 父亲/母亲 丈夫/妻子 盈利/亏损 最早/最晚 之前/之后 以前/以后 东部/西部 南部/北部 东方/西方
    南方/北方 东北/西南 东南/西北 左侧/右侧 内部/外部 公开/秘密 多数/少数 上游/下游 扩大/缩小 加强/削弱
    哥哥/弟弟 姐姐/妹妹 男性/女性 男子/女子 白天/夜晚 冬季/夏季 购买/出售 加入/退出 直接/间接 强/弱 多/少 前/后
    东/西 南/北 男/女 真/假 胜/负 赢/输 涨/跌 买/卖 内/外 好/坏 大/小 快/慢 新/旧 冷/热 早/晚 左/右 父/母
"""


def _opposites(pairs: str) -> dict[str, frozenset[str]]:
    found: dict[str, set[str]] = {}
    for first, second in (pair.split("/") for pair in pairs.split()):
        found.setdefault(first, set()).add(second)
        found.setdefault(second, set()).add(first)
    return {word: frozenset(others) for word, others in found.items()}


ANTONYMS = _opposites(_ANTONYMS)
CHINESE_ANTONYMS = _opposites(_CHINESE_ANTONYMS)
OPPOSITE_ROOTS = {
    root(word): frozenset(root(each) for each in opposites) for word, opposites in ANTONYMS.items()
}

_EXCLUSIVES = """
    only all every always never exclusively entirely none first last largest smallest oldest youngest best worst sole
    solely any everyone nobody unanimously longest shortest highest lowest
"""
EXCLUSIVES = frozenset(_EXCLUSIVES.split())
CHINESE_EXCLUSIVES = re.compile(
    "唯一|全部|所有|从未|从不|首次|首个|第一|最[大小高低多少长早新好]|仅|只有|必须|一定|永远|任何"
)

DEBUNK = re.compile(
    r"\b(?:myths?|hoax|false(?:ly)?|untrue|debunk\w*|mislead\w*|rumou?rs?|misinformation|no evidence|not true|fake"
    r"|incorrect(?:ly)?|wrong(?:ly)?|inaccurate|disproved|refuted?|contrary to|misconception|unfounded|baseless)\b"
    "|谣言|辟谣|造谣|谣传|传言|流言|网传|不实|虚假|假的|假新闻|假消息|真相|误区|误解|误传|谎言|诈骗|山寨|冒充|伪造|并非|不是真"
    "|没有(?:科学)?(?:依据|证据|根据)|无(?:科学)?(?:依据|证据)|查无|子虚乌有|断章取义|错误|不准确|不严谨|没什么作用|事实[:：]",
    re.IGNORECASE,
)
MODALITY = re.compile(
    r"\b(?:may(?! \d)|might|could|would|should|plans? to|planned|expected to|if|whether|intends?|hopes?|aims?"
    r"|attempt\w*|tried|considering|propos\w+|alleg\w+|reportedly|claims?|claimed|suggest\w*|possibly|perhaps|likely)\b"
    "|可能|也许|或许|如果|假如|若|是否|计划|拟|预计|有望|希望|要通过|将要|打算|考虑|据称|据说|声称|号称|疑似|逐步改变",
    re.IGNORECASE,
)
QUESTION_END = re.compile("[?？][\"'”’」』)）]*\\s*$")

WEIGHTY = frozenset(chain(NEGATIONS, EXCLUSIVES, ANTONYMS))

# Characters that mean the same as the second half of a verb (创立, 创办) or are two spellings.
_ALIKE = tuple(
    frozenset(group)
    for group in ["建筑修兴造", "立办创", "行售", "做作", "坐座", "它牠", "于於", "与與"]
)


def is_alike(first: str, second: str) -> bool:
    """Return whether two Chinese characters stand for the same thing in a statement."""
    return any({first, second} <= group for group in _ALIKE)
