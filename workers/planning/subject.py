"""What a question is about, without the words that order or ask; and the question that looks for the other side."""

import re

from signal_search.contracts.plan import SubQuestion

from workers.planning.language import has_han

_CONTRARY = {"zh": "的局限 批评 失败 无效", "en": "criticism limitations failure problems"}
_ORDERS = re.compile(
    r"^(?:请问|请|帮我|麻烦|能否|能不能|一下|我想(?:知道|了解)|(?:做|写)(?:一)?个|为什么|为何|为啥"
    r"|(?:系统性?|深度|深入|全面|详细)?地?(?:调研|研究(?!生|所|院)|梳理|盘点|分析|对比|比较)(?:一下|下)?|[\s，,：:])+"
    r"|^(?:why (?:do|does|did|is|are) |what (?:does|do) |how (?:can|do|does|should) )"
    r"|^(?:please |can you |could you |help me |i (?:want|need) to (?:know|understand) )+"
    r"|^(?:(?:systematic(?:ally)?|in-depth|comprehensive|panoramic|thorough) )?(?:research|survey|study"
    r"|review|compare"
    r"|investigate|explore|analy[sz]e|look into)\b(?: (?:on|of|into|about))?(?: the)? ",
    re.IGNORECASE,
)
_ASKS = re.compile(
    r"(?:怎么选|如何选择?|怎样选择?|该怎么取舍|怎么取舍|的取舍|哪个(?:更)?(?:好|合适)|全景调研|深度研究"
    r"|全景|调研)?[\s，,。？?！!]*$"
    r"|(?::| -)? how (?:to|should we) choose\??$"
)


def subject_of(text: str) -> str:
    """Return the question without the words that order or ask: what remains is what it is about."""
    bare = text.strip()
    while _ORDERS.match(bare):
        bare = _ORDERS.sub("", bare, count=1)
    bare = _ASKS.sub("", bare, count=1).strip(" ，,：:。？?")
    return bare or text.strip()


def contrary_question(text: str, number: int) -> SubQuestion:
    """Return the sub-question that looks for the other side: criticism, limits, failure."""
    subject = subject_of(text)
    words = f"{subject}{_CONTRARY['zh']}" if has_han(text) else f"{subject} {_CONTRARY['en']}"
    return SubQuestion(id=f"q{number}", text=words, role="contrary", dimension="contrary")
