"""When two web addresses name the same page: a key that forgets what only counts, tracks or resumes a visit.

Not for fetching: a page is fetched by its address as written (WHATWG form). http and https, with and without `www.`,
and a path with and without its last slash stay different, because servers do tell them apart. A DOI or arXiv address
becomes the id it carries (RFC 3986, 6.2.2 for percent-encoding; DOI Handbook 2.4: case does not matter).
"""

import re
from functools import lru_cache
from urllib.parse import unquote

import ada_url

_TRACKERS = re.compile(
    r"(?:utm_\w+|mtm_\w+|pk_(?:campaign|kwd|source|medium|content)|hsa_\w+|_hs(?:enc|mi)|vero_\w+|oly_\w+_id"
    r"|gclid|gclsrc|dclid|gbraid|wbraid|fbclid|msclkid|yclid|ysclid|twclid|ttclid|li_fat_id|igshid|igsh|mc_[ce]id"
    r"|_ga|_gl|_gac|srsltid|spm|scm|mkt_tok|wickedid|icid|s_cid|rb_clickid|__twitter_impression|_openstat)",
    re.IGNORECASE,
)
_SESSIONS = re.compile(r"(?:jsessionid|phpsessid|aspsessionid\w*|cfid|cftoken)", re.IGNORECASE)
_PATH_SESSION = re.compile(r";jsessionid=[^/?#;]*", re.IGNORECASE)
_ENCODED = re.compile(r"%([0-9A-Fa-f]{2})")
_PLAIN = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_DOI_HOSTS = frozenset({"doi.org", "dx.doi.org", "www.doi.org"})
_ARXIV_HOST = re.compile(r"(?:(?:www|export|browse)\.)?arxiv\.org|ar5iv(?:\.labs\.arxiv)?\.org")
_ARXIV_PATH = re.compile(
    r"/(?:abs|pdf|html|format|e-print)/((?:\d{4}\.\d{4,5})|(?:[a-z-]+(?:\.[a-z]{2})?/\d{7}))(?:v\d+)?(?:\.pdf)?/?",
    re.IGNORECASE,
)
_ARXIV_DOI = "10.48550/arxiv."


@lru_cache(maxsize=8192)
def address_key(url: str) -> str:
    """Return the key of a page: an address, `doi:...` or `arxiv:...`. Idempotent; nonsense is its own key."""
    try:
        parts = ada_url.URL(url)
    except ValueError:
        return url
    if parts.protocol not in {"http:", "https:"}:
        return url
    host = parts.hostname.rstrip(".")
    work = _work(host, parts.pathname)
    if work:
        return work
    port = f":{parts.port}" if parts.port else ""
    # Through the parser again: without its session id, `/..;jsessionid=1` climbs.
    parts.pathname = _PATH_SESSION.sub("", parts.pathname)
    path = _percent(parts.pathname)
    return f"{parts.protocol}//{host}{port}{path}{_query(parts.search)}{_fragment(parts.hash)}"


def _work(host: str, path: str) -> str:
    if host in _DOI_HOSTS:
        return doi_key(unquote(path[1:]))
    if _ARXIV_HOST.fullmatch(host) and (found := _ARXIV_PATH.fullmatch(path)):
        return f"arxiv:{found[1].lower()}"
    return ""


def doi_key(doi: str) -> str:
    """Return the key of a work by its bare DOI, empty if it is none. arXiv's own DOIs name what the arXiv id names."""
    name = doi.strip().rstrip(".").lower()
    if name.startswith(_ARXIV_DOI):
        return f"arxiv:{re.sub(r'v[0-9]+$', '', name.removeprefix(_ARXIV_DOI))}"
    return f"doi:{name}" if re.match(r"10\.\d{4,9}/\S", name) else ""


def _percent(text: str) -> str:
    """Decode what never needed encoding, spell the rest in upper case."""

    def spelled(found: "re.Match[str]") -> str:
        char = chr(int(found[1], 16))
        return char if char in _PLAIN else found[0].upper()

    return _ENCODED.sub(spelled, text)


def _query(search: str) -> str:
    """Keep the parameters that choose a page, by name; those of one name keep their order."""
    kept = [each for each in search[1:].split("&") if each and not _is_noise(each)]
    kept.sort(key=_name)
    return f"?{'&'.join(map(_percent, kept))}" if kept else ""


def _name(parameter: str) -> str:
    return _percent(parameter.partition("=")[0])


def _is_noise(parameter: str) -> bool:
    name = unquote(parameter.partition("=")[0])
    return bool(_TRACKERS.fullmatch(name) or _SESSIONS.fullmatch(name))


def _fragment(fragment: str) -> str:
    return fragment if fragment.startswith("#!") else ""
