"""The linguistic cues that tier and intent are read from: kinds of wording, Chinese and English side by side.

A cue names what a phrase does in any question (asks for a cause, orders a survey, asks a measure); no cue may
know a topic of one question, and there is no memory of whole queries.
"""

import re
from functools import lru_cache

_WORDINGS: dict[str, str] = {
    # An order to study something. 研究 inside 研究生, 研究所 or 研究系统 is another word.
    "study": (
        r"调研|梳理|调查一下|摸底|盘点|(?<!的)研究(?!生|所|院|员|者|型|组|室|系统|中心|人员|机构|方向)"
        r"|^(?:please |can you |could you |let'?s |help me )*(?:research|survey|study|investigate|explore|review)\b"
        r"|\b(?:do|conduct|carry out|need|want|run|write|give)\b.{0,30}\b(?:research|survey|study|review|overview)\b"
        r"|\b(?:research|survey|study|report|investigation)(?: (?:on|into|of))\b|\bdeep[- ]dive\b|\blook into\b"
    ),
    # Wording that orders breadth: this alone makes a question research.
    "breadth": (
        r"综述|全景|前沿|系统性|全方位|来龙去脉|怎么做一套"
        r"|(?:系统|深度|深入|全面|完整|详尽)[地的]?.{0,4}(?:调研|研究|分析|梳理|考察|盘点|摸底|报告|了解|调查)"
        r"|\b(?:systematic(?:ally)?|in[- ]depth|comprehensive(?:ly)?|panoramic|exhaustive|thorough(?:ly)?)\b"
        r"|\b(?:survey (?:of|on)|literature review|state of the art|state-of-the-art|frontiers?|cutting[- ]edge)\b"
        r"|\b(?:landscape|deep[- ]dive|full picture|panorama|overview of the field)\b"
    ),
    # A stretch of years, not one year.
    "span": (
        r"(?:近|过去|最近|这)[两三四五六七八九十几\d]+(?:个)?年|近年来|历年|多年来"
        r"|(?:19|20)\d\d\s*年?\s*(?:-|–|—|~|到|至|to|through|and)\s*(?:19|20)\d\d"
        r"|\b(?:last|past|recent)(?: (?:two|three|four|five|six|several|few|ten|\d+))? years\b|\bsince (?:19"
        r"|20)\d\d\b"
    ),
    # Nouns whose answer is a field, not a value.
    "open": (
        r"现状|进展|趋势|格局|生态|范式|流派|落地|分布|(?<![两二]条)路线|演进|版图|玩家|方法与|方案与|应用(?:与|和|及)"
        r"|\b(?:trends?|progress|paradigms?|ecosystem|developments?|adoption|approaches|state of|applications? and)\b"
        r"|\b(?:distribution of|deployments?|evolution|players|status quo)\b"
    ),
    "cause": (
        r"为什么|为何|为啥|何以|缘由|凭什么|怎么会|的?(?:根本|主要|深层)?原因|成因|怎么(?:就|老|总)"
        r"|意味(?:着|了)?(?:什么|啥)|(?:说明|反映|代表|释放)(?:了|出)?(?:什么|怎样|何种)(?!意思)"
        r"|(?:有|产生|带来|造成|会)?(?:什么|何|哪些|怎样的?|多大)(?:的)?(?:影响|后果|作用)|如何影响|怎样影响"
        r"|\bwhy\b|\bhow come\b|\bwhat (?:makes|causes?d?|leads?|drives?|explains?|is behind)\b|\breasons?\b"
        r"|\bwhat (?:does|do|would|can|could|might)\b.{3,90}\b(?:mean|imply|signal|indicate"
        r"|tell)s?\b.{0,9}\b(?:for|about|to|us|investors)\b"
        r"|\b(?:impact|effect|influence|consequence|implication)s?\b.{0,50}\bon\b|\bhow (?:does|do|did"
        r"|would)\b.{3,60}\b(?:affect|influence|impact)\b"
        r"|\b(?:cause|causes|root cause) of\b"
        r"|\bwhat (?:is|are|was)\b.{3,90}\b(?:sign|signal|indication|symptom)s? of\b"
    ),
    "choose": (
        r"(?:怎么|如何|怎样|咋|该|应该|应当)(?:选择|选型|挑选|取舍|抉择|权衡|决定|选(?=[\s，,。？?哪]|$))"
        r"|该(?:用|选|买|走)(?:哪|还是)|选哪"
        r"|(?:好|更好|合适|划算|该|应该).{0,12}还是|还是.{1,20}(?:好|更好|合适|划算)(?!吃)"
        r"|\bhow (?:to|do|should|can|would|does)\b.{0,30}\b(?:choose|decide|pick|select|weigh)\b"
        r"|\bwhich (?:one |option |approach )?(?:should|to (?:choose|pick|use))\b|\bshould (?:we|i|one|you"
        r"|a)\b.{3,80}\bor\b"
        r"|\bwhen to (?:use|choose|prefer)\b"
    ),
    "compare": (
        r"对比|相比|区别|差异|差别|异同|不同(?!意|步|寻常)|优劣|利弊|优缺点|孰优|(?<![a-z0-9])(?:vs\.?"
        r"|versus)(?![a-z])"
        r"|^比较|比较(?:一下|下)|(?:做|来|个)比较|的?比较\s*[？?。]?$|哪[个种款家](?:更|好|比较|最)|谁更"
        r"|更(?:好|快|强|适合|合适)"
        r"|\bcompar(?:e|es|ed|ing|ison)\b|\bdiffer(?:s|ent|ence|ences)?\b|\bdistinction\b|\bdistinguish(?:es|ed|ing)?\b"
        r"|\bcontrast\b|\b(?:stacks?|measures?) up (?:against|to)\b"
        r"|\bpros and cons\b|\btrade-?offs?\b|\badvantages and disadvantages\b"
        r"|\b(?:which|what)(?: \w+){0,4} (?:better|faster|cheaper|safer|stronger|more \w+|best)\b"
        r"|\bbetter (?:than|choice|fit)\b"
    ),
    "howto": (
        r"怎么|如何|怎样|咋|步骤|教程|搭建|(?:的|有什么)(?:方法|办法|做法|写法)|何种方式"
        r"|\bhow (?:do|to|can|should|would|might|could)\b|\bsteps? (?:to|for)\b|\btutorial\b|\bguide (?:to"
        r"|for)\b|\bways? (?:to|of|for)\b|: how\b"
    ),
    # An activity as a heading ("Reading a file in X") asks how it is done, where it names an operation and a tool.
    "doing": r"^[a-z]{3,}ing\b",
    # Managing something over time has no single right step.
    "manage": (
        r"控制|降低|压低|压(?:下|缩)|减少|节省|省.{0,8}(?:钱|费|成本|开支)|优化|提升|提高|改善|设计|规划"
        r"|管理|平衡|应对|治理|评估|规避|扩展"
        r"|\b(?:control|reduce|cut|lower|save|optimi[sz]e|improve|scale|design|manage|balance|evaluate|assess"
        r"|mitigate|keep|plan|limit|contain|curb|rein in|trim down)\b"
    ),
    "actor": (
        r"公司|团队|企业|初创|创业|机构|组织|学校|医院|政府|工厂|店|人(?:的)?(?:小|团|初|创)|部门"
        r"|\b(?:start-?ups?|teams?|compan(?:y|ies)|enterprises?|organi[sz]ations?|business(?:es)?|firms?"
        r"|hospitals?|schools?)\b"
    ),
    "fresh": (
        r"最新|今天|今日|今早|实时|近期|最近(?![两三四五六七八九十几\d]+个?年|[一上]次)|刚刚|本周|本月|昨天"
        r"|行情|热搜"
        r"|\b(?:latest|newest|today'?s?|right now|recent(?!ly published| years)|recently|breaking"
        r"|this (?:week|month)|up[- ]to[- ]date|real[- ]time|live)\b"
    ),
    "now": (
        r"目前|当前|当下|现在|眼下|现阶段|如今|现今|截至"
        r"|\b(?:current|currently|now|nowadays|at present|presently|these days|so far|as of|today'?s?)\b"
    ),
    # A moving record: which one is on top depends on the day.
    "top": (
        r"最[大多高长强快好贵小少低]|最(?:受欢迎|流行)|主流|领先|排名|榜|上限"
        r"|\b(?:largest|biggest|longest|highest|fastest|most|best|top|leading|mainstream|record|maximum"
        r"|strongest|tallest|smallest|cheapest|richest|heaviest|deepest|widest|youngest|oldest)\b"
    ),
    "verify": (
        r"是否(?:合规|合法|违法|违规|属实|正确|真实|可靠|可信|有依据|准确|成立|真的)|对不对|靠谱吗|可信吗"
        r"|属实吗|真假|真的(?:吗|假的)|是真的"
        r"|(?:^|请|帮我|帮忙|来)(?:验证|核实|查证|求证|核查)|辟谣|谣言|合(?:规|法)吗"
        r"|\bis it (?:really )?(?:true|correct|legal|right|compliant|safe to say)\b|\btrue (?:that"
        r"|or false)\b|\bfact[- ]?check\b|\bdebunk\b"
        r"|^(?:please |can you |help me )*(?:verify|confirm|check (?:if|whether|that))\b|\bis (?:this|that"
        r"|it)\b.{0,40}\b(?:legal|compliant|true|allowed|legit)\b|\bmyth\b"
    ),
    "date": (
        r"星期几|周几|礼拜几|几号|几月几|哪[一]?天|什么日子|农历|多少天"
        r"|\b(?:what|which) (?:day|date|weekday)\b|\bday of (?:the )?week\b|\bweekday\b|\b(?:falls?|fell"
        r"|land(?:s|ed)?) on\b|\bdays (?:between|until|from)\b"
    ),
    "measure": (
        r"海拔|多[高长重远深宽快大]|高度|沸点|熔点|光速|音速|密度|直径|半径|面积|原子序数|换算|等于(?:多少"
        r"|几)|多少(?:米|公里|厘米|克|度|秒|分钟|英尺|英里|字节)"
        r"|\bhow (?:high|tall|long|far|deep|heavy|wide|fast|big|large|hot|cold)\b|\b(?:elevation|altitude"
        r"|height|length|boiling point|melting point|speed of|density|diameter|radius|area) ?(?:of|above|is"
        r"|$)?"
        r"|\bconvert\b|\bhow many (?:\w+ )(?:are )?in (?:a|an|one|\d)\b|\batomic number\b"
    ),
    "number": (r"多少|几[个种条次]|是几" r"|\bhow (?:many|much)\b"),
    "define": (
        r"^什么(?:是|叫)|是什么(?:意思)?\s*[？?。]?$|是啥(?:意思)?\s*[？?。]?$|什么意思"
        r"|的?定义(?:是什么)?\s*[？?。]?$|怎么读\s*[？?]?$|的公式|公式是"
        r"|^(?:please )?define\b|\bdefinition of\b|\bmeaning of\b"
        r"|\bwhat does (?:the )?[\w-]+(?: [\w-]+)? mean\s*\??$|\bformula (?:of|for)\b"
        r"|^what(?: is|'s| are) (?:an? )?[\w+#./-]+(?: [\w+#./-]+){0,2}\s*\??$"
    ),
    "syntax": (
        r"语法|命令|快捷键|正则写法"
        r"|\bsyntax\b|\bcommands?\b|\bshortcuts?\b|\bone-liner\b"
    ),
    # A value that an office, a market or a firm sets or counts: one good source, with its date.
    "registered": (
        r"销量|销售|卖(?:了|出)|价格|售价|多少钱|税|起征|免征|费率|利率|汇率|门槛|人口|GDP|营收|收入|利润"
        r"|市值|产量|额度|标准|现行|工资|政策|市占|份额|股价|用户数"
        r"|\b(?:sales|sold|sell|price|cost|tax|thresholds?|rates?|population|gdp|revenue|income|profit"
        r"|market (?:cap|share)|output|wage|salary|users|allowance|exemption|limit)\b"
    ),
    "naming": (
        r"谁|哪位|全称|全名|缩写|发明(?:者|人)|创始人|作者|完整(?:的)?(?:英文|中文)?名"
        r"|\bwho(?:se|m)?\b|\bfull (?:name|form|title)\b|\bstands? for\b|\bshort for\b|\babbreviat\w+"
        r"|\bacronym\b|\binventor\b|\bcreator\b|\bfounder\b|\bexpand(?:ed)?\b"
    ),
    "weigh": (
        r"方案|风险|分析|评测|评估|测评|权衡|取舍|可行性|挑战|隐患|排名"
        r"|\brisks?\b|\bevaluat\w+|\banaly[sz]e\b|\banalysis\b|\bfeasib\w+|\bbenchmarks?\b|\bchallenges\b"
        r"|\branking\b|\bassess\w*"
    ),
    "operate": (
        r"读|写|打开|安装|卸载|装|删除|创建|新建|复制|重命名|移动|排序|合并|拆分|转换|转成|解析|格式化|打印"
        r"|遍历|查找|替换|撤销|回退|提交|切换|克隆|查看|获取|连接|导入|导出|退出|反转|去重|截取|拼接|声明"
        r"|注释|压缩|解压|四舍五入|转义"
        r"|\b(?:read|write|open|load|install|uninstall|delete|remove|create|copy|rename|move|sort|merge|split"
        r"|convert|parse|format|print|iterate|loop|find|replace|undo|revert|commit|switch|clone|list|get"
        r"|import|export|exit|quit|reverse|trim|concatenate|declare|comment|compress|extract|unzip|append"
        r"|cast|join|round|count|check|escape)(?:ing)?\b"
    ),
    "tool": (
        r"命令行|终端|正则|表格|脚本|代码里|数据库里"
        r"|(?<![a-z0-9])(?:python|java|javascript|typescript|rust|golang|go|c\+\+|c#|ruby|php|perl|kotlin"
        r"|swift|scala|haskell|lua|julia|matlab|bash|shell|zsh|powershell|sql|mysql|postgresql|postgres"
        r"|sqlite|redis|mongodb|git|github|docker|kubernetes|kubectl|linux|ubuntu|debian|windows|macos|vim"
        r"|emacs|vs ?code|excel|word|pandas|numpy|pytorch|tensorflow|node(?:\.?js)?|npm|pip|cargo|maven"
        r"|gradle|react|vue|django|flask|spring|html|css|json|yaml|csv|regex|latex|curl|ssh|nginx|terraform"
        r"|android|ios)(?![a-z0-9])"
    ),
}
_PATTERNS: dict[str, re.Pattern[str]] = {
    name: re.compile(wording, re.IGNORECASE) for name, wording in _WORDINGS.items()
}

# Two textbook notions told apart: each a plain term without a version, nothing asked beside the difference itself.
_TERM_ZH = r"(?:[A-Za-z][A-Za-z+#.-]{1,15}|[\u4e00-\u9fff]{2,4}?)"
_FILL_ZH = r"(?:之间|的|有|是|在|最|什么|何|哪些|哪里|核心|主要|根本|本质|基本|关键|上|到底|究竟|呢|吗|[\s，,])*"
_TERM_EN = r"(?:an? |the )?[a-z+#.-]{2,}(?: [a-z+#.-]{2,})?"
_ADVERB_EN = r"(?: (?:fundamentally|mainly|essentially))?"
_TEXTBOOK = re.compile(
    rf"(?:请问|简述|说说|一句话|讲讲)?\s*{_TERM_ZH}\s*(?:和|与|跟|同|、"
    rf"|vs\.?)\s*{_TERM_ZH}{_FILL_ZH}(?:区别|不同|差别|区分){_FILL_ZH}[？?。]?"
    rf"|.{{0,40}}\b(?:difference|differences|distinction|distinctions)\b (?:between|of) {_TERM_EN} (?:and"
    rf"|vs\.?) {_TERM_EN}\s*\??"
    rf"|(?:[^,]{{0,25}}, )?how (?:do|does|are|is) {_TERM_EN} (?:differ(?:ent)? from {_TERM_EN}"
    rf"|and {_TERM_EN}{_ADVERB_EN} differ(?:ent)?){_ADVERB_EN}\s*\??"
    rf"|what{_ADVERB_EN} distinguishes {_TERM_EN} from {_TERM_EN}\s*\??",
    re.IGNORECASE,
)
_LIST = re.compile(
    r"[^\s/、,，()（）]{2,30}(?:\s*[/、,，]\s*(?:and |以及|和)?[^\s/、,，()（）]{2,30}){2,}"
)


@lru_cache(maxsize=1024)
def cues_of(text: str) -> frozenset[str]:
    """Return the names of all cues in a question."""
    found = {name for name, pattern in _PATTERNS.items() if pattern.search(text)}
    if _TEXTBOOK.fullmatch(text.strip()):
        found.add("textbook")
    if _LIST.search(text):
        found.add("list")
    return frozenset(found)
