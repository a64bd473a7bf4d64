"""What to fetch next: hops, follow-ups and the best link of a site, each from its own call's replies."""

import itertools
from typing import Any

import pytest
from msgspec.structs import replace
from signal_search.contracts.plan import PlannedCall
from signal_search.contracts.source import Link
from signal_search.contracts.trace import Entry, FetchFinished

from infra.settings import load
from tests.fakes.builders import a_log, a_request, finished, queued, started
from workers.pipeline.follow_ups import follow_ups
from workers.pipeline.rules import Rules, SiteRules, snapshot
from workers.pipeline.state import fold
from workers.pipeline.wanted import Wanted

RULES = snapshot(load())
SITE = "https://example.org/"
CALL = "all.site1"
CALLS = (PlannedCall(id=CALL, source_id="site:x", question_id="*", shared=True),)
ABOUT = [
    Link(url=SITE + "contact", text="Contact us"),
    Link(url=SITE + "ansel", text="How high Mount Ansel is"),
    Link(url=SITE + "lakes", text="Lakes"),
]


def site_rules(**changes: Any) -> Rules:
    return replace(RULES, site=SiteRules(**{"max_pages": 5, "max_depth": 3, **changes}))


def page(number: int, url: str, *links: Link, depth: int = 0, **end: Any) -> list[Entry]:
    """A page of the site that was asked for and came."""
    fetch_id = f"{CALL}#{number}"
    return [
        queued(fetch_id, url, kind="page", site=SITE, depth=depth),
        finished(fetch_id, url=url, links=links, **end),
    ]


def of_site(*entries: Entry, rules: Rules | None = None) -> list[Wanted]:
    log = a_log(started(CALL, 1), *entries, calls=CALLS)
    return follow_ups(fold(log), rules or site_rules())


def named(wanted: list[Wanted]) -> list[tuple[str, str]]:
    return [(each.fetch_id, each.request.url) for each in wanted]


# --- redirects --------------------------------------------------------------------------------------------------------


def moved(fetch_id: str, to: str) -> FetchFinished:
    return finished(fetch_id, state="redirected", status=302, redirect_to=to)


def of_call(*entries: Entry, rules: Rules = RULES) -> list[Wanted]:
    return follow_ups(fold(a_log(started("q1.one", 1), *entries)), rules)


def test_a_redirect_is_a_request_like_the_one_that_was_redirected() -> None:
    asked = queued("q1.one#1", kind="page", accept_language="en", depth=2)
    [hop] = of_call(asked, moved("q1.one#1", "https://example.com/b"))
    assert hop.fetch_id == "q1.one#1.0"
    assert hop.request == replace(asked.request, url="https://example.com/b")


def test_a_redirect_is_followed_once() -> None:
    seen = [queued("q1.one#1"), moved("q1.one#1", SITE + "b"), queued("q1.one#1.0", SITE + "b")]
    assert of_call(*seen) == []


@pytest.mark.parametrize(("hops", "followed"), [(0, True), (1, True), (2, True), (3, False)])
def test_redirects_in_a_row_are_capped(hops: int, followed: bool) -> None:
    chain: list[Entry] = []
    for hop in range(hops + 1):
        fetch_id = "q1.one#1" + ".0" * hop
        chain += [queued(fetch_id, f"{SITE}{hop}"), moved(fetch_id, f"{SITE}{hop + 1}")]
    wanted = of_call(*chain, rules=replace(RULES, max_redirects=3))
    assert named(wanted) == ([("q1.one#1" + ".0" * (hops + 1), f"{SITE}{hops + 1}")] * followed)


@pytest.mark.parametrize(
    ("to", "method", "followed"),
    [("a", "GET", False), ("b", "GET", False), ("c", "GET", True), ("a", "POST", True)],
)
def test_no_redirect_is_followed_in_a_circle(to: str, method: str, followed: bool) -> None:
    """b was asked after a, and leads on; after a form was sent, its own address is another request."""
    chain = [
        queued("q1.one#1", SITE + "a", method=method),
        moved("q1.one#1", SITE + "b"),
        queued("q1.one#1.0", SITE + "b"),
        moved("q1.one#1.0", SITE + to),
    ]
    assert bool(of_call(*chain)) is followed


def test_a_follow_up_after_redirects_has_hops_of_its_own() -> None:
    chain = [
        queued("q1.one#1.0.0.0.1", SITE + "x"),
        moved("q1.one#1.0.0.0.1", SITE + "y"),
    ]
    wanted = of_call(*chain, rules=replace(RULES, max_redirects=1))
    assert named(wanted) == [("q1.one#1.0.0.0.1.0", SITE + "y")]


@pytest.mark.parametrize("to", ["https://example.org.evil.test/", "https://evil.test/"])
@pytest.mark.parametrize("depth", [0, 1])
def test_no_redirect_leads_out_of_a_site(to: str, depth: int) -> None:
    out = finished(f"{CALL}#1", state="redirected", status=302, redirect_to=to)
    asked = queued(f"{CALL}#1", SITE, kind="page", site=SITE, depth=depth)
    assert of_site(asked, out) == []


@pytest.mark.parametrize(
    ("to", "site"),
    [
        ("https://www.example.org/home", "https://www.example.org/"),
        ("http://example.org/", "http://example.org/"),
    ],
)
def test_a_sites_start_page_says_where_in_its_domain_the_site_is(to: str, site: str) -> None:
    moved = finished(f"{CALL}#1", state="redirected", status=301, redirect_to=to)
    [wanted] = of_site(queued(f"{CALL}#1", SITE, kind="page", site=SITE, depth=0), moved)
    assert (wanted.fetch_id, wanted.request.url, wanted.request.site) == (f"{CALL}#1.0", to, site)


def test_a_deeper_page_does_not_move_the_site() -> None:
    to = "https://www.example.org/home"
    moved = finished(f"{CALL}#1", state="redirected", status=301, redirect_to=to)
    assert of_site(queued(f"{CALL}#1", SITE, kind="page", site=SITE, depth=1), moved) == []


def test_a_redirect_within_a_site_is_followed() -> None:
    hop = finished(f"{CALL}#1", state="redirected", status=302, redirect_to=SITE + "home")
    wanted = of_site(queued(f"{CALL}#1", SITE, kind="page", site=SITE), hop)
    assert named(wanted) == [(f"{CALL}#1.0", SITE + "home")]


# --- an adapter's follow-ups ------------------------------------------------------------------------------------------


def test_an_adapters_follow_ups_are_numbered_from_one_and_capped() -> None:
    requests = tuple(a_request(url=f"{SITE}{n}") for n in range(9))
    wanted = of_call(queued("q1.one#1"), finished("q1.one#1", requests=requests))
    assert named(wanted) == [(f"q1.one#1.{n + 1}", f"{SITE}{n}") for n in range(5)]
    assert RULES.max_follow_ups == 5


def test_follow_ups_that_were_decided_are_not_decided_again() -> None:
    requests = (a_request(url=SITE + "1"), a_request(url=SITE + "2"))
    log = [
        queued("q1.one#1"),
        finished("q1.one#1", requests=requests),
        queued("q1.one#1.1", SITE + "1"),
    ]
    assert named(of_call(*log)) == [("q1.one#1.2", SITE + "2")]


def test_a_refused_follow_up_is_not_offered_again() -> None:
    requests = (a_request(url=SITE + "1"),)
    skipped = finished("q1.one#1.1", state="skipped", status=0, reason="budget", paid=False)
    log = [queued("q1.one#1"), finished("q1.one#1", requests=requests), skipped]
    assert of_call(*log) == []


def test_a_follow_up_that_was_fetched_but_whose_request_is_not_in_the_log_is_offered_again() -> (
    None
):
    """Its step died between the frontier and the log; without the request its own follow-ups would be lost."""
    requests = (a_request(url=SITE + "1"),)
    log = [
        queued("q1.one#1"),
        finished("q1.one#1", requests=requests),
        finished("q1.one#1.1", state="redirected", redirect_to=SITE + "2"),
    ]
    assert named(of_call(*log)) == [("q1.one#1.1", SITE + "1")]
    repaired = [*log, queued("q1.one#1.1", SITE + "1")]
    assert named(of_call(*repaired)) == [("q1.one#1.1.0", SITE + "2")]


def test_nothing_follows_without_a_plan() -> None:
    assert follow_ups(fold(a_log()[:1]), RULES) == []


# --- a site's links ---------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("links", list(itertools.permutations(ABOUT)))
def test_the_best_link_comes_first_whatever_the_order_of_links(links: tuple[Link, ...]) -> None:
    [wanted] = of_site(*page(1, SITE, *links))
    assert (wanted.fetch_id, wanted.request.url) == (f"{CALL}#2", SITE + "ansel")
    assert (wanted.request.depth, wanted.request.site, wanted.request.kind) == (1, SITE, "page")
    assert wanted.relevance > 0.5


@pytest.mark.parametrize("names", list(itertools.permutations(["b", "a", "c"])))
def test_links_that_promise_the_same_go_by_address(names: tuple[str, ...]) -> None:
    links = [Link(url=SITE + name, text="Page") for name in names]
    [wanted] = of_site(*page(1, SITE, *links))
    assert wanted.request.url == SITE + "a"


def test_one_page_of_a_site_is_asked_for_at_a_time() -> None:
    first = page(1, SITE, *ABOUT)
    assert of_site(*first, queued(f"{CALL}#2", SITE + "ansel", kind="page", site=SITE)) == []
    second = page(2, SITE + "ansel", depth=1)
    [third] = of_site(*first, *second)
    assert third.fetch_id == f"{CALL}#3"


def test_no_address_is_asked_twice() -> None:
    start = page(1, SITE, *ABOUT)
    again = [Link(url=SITE + "ansel#summit", text="Mount Ansel high"), Link(url=SITE, text="Home")]
    second = page(2, SITE + "ansel", *again, depth=1)
    third = page(3, SITE + "contact", *again, depth=1)
    fourth = page(4, SITE + "lakes", *again, depth=1)
    assert of_site(*start, *second, *third, *fourth) == []


def test_where_a_redirect_led_is_not_asked_again() -> None:
    start = page(1, SITE, Link(url=SITE + "old"), Link(url=SITE + "new"))
    hop = [
        queued(f"{CALL}#2", SITE + "old", kind="page", site=SITE, depth=1),
        finished(f"{CALL}#2", state="redirected", redirect_to=SITE + "new"),
        queued(f"{CALL}#2.0", SITE + "new", kind="page", site=SITE, depth=1),
        finished(f"{CALL}#2.0"),
    ]
    assert of_site(*start, *hop) == []


@pytest.mark.parametrize(
    "url",
    [
        "https://example.org.evil.test/ansel",
        "https://other.test/ansel",
        "http://example.org/ansel",
        "https://sub.example.org/ansel",
    ],
)
def test_links_outside_the_site_are_never_followed(url: str) -> None:
    assert of_site(*page(1, SITE, Link(url=url, text="Mount Ansel high"))) == []


@pytest.mark.parametrize(("depth", "followed"), [(0, True), (1, True), (2, False)])
def test_links_below_the_deepest_level_are_not_followed(depth: int, followed: bool) -> None:
    start = page(1, SITE, *ABOUT[:1], depth=depth)
    assert bool(of_site(*start, rules=site_rules(max_depth=2))) is followed


def test_no_more_pages_than_allowed_are_read() -> None:
    links = [Link(url=f"{SITE}{n}", text="Page") for n in range(9)]
    pages = [page(1, SITE, *links), page(2, SITE + "0", depth=1), page(3, SITE + "1", depth=1)]
    assert len(of_site(*pages[0], *pages[1], rules=site_rules(max_pages=3))) == 1
    assert of_site(*pages[0], *pages[1], *pages[2], rules=site_rules(max_pages=3)) == []


def test_three_tries_per_wanted_page_and_no_more() -> None:
    links = [Link(url=f"{SITE}{n}", text="Page") for n in range(9)]
    entries = page(1, SITE, *links)
    for number in range(2, 6):
        url = f"{SITE}{number - 2}"
        entries += page(number, url, depth=1, state="missed", status=404, reason="not_there")
    assert len(of_site(*entries, rules=site_rules(max_pages=2))) == 1
    entries += page(6, SITE + "4", depth=1, state="missed", status=404, reason="not_there")
    assert of_site(*entries, rules=site_rules(max_pages=2)) == []


@pytest.mark.parametrize("reason", ["suspended", "deadline", "queue_full", "budget"])
def test_a_host_whose_queue_said_no_is_not_offered_the_next_page(reason: str) -> None:
    """The answer would be the same for every page of the host, and each would ring the reducer again."""
    refused = finished(
        f"{CALL}#2", url=SITE + "ansel", state="skipped", status=0, reason=reason, paid=False
    )
    assert of_site(*page(1, SITE, *ABOUT), refused) == []


def test_a_link_that_may_not_be_asked_is_left_for_the_next_one() -> None:
    refused = finished(
        f"{CALL}#2", url=SITE + "ansel", state="skipped", status=0, reason="address", paid=False
    )
    [wanted] = of_site(*page(1, SITE, *ABOUT), refused)
    assert wanted.fetch_id == f"{CALL}#3"
    assert wanted.request.url in {SITE + "contact", SITE + "lakes"}


def test_a_page_that_came_without_its_request_in_the_log_is_offered_again_under_its_number() -> (
    None
):
    lost = finished(f"{CALL}#2", url=SITE + "ansel")
    [wanted] = of_site(*page(1, SITE, *ABOUT), lost)
    assert (wanted.fetch_id, wanted.request.url) == (f"{CALL}#2", SITE + "ansel")


def test_the_longest_words_on_a_link_count_when_it_is_met_twice() -> None:
    short = Link(url=SITE + "z", text="here")
    long = Link(url=SITE + "z", text="How high Mount Ansel is")
    other = Link(url=SITE + "a", text="Other")
    for links in ((short, other, long), (long, other, short)):
        [wanted] = of_site(*page(1, SITE, *links))
        assert wanted.request.url == SITE + "z"


def test_sites_do_not_wait_for_each_other() -> None:
    second = PlannedCall(id="all.site2", source_id="site:y", question_id="*", shared=True)
    other = "https://example.net/"
    log = a_log(
        started(CALL, 1),
        started("all.site2", 1),
        *page(1, SITE, *ABOUT),
        queued("all.site2#1", other, kind="page", site=other),
        finished("all.site2#1", url=other, links=(Link(url=other + "x", text="X"),)),
        calls=(*CALLS, second),
    )
    assert named(follow_ups(fold(log), site_rules())) == [
        (f"{CALL}#2", SITE + "ansel"),
        ("all.site2#2", other + "x"),
    ]


def test_sitemaps_and_pages_give_links_alike() -> None:
    request = a_request(url=SITE + "sitemap.xml", kind="sitemap", site=SITE)
    start = page(1, SITE, requests=(request,))
    [wanted] = of_site(*start)
    assert (wanted.fetch_id, wanted.request) == (f"{CALL}#1.1", request)
    sitemap = [
        queued(f"{CALL}#1.1", request.url, kind="sitemap", site=SITE),
        finished(f"{CALL}#1.1", url=request.url, links=tuple(ABOUT)),
    ]
    assert named(of_site(*start, *sitemap)) == [(f"{CALL}#2", SITE + "ansel")]
