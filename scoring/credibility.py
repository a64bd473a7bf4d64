"""How far a kind of publisher can be believed: the source type by its registered name, then the table of the rules.

Names are compared label by label from the right. A substring would make governance.org a government.
"""

from collections.abc import Mapping
from functools import lru_cache
from urllib.parse import urlsplit

from signal_search.contracts.document import Document, SourceType
from signal_search.contracts.score import Component

UNLISTED = 0.5

_HOSTS: dict[SourceType, str] = {
    "gov": (
        "people.com.cn people.cn news.cn europa.eu un.org who.int worldbank.org imf.org oecd.org wto.org"
        " iaea.org bis.org nhs.uk parliament.uk federalreserve.gov bundesbank.de canada.ca admin.ch"
    ),
    "academic": (
        "arxiv.org scholar.google.com xueshu.baidu.com cnki.net wanfangdata.com.cn cqvip.com"
        " ncbi.nlm.nih.gov nlm.nih.gov pubmed.ncbi.nlm.nih.gov europepmc.org doi.org crossref.org"
        " openalex.org semanticscholar.org researchgate.net ieee.org acm.org springer.com"
        " link.springer.com wiley.com sciencedirect.com elsevier.com nature.com science.org pnas.org"
        " cell.com biorxiv.org medrxiv.org chemrxiv.org chinaxiv.org ssrn.com jstor.org plos.org mdpi.com"
        " frontiersin.org tandfonline.com sagepub.com oup.com cambridge.org royalsocietypublishing.org"
        " aps.org acs.org rsc.org iop.org nejm.org thelancet.com bmj.com jamanetwork.com dblp.org"
        " aclanthology.org openreview.net neurips.cc mlr.press usenix.org cern.ch mpg.de cas.cn"
        " datacite.org doaj.org core.ac.uk"
    ),
    "media": (
        "xinhuanet.com 36kr.com sina.com.cn thepaper.cn caixin.com yicai.com cctv.com chinadaily.com.cn"
        " ifeng.com bbc.com bbc.co.uk reuters.com apnews.com afp.com nytimes.com washingtonpost.com"
        " theguardian.com ft.com economist.com wsj.com bloomberg.com npr.org aljazeera.com dw.com"
        " lemonde.fr spiegel.de elpais.com nikkei.com scmp.com cnn.com techcrunch.com arstechnica.com"
        " theverge.com wired.com infoq.com infoq.cn thenewstack.io"
    ),
    "vendor": (
        "microsoft.com google.com cloud.google.com aws.amazon.com apple.com oracle.com ibm.com redhat.com"
        " intel.com nvidia.com openai.com anthropic.com huggingface.co mongodb.com redis.io elastic.co"
        " docker.com hashicorp.com cloudflare.com aliyun.com tencent.com huawei.com mysql.com"
        " postgresql.org sqlite.org python.org rust-lang.org nodejs.org kubernetes.io go.dev php.net"
        " ruby-lang.org kotlinlang.org apache.org mozilla.org debian.org ubuntu.com kernel.org gnu.org"
        " nginx.org react.dev vuejs.org"
    ),
    "reference": (
        "wikipedia.org wikidata.org wiktionary.org wikimedia.org britannica.com merriam-webster.com"
        " oed.com plato.stanford.edu ietf.org rfc-editor.org w3.org iso.org iec.ch unicode.org tc39.es"
        " whatwg.org ecma-international.org developer.mozilla.org cve.org nist.gov openlibrary.org"
        " archive.org bipm.org iana.org"
    ),
    "forum": (
        "stackoverflow.com stackexchange.com serverfault.com superuser.com askubuntu.com mathoverflow.net"
        " reddit.com news.ycombinator.com lobste.rs tieba.baidu.com v2ex.com quora.com zhidao.baidu.com"
        " segmentfault.com discourse.org nga.cn discord.com groups.google.com"
    ),
    "selfmedia": (
        "weibo.com weibo.cn zhihu.com toutiao.com mp.weixin.qq.com xiaohongshu.com douyin.com"
        " bilibili.com jianshu.com csdn.net cnblogs.com juejin.cn sspai.com baijiahao.baidu.com medium.com"
        " substack.com blogspot.com wordpress.com tumblr.com twitter.com x.com facebook.com youtube.com"
        " tiktok.com instagram.com dev.to hackernoon.com baike.baidu.com telegram.org t.me"
    ),
}
_BY_HOST: dict[str, SourceType] = {
    host: kind for kind, hosts in _HOSTS.items() for host in hosts.split()
}
# Second-level labels under which states register their own and their universities' names.
_GOV_LABELS = frozenset({"gov", "gob", "gouv", "govt", "mil"})
_ACADEMIC_LABELS = frozenset({"edu", "ac"})
_GOV_SUFFIXES = frozenset({"go.jp", "go.kr", "go.id", "go.th", "gc.ca", "int"})


@lru_cache(maxsize=4096)
def source_type_of(url: str) -> SourceType:
    """Return the source type of an address by its host's labels; `unknown` when no table and no suffix says."""
    host = (urlsplit(url if "//" in url else f"//{url}").hostname or "").rstrip(".").lower()
    labels = host.split(".")
    for start in range(len(labels) - 1):
        kind = _BY_HOST.get(".".join(labels[start:]))
        if kind is not None:
            return kind
    return _by_suffix(labels)


def _by_suffix(labels: list[str]) -> SourceType:
    top, second = labels[-1], labels[-2] if len(labels) > 1 else ""
    label = second if len(top) == 2 else top
    if label in _GOV_LABELS or top in _GOV_SUFFIXES or f"{second}.{top}" in _GOV_SUFFIXES:
        return "gov"
    # `ac` is the universities' label below a country (ac.uk), not the domain of Ascension.
    return "academic" if label in _ACADEMIC_LABELS and len(labels) > 1 else "unknown"


def type_of(document: Document) -> SourceType:
    """Return the type that its source declared, else the type of its address."""
    return (
        source_type_of(document.url) if document.source_type == "unknown" else document.source_type
    )


def credibility(document: Document, table: Mapping[str, float]) -> Component:
    """Return the credibility of a document's source type; 0 for a retracted work; .5 for a type without a row."""
    if document.retracted:
        return Component(value=0.0, reason="retracted or withdrawn")
    kind = type_of(document)
    told = "declared by the source" if document.source_type != "unknown" else "by its domain"
    return Component(value=table.get(kind, UNLISTED), reason=f"source type {kind}, {told}")
