"""How much standing the place of publication has: venue, DOI and rank of the domain, apart from its credibility.

A preprint on a university server is credible as a kind and still has passed no review: the two must differ.
"""

from collections.abc import Mapping

from signal_search.contracts.document import Document
from signal_search.contracts.score import Component

from scoring.credibility import UNLISTED, type_of
from scoring.identity import site_of

# Ours, uncalibrated: a published article in a named venue, a registered work without one, an unreviewed preprint.
IN_VENUE = 0.90
REGISTERED = 0.80
PREPRINT = 0.70
PRIMARY = 0.95

# Bodies that set, measure or publish the thing itself, and the first venues of their fields.
_PRIMARY = """
    who.int un.org europa.eu worldbank.org imf.org oecd.org nist.gov nih.gov cdc.gov nasa.gov noaa.gov usgs.gov sec.gov
    stats.gov.cn ietf.org rfc-editor.org w3.org iso.org unicode.org bipm.org cern.ch nature.com science.org nejm.org
    thelancet.com pnas.org
"""
_PRIMARY_SITES = frozenset(_PRIMARY.split())
_PREPRINT_SITES = frozenset(
    {"arxiv.org", "biorxiv.org", "medrxiv.org", "chemrxiv.org", "ssrn.com", "chinaxiv.org"}
)
_PREPRINT_TYPES = frozenset({"preprint", "posted-content", "eprint"})


def authority(document: Document, table: Mapping[str, float]) -> Component:
    """Return the authority (0..1) of a document's place of publication, and what it rests on.

    `table` holds the start value by source type; without any other sign that is the result.
    """
    kind = type_of(document)
    if _is_preprint(document):
        return Component(value=PREPRINT, reason="preprint, not peer reviewed")
    start = table.get(kind, UNLISTED)
    signs = [(start, f"class of {kind} publishers"), *_signs(document)]
    value, reason = max(signs, key=lambda each: each[0])
    return Component(value=value, reason=reason)


def _is_preprint(document: Document) -> bool:
    if document.container and document.doi:
        return False
    is_preprint_site = site_of(document.url) in _PREPRINT_SITES
    return document.work_type in _PREPRINT_TYPES or bool(document.arxiv_id) or is_preprint_site


def _signs(document: Document) -> list[tuple[float, str]]:
    found: list[tuple[float, str]] = []
    if site_of(document.url) in _PRIMARY_SITES:
        found.append((PRIMARY, "primary body or first venue of its field"))
    if document.container and document.doi:
        found.append((IN_VENUE, "article with DOI in a named venue"))
    elif document.doi:
        found.append((REGISTERED, "work with a registered DOI"))
    return found
