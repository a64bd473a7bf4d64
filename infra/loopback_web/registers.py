"""The academic registers among the virtual hosts, each by the host name of the real one."""

from infra.loopback_web.datacite import DataCite
from infra.loopback_web.dblp import Dblp
from infra.loopback_web.doaj import Doaj
from infra.loopback_web.europepmc import EuropePmc
from infra.loopback_web.exchange import Host
from infra.loopback_web.openalex import OpenAlex
from infra.loopback_web.pubmed import PubMed
from infra.loopback_web.semanticscholar import SemanticScholar


def registers(*, enforce_pace: bool) -> dict[str, Host]:
    """Return the registers by host; `enforce_pace` makes them refuse what is faster than they publish."""
    return {
        "api.openalex.org": OpenAlex(enforce_pace=enforce_pace),
        "api.semanticscholar.org": SemanticScholar(enforce_pace=enforce_pace),
        "eutils.ncbi.nlm.nih.gov": PubMed(enforce_pace=enforce_pace),
        "www.ebi.ac.uk": EuropePmc(),  # publishes no rate
        "api.datacite.org": DataCite(enforce_pace=enforce_pace),
        "dblp.org": Dblp(enforce_pace=enforce_pace),
        "doaj.org": Doaj(enforce_pace=enforce_pace),
    }
