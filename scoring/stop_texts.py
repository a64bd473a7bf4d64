"""The words of every stop reason, Chinese and English, in one table; and of what would have been done next.

The Chinese texts that the design document prescribes are given to the letter.
"""

from collections.abc import Sequence

from signal_search.contracts.result import StopReason

TEXTS: dict[StopReason, dict[str, str]] = {
    StopReason.BUDGET_NARROW: {
        "zh": "预算到达即停(缩范围模式)",
        "en": "The budget was reached; a narrow search ends there.",
    },
    StopReason.BUDGET_COVERAGE: {
        "zh": "预算截断，覆盖可能不完整",
        "en": "The budget cut the search; coverage may be incomplete.",
    },
    StopReason.DEADLINE: {
        "zh": "到达截止时间，覆盖可能不完整",
        "en": "The deadline came first; coverage may be incomplete.",
    },
    StopReason.AGREEMENT: {
        "zh": "所需数量的来源给出了同一答案",
        "en": "As many sources as this depth asks for state the answer.",
    },
    StopReason.CHECKLIST_CLOSED: {
        "zh": "覆盖饱和度达成(子问题全答/缺口闭合)",
        "en": "Every sub-question has evidence, or the gap is closed.",
    },
    StopReason.SATURATED: {
        "zh": "来源收敛，估计已近饱和(估计值，非完备证明)",
        "en": "Sources converge: by estimate, not proof, little is left unseen.",
    },
    StopReason.NOTHING_NEW: {
        "zh": "连续两轮无新信息",
        "en": "The last replies or the last round brought nothing new.",
    },
    StopReason.PLAN_COMPLETE: {
        "zh": "计划内的检索已全部完成",
        "en": "Every planned call was made.",
    },
    StopReason.NO_SOURCE_REACHED: {
        "zh": "所有来源均未能访问，结论待核实",
        "en": "No source could be reached.",
    },
    StopReason.NO_EVIDENCE: {
        "zh": "已检索，但未找到相关证据",
        "en": "Sources answered, but none had evidence on the question.",
    },
    StopReason.NO_SEARCH_NEEDED: {
        "zh": "证据足够，决定不检索",
        "en": "The evidence at hand suffices; no search was needed.",
    },
    StopReason.CANCELLED: {
        "zh": "任务已取消",
        "en": "The job was cancelled.",
    },
    StopReason.KEYWORD_QUEUE_EMPTY: {
        "zh": "所有关键词的续搜判断均已关闭(不代表答案完整)",
        "en": "Every keyword is closed; that says nothing about an answer.",
    },
    StopReason.NO_ACTION: {
        "zh": "没有可重审材料或未尝试的检索",
        "en": "Nothing is left to search or to review again.",
    },
    StopReason.BUDGET_ROUNDS: {
        "zh": "轮次用尽，仍有未关闭的关键词",
        "en": "The rounds are used up; keywords are still open.",
    },
    StopReason.BUDGET_CALLS: {
        "zh": "检索或判断调用额度用尽",
        "en": "The searches or the requests to the judge are used up.",
    },
    StopReason.BUDGET_TOKENS: {
        "zh": "判断的token额度用尽",
        "en": "The judge's tokens are used up.",
    },
    StopReason.JEV_UNAVAILABLE: {
        "zh": "判断服务失败，未审查的材料未发布",
        "en": "The judge failed; what it did not review is not shown.",
    },
    StopReason.NOT_CONFIGURED: {
        "zh": "未配置判断服务，没有发出任何请求",
        "en": "No judge is configured; nothing was asked.",
    },
    StopReason.NO_ENGINES: {
        "zh": "没有可用的检索来源",
        "en": "No source can be asked here.",
    },
}


def would_have(outstanding: int, unmade: int, open_ids: Sequence[str], language: str) -> str:
    """Say what would have been done next, from what was under way, not yet made, and not yet answered."""
    is_chinese = language == "zh"
    parts = [
        _count(
            outstanding, "等待 {} 个未返回的请求" if is_chinese else "wait for {} open requests"
        ),
        _count(unmade, "再发出 {} 个检索" if is_chinese else "make {} more calls"),
        _named(open_ids, "回答 {}" if is_chinese else "answer {}"),
    ]
    said = [each for each in parts if each]
    nothing = "计划内无后续步骤" if is_chinese else "nothing: the plan has no further step"
    return ("；" if is_chinese else "; ").join(said) or nothing


def _count(number: int, text: str) -> str:
    return text.format(number) if number else ""


def _named(names: Sequence[str], text: str) -> str:
    return text.format(", ".join(names)) if names else ""
