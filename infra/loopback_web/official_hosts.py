"""The hosts of the emulated official sources, by name."""

from infra.loopback_web.clinicaltrials import ClinicalTrials
from infra.loopback_web.courtlistener import CourtListener
from infra.loopback_web.dataeuropa import DataEuropa
from infra.loopback_web.edgar import Edgar
from infra.loopback_web.exchange import Host
from infra.loopback_web.federalregister import FederalRegister
from infra.loopback_web.gdelt import Gdelt
from infra.loopback_web.guardian import Guardian
from infra.loopback_web.openfda import OpenFda
from infra.loopback_web.who import Who
from infra.loopback_web.worldbank import WorldBank

OFFICIAL_HOSTS = (
    "api.worldbank.org",
    "efts.sec.gov",
    "www.sec.gov",
    "clinicaltrials.gov",
    "api.fda.gov",
    "www.courtlistener.com",
    "www.federalregister.gov",
    "data.europa.eu",
    "ghoapi.azureedge.net",
    "api.gdeltproject.org",
    "content.guardianapis.com",
)


def official_sites(*, enforce_pace: bool) -> dict[str, Host]:
    """Return the hosts of `OFFICIAL_HOSTS`; those of the SEC count requests together."""
    sec = Edgar(enforce_pace=enforce_pace)
    return {
        "api.worldbank.org": WorldBank(),
        "efts.sec.gov": sec,
        "www.sec.gov": sec,
        "clinicaltrials.gov": ClinicalTrials(enforce_pace=enforce_pace),
        "api.fda.gov": OpenFda(enforce_pace=enforce_pace),
        "www.courtlistener.com": CourtListener(enforce_pace=enforce_pace),
        "www.federalregister.gov": FederalRegister(),
        "data.europa.eu": DataEuropa(),
        "ghoapi.azureedge.net": Who(),
        "api.gdeltproject.org": Gdelt(enforce_pace=enforce_pace),
        "content.guardianapis.com": Guardian(enforce_pace=enforce_pace),
    }
