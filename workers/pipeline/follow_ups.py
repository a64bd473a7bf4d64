"""What to fetch next, from what has come: redirects, an adapter's follow-ups, a site's most promising link.

Pure, and decided per call from that call's own replies, so that it does not matter which host was quicker.
"""

from collections.abc import Callable, Iterator, Sequence
from urllib.parse import urlsplit

from msgspec.structs import replace
from signal_search.contracts.plan import Plan
from signal_search.contracts.source import FetchState, Link, Request, SkipReason
from signal_search.contracts.trace import FetchFinished

from scoring.addresses import address_key
from scoring.identity import site_of
from scoring.links import hub_prior, rate_links
from workers.fetching.cache import origin_of
from workers.pipeline.reading import need_for
from workers.pipeline.rules import Rules
from workers.pipeline.state import CallView, FetchView, JobView, number_of
from workers.pipeline.wanted import Wanted

_TRIES = 3  # pages tried per page wanted: forbidden and missing ones cost a try
_BECOMES_GET = frozenset({301, 302, 303})
_REDIRECT = 0  # the number of a redirect below the fetch that was redirected
# The next page of the same host would be refused for the same reason.
_FOR_WHOLE_HOST = frozenset(
    {
        SkipReason.BUDGET,
        SkipReason.DEADLINE,
        SkipReason.QUEUE_FULL,
        SkipReason.QUOTA,
        SkipReason.SUSPENDED,
    }
)


def follow_ups(
    view: JobView, rules: Rules, *, is_dry: Callable[[CallView], bool] = lambda _: False
) -> list[Wanted]:
    """Return the fetches that the replies so far call for and that were not decided yet.

    `is_dry` says of a call that its site has been read enough; its links are not followed any further.
    """
    if view.plan is None:
        return []
    wanted: list[Wanted] = []
    for call in view.calls.values():
        own = list(_of_replies(call, rules))
        if not own and not call.is_open and _may_go_on(call, rules) and not is_dry(call):
            own.extend(_of_site(view.plan, call, rules))
        wanted.extend(own)
    return wanted


def _of_replies(call: CallView, rules: Rules) -> Iterator[Wanted]:
    for fetch in call.in_order():
        if fetch.finished is None or fetch.queued is None:
            continue
        for number, request in _named(fetch, fetch.finished, fetch.queued.request, rules):
            if number == _REDIRECT and _goes_in_a_circle(call, fetch, request):
                continue
            fetch_id = f"{fetch.fetch_id}.{number}"
            known = call.fetches.get(fetch_id)
            if known is None or known.lacks_request:
                yield Wanted(fetch_id=fetch_id, request=request, was_offered=known is not None)


def _named(
    fetch: FetchView, finished: FetchFinished, asked: Request, rules: Rules
) -> Iterator[tuple[int, Request]]:
    if finished.state == FetchState.REDIRECTED and finished.redirect_to:
        site = site_after(asked, finished.redirect_to)
        if _hops(fetch) < rules.max_redirects and site is not None:
            yield _REDIRECT, _redirected(asked, finished, site)
        return
    yield from enumerate(finished.requests[: rules.max_follow_ups], 1)


def _redirected(asked: Request, finished: FetchFinished, site: str) -> Request:
    """Return the next hop. Another origin gets no key and no headers made for the first; RFC 9110, 15.4 on POST."""
    hop = replace(asked, url=finished.redirect_to, site=site)
    if origin_of(asked.url) != origin_of(hop.url):
        hop = replace(hop, auth="", headers={}, meanings={})
    if finished.status in _BECOMES_GET and hop.method == "POST":
        hop = replace(hop, method="GET", body="", headers={})
    return hop


def site_after(asked: Request, url: str) -> str | None:
    """Return the bounds of a site crawl after a redirect; None when it leaves the site.

    Where a site's start page sends us within its own domain (to https, to www), the site is.
    """
    if not asked.site or _is_within(asked.site, url):
        return asked.site
    if asked.depth == 0 and site_of(asked.url) == site_of(url):
        address = urlsplit(url)
        return f"{address.scheme}://{address.netloc}/"
    return None


def leads_on(call: CallView, fetch: FetchView, rules: Rules) -> bool:
    """Say whether the redirect that a fetch ended in is followed in its turn: no circle, and not a hop too many."""
    if fetch.finished is None or fetch.queued is None:
        return False
    return any(
        number == _REDIRECT and not _goes_in_a_circle(call, fetch, request)
        for number, request in _named(fetch, fetch.finished, fetch.queued.request, rules)
    )


def redirect_of(fetch_id: str) -> str:
    """Return the id of the fetch that follows a redirect."""
    return f"{fetch_id}.{_REDIRECT}"


def _goes_in_a_circle(call: CallView, fetch: FetchView, hop: Request) -> bool:
    """Say whether a redirect leads to where its chain has been: we keep no cookies, so that the answer is the same."""
    fetch_id, been = fetch.fetch_id, set[tuple[str, str]]()
    while fetch_id in call.fetches:
        queued = call.fetches[fetch_id].queued
        if queued is not None:
            been.add((queued.request.method, queued.request.url))
        if not fetch_id.endswith(f".{_REDIRECT}"):
            break
        fetch_id = fetch_id.removesuffix(f".{_REDIRECT}")
    return (hop.method, hop.url) in been


def _hops(fetch: FetchView) -> int:
    hops = 0
    for part in reversed(fetch.fetch_id.rsplit("#", 1)[1].split(".")):
        if int(part) != _REDIRECT:
            break
        hops += 1
    return hops


def _may_go_on(call: CallView, rules: Rules) -> bool:
    """Say whether a call is a site's and within the limits of its crawl."""
    pages, refused = _pages(call), _refused(call)
    read = sum(each.has_arrived for each in pages)
    tries = len(pages) + len(refused)
    if not pages or read >= rules.site.max_pages or tries >= _TRIES * rules.site.max_pages:
        return False
    return all(each.reason not in _FOR_WHOLE_HOST for each in refused)


def _pages(call: CallView) -> list[FetchView]:
    return [each for each in _of_crawl(call) if each.queued and each.queued.request.kind == "page"]


def _of_crawl(call: CallView) -> list[FetchView]:
    return [each for each in call.in_order() if each.queued and each.queued.request.site]


def _refused(call: CallView) -> list[FetchFinished]:
    return [each.finished for each in call.in_order() if each.was_refused and each.finished]


def _of_site(plan: Plan, call: CallView, rules: Rules) -> Iterator[Wanted]:
    """Yield the most promising link of a site, if it has one that is worth a request."""
    refused = {_address(each.url) for each in _refused(call)}
    best = _best_link(plan, _of_crawl(call), refused, rules)
    if best is not None:
        link, depth, relevance = best
        last = _pages(call)[-1].queued
        if last is not None:
            fetch_id = f"{call.call.id}#{_next_number(call)}"
            yield Wanted(
                fetch_id=fetch_id,
                request=replace(last.request, url=link.url, depth=depth),
                relevance=relevance,
                was_offered=fetch_id in call.fetches,
            )


def _next_number(call: CallView) -> int:
    decided = (each for each in call.fetches.values() if not each.lacks_request)
    return 1 + max(number_of(each.fetch_id)[0] for each in decided)


def _best_link(
    plan: Plan, arrived: Sequence[FetchView], refused: set[str], rules: Rules
) -> tuple[Link, int, float] | None:
    links, depths = _candidates(arrived, refused, rules)
    if not links:
        return None
    ratings = _rate(plan, links)
    # Ties by depth, then address: the same links give the same choice whatever their order.
    order = sorted(range(len(links)), key=lambda at: (-ratings[at], depths[at], links[at].url))
    at = order[0]
    return links[at], depths[at], ratings[at]


def _rate(plan: Plan, links: Sequence[Link]) -> list[float]:
    """Return for each link its best relevance over the sub-questions, and what it is worth as a list of pages."""
    rated = [rate_links(need_for(each).variants, links) for each in plan.questions]
    best = [max(each) for each in zip(*rated, strict=True)]
    return [rating + hub_prior(link) for rating, link in zip(best, links, strict=True)]


def _candidates(
    arrived: Sequence[FetchView], refused: set[str], rules: Rules
) -> tuple[list[Link], list[int]]:
    seen = refused | {_address(each.queued.request.url) for each in arrived if each.queued}
    seen |= {_address(each.finished.redirect_to) for each in arrived if each.finished}
    best: dict[str, tuple[Link, int]] = {}
    for fetch in arrived:
        if fetch.finished is None or fetch.queued is None:
            continue
        asked = fetch.queued.request
        for link in fetch.finished.links:
            address = _address(link.url)
            if address in seen or not _is_within(asked.site, link.url):
                continue
            known = best.get(address)
            if asked.depth < rules.site.max_depth and (known is None or _says_more(link, known[0])):
                best[address] = (link, asked.depth + 1)
    return [link for link, _depth in best.values()], [depth for _link, depth in best.values()]


def _says_more(link: Link, known: Link) -> bool:
    return len(link.text) > len(known.text)


def _address(url: str) -> str:
    return address_key(url)


def _is_within(site: str, url: str) -> bool:
    """Return whether a URL lies on the site's host and under its path."""
    inside, address = urlsplit(site), urlsplit(url)
    same_host = (inside.scheme, inside.netloc) == (address.scheme, address.netloc)
    return same_host and (address.path or "/").startswith(inside.path or "/")
