"""Pages of what an adaptive search found: read from the store, never searched for."""

from typing import TYPE_CHECKING

import msgspec
from msgspec import UNSET
from signal_search.contracts.adaptive import AdaptiveRequest
from signal_search.contracts.adaptive_result import AdaptiveResult
from signal_search.errors import Broken, Gone

from infra.result_sets import ResultSets
from infra.settings import Settings
from scoring.screening.pages import PAGE_SIZE, ResultSet, page_of, read_cursor

if TYPE_CHECKING:
    from redis import Redis

_SET = msgspec.json.Decoder(ResultSet)


def page_for(
    redis: "Redis", settings: Settings, tenant: str, request: AdaptiveRequest
) -> AdaptiveResult:
    """Return the page that a tenant's cursor names; reading keeps nothing longer.

    Raises:
        Invalid: `invalid_input`: this is no cursor, or it points behind the end.
        Gone: `result_expired`: the tenant has no such results, or not any more.
    """
    if request.cursor is UNSET:
        raise Broken
    place = read_cursor(request.cursor)
    raw = ResultSets(redis, most=settings.adaptive.page_sets).get(tenant, place.set_id)
    if raw is None:
        text = "These results have expired or never were; nothing was searched. Search again."
        raise Gone(text, field="cursor")
    size = PAGE_SIZE if request.page_size is UNSET else request.page_size
    return page_of(_SET.decode(raw), place.offset, size)
