"""Requirements that name what candidates do not have, and those that only look like it."""

import pytest

from scoring.generation.keywords import names_unsupported


@pytest.mark.parametrize(
    "text",
    [
        "only papers by the author Kitaev",
        "co-authors from two countries",
        "written by Preskill",
        "the Journal of Physics only",
        "from top venues",
        "conference papers first",
        "in the proceedings of ISCA",
        "from a university in Hefei",
        "authors' affiliations in Japan",
        "with a DOI",
        "sort by arXiv id",
        "no ISSN, no paper",
        "open access only",
        "Open-Access",
        "impact factor above 10",
        "h-index of at least 20",
        "ＤＯＩ",
        "op\u200ben access",
        "open\n   access",
        "只要某作者的论文",
        "只要 Nature 期刊的论文",
        "顶会论文优先",
        "清华大学",
        "机构为中科院",
        "会议论文",
        "有標識符的",
        "开放获取",
        "影响因子大于10",
        "影 响 因 子 大于10",
        "期刊影響因子",
        "DOI号",
    ],
)
def test_is_refused(text: str) -> None:
    assert names_unsupported(text)


@pytest.mark.parametrize(
    "text",
    [
        "lexical at least 0.6, by log1p of citations, unknown counts as 0",
        "只保留 lexical >= 0.6 的论文，按 log1p 引用数降序，缺失引用数按 0 处理",
        "只要2020年之后，最终分数直接使用系统已有的 lexical 特征，按分数降序排序，不加入引用数或其他加分项。",
        "authoritative and recent work first",  # no author in it
        "the journalist's choice is not mine",
        "venueless",
        "reported by at least two sources",
        "以年为单位衰减",
        "exclude unknown years",
        "doing well",
        "来源越多越好",
    ],
)
def test_is_left_to_the_model(text: str) -> None:
    assert not names_unsupported(text)
