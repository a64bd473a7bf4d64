"""What the gateway shows of the sources: the registry as the workers see it, and each source's last outcome."""

from collections.abc import Iterable

import msgspec
from signal_search.contracts.query import MEMORY_SOURCE
from signal_search.contracts.result import SourceOutcome

from infra import keys
from infra.redis import store_errors
from workers.toolbox import Toolbox

_HEALTH_TTL_S = 86_400


def post_sources(tools: Toolbox) -> None:
    """Write the registry's rows for the gateway, which never imports the workers.

    Raises:
        StoreFailed: the store did not answer.
    """
    with store_errors():
        tools.redis.set(keys.sources(), msgspec.json.encode(tools.registry.views()))


def repost_sources(tools: Toolbox) -> None:
    """Write the rows again if they are gone, as after a restart of the store without its data.

    Raises:
        StoreFailed: the store did not answer.
    """
    with store_errors():
        is_there = tools.redis.exists(keys.sources())
    if not is_there:
        post_sources(tools)


def post_outcomes(tools: Toolbox, outcomes: Iterable[SourceOutcome]) -> None:
    """Write how each source did in the job that ended last, for a day; sites and feeds by address are left out.

    Research memory too: how it fares in one scope is nobody else's business.

    Raises:
        StoreFailed: the store did not answer.
    """
    with store_errors():
        for each in outcomes:
            if _is_shown(each):
                text = f"{each.state}: {each.reason}" if each.reason else each.state
                tools.redis.set(keys.source_health(each.source_id), text, ex=_HEALTH_TTL_S)


def _is_shown(outcome: SourceOutcome) -> bool:
    is_public = ":" not in outcome.source_id and outcome.source_id != MEMORY_SOURCE
    return is_public and outcome.state != "not_asked"
