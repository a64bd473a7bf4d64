"""Requirements that no program of the six features can express, found by their words before a model is asked.

Conservative on purpose: who is told so wrongly can say it in other words; who is not told would get a program that
silently leaves a wish out (scorer guide: authors, journals, meetings, institutions, identifiers, open access, impact).
"""

import re
import unicodedata
from typing import Final

_ENGLISH: Final = (
    r"(?:co-?)?author(?:s|ed|ship)?(?:'s?)?",
    r"written by",
    r"journals?",
    r"magazines?",
    r"periodicals?",
    r"publishers?",
    r"venues?",
    r"conferences?",
    r"proceedings",
    r"symposi(?:um|a|ums)",
    r"workshops?",
    r"institut(?:e|es|ion|ions|ional)",
    r"universit(?:y|ies)",
    r"affiliat(?:ion|ions|ed)",
    r"laborator(?:y|ies)",
    r"dois?",
    r"arxiv(?: ?ids?)?",
    r"pmids?",
    r"pmcids?",
    r"issns?",
    r"isbns?",
    r"orcids?",
    r"identifiers?",
    r"open[ -]?access",
    r"paywall(?:s|ed)?",
    r"impact[ -]?factors?",
    r"h-?index",
    r"jcr",
    r"quartiles?",
    r"peer[ -]?review(?:ed)?",
)
_CHINESE: Final = (
    *("作者", "署名", "撰写", "撰稿"),
    *("期刊", "杂志", "雜誌", "学报", "學報", "刊物", "顶刊", "頂刊", "出版社", "出版商"),
    *("会议", "會議", "顶会", "頂會", "研讨会", "研討會", "论文集", "論文集"),
    *("机构", "機構", "大学", "大學", "学院", "學院", "研究所", "院校", "高校", "实验室", "實驗室"),
    *("标识符", "標識符", "識別碼", "标识号"),
    *("开放获取", "開放獲取", "開放取用", "开放存取", "付费墙"),
    *("影响因子", "影響因子", "中科院分区", "期刊分区", "同行评审", "同行評審"),
)
_WORDS: Final = re.compile(rf"(?<![a-z0-9])(?:{'|'.join(_ENGLISH)})(?![a-z0-9])")
_SPACES: Final = re.compile(r"\s+")


def names_unsupported(requirements: str) -> bool:
    """Return whether requirements name, in Chinese or English, what candidates have no feature for."""
    text = _plain(requirements)
    together = _SPACES.sub("", text)
    return _WORDS.search(_SPACES.sub(" ", text)) is not None or any(
        each in together for each in _CHINESE
    )


def _plain(text: str) -> str:
    """Return the text in one width and case, without characters that do not show."""
    folded = unicodedata.normalize("NFKC", text).casefold()
    return "".join(each for each in folded if unicodedata.category(each) != "Cf")
