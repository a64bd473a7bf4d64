"""Query parameters and headers to values, or a refusal that names the parameter."""

from collections.abc import Mapping

from signal_search.contracts.job import JobState
from signal_search.errors import Invalid

_MAX_PAGE = 200
_DEFAULT_PAGE = 50
_CRAWL_PAGE = 100  # pages of a site in one answer
_MOST_SKIPPED = 999_999_999


def wait_s(params: Mapping[str, str], *, most: int) -> int:
    """Return `wait`: whole seconds from 0 to `most`, 0 when absent."""
    return _number(params, "wait", default=0, least=0, most=most)


def page_limit(params: Mapping[str, str]) -> int:
    """Return `limit`: 1 to 200, 50 when absent."""
    return _number(params, "limit", default=_DEFAULT_PAGE, least=1, most=_MAX_PAGE)


def job_state(params: Mapping[str, str]) -> JobState | None:
    """Return `state`, None when absent."""
    text = params.get("state")
    if text is None:
        return None
    try:
        return JobState(text)
    except ValueError:
        raise Invalid("This is not a state of a job.", field="state") from None


def crawl_page(params: Mapping[str, str]) -> tuple[int, int]:
    """Return `skip` and `limit` of a crawl's pages: from 0, and 1 to 100, 100 when absent."""
    skip = _number(params, "skip", default=0, least=0, most=_MOST_SKIPPED)
    return skip, _number(params, "limit", default=_CRAWL_PAGE, least=1, most=_CRAWL_PAGE)


def export_format(params: Mapping[str, str]) -> str:
    """Return `format`, which is required."""
    if "format" not in params:
        raise Invalid("This parameter is required.", field="format")
    return params["format"]


def _number(params: Mapping[str, str], name: str, *, default: int, least: int, most: int) -> int:
    text = params.get(name)
    if text is None:
        return default
    if text.isascii() and text.isdigit() and len(text) <= 9 and least <= int(text) <= most:
        return int(text)
    raise Invalid(f"A whole number from {least} to {most} is expected.", field=name)
