"""What a type cannot say about an adaptive search: its targets, or that a cursor stands alone."""

from datetime import date

from msgspec import UNSET
from signal_search.contracts.adaptive import AdaptiveRequest

from api_gateway.search_checks import check_sources
from scoring.screening.targets import check_page, targets_of

_ANY_DAY = date(
    2000, 1, 1
)  # which days are meant is the plan's to say; that they can be read does not depend on it


def check_adaptive(request: AdaptiveRequest) -> None:
    """Refuse an adaptive search that cannot mean anything.

    Raises:
        Invalid: `invalid_input`, with the first field at fault.
    """
    if request.cursor is not UNSET:
        check_page(request)
        return
    targets_of(request, _ANY_DAY)
    check_sources(request.sources)
