"""The simulation on a crawl small enough to be worked out by hand, and its judges on records that are wrong."""

import asyncio

import pytest
from signal_search.contracts.budget import Dimension

from bench.simulation import judge
from bench.simulation.crawl import Crawl, crawl
from bench.simulation.fairness import fair_shares, jain
from bench.simulation.record import Account, Record, Refusal, Send
from bench.simulation.scenario import Host, Job, Page, Scenario, Size, draw
from bench.simulation.timeline import START_MS

A = [Page(f"a/{number}", "a", service_ms=1000, tokens=500) for number in range(5)]
B = Page("b/0", "b", service_ms=2000, tokens=500)


@pytest.fixture(scope="module")
def tiny() -> Crawl:
    """Two hosts and three jobs.

    At 0 the first job asks a for three pages and b for one. Both hosts are claimed at once and asked 5 ms later; b for
    its robots.txt. Then each rests 14,002 ms from the end of every exchange:

        a: 5-1005, 15012-16012, 30024-31024        b: 5-505 (robots.txt), 14512-16512

    (The idle worker looks every second and had just done so at 16,007; a trip takes 10 ms, so that the frontier learns
    at 16,017 of what ended at 16,012.)

    At 2,000 the second job wants a/0 (cached), a/1 (joins, and does not pay) and b/0, for which its limit of one fetch
    is held by a/1. At 3,000 the third one wants two more pages of a by 23,000. a/3 stands beside a/1, where each job
    has its second turn, and might come at 15,007: it is taken, but a/1 goes first, and the job expires. a/4 stands
    behind both, two rests after 15,007: late.
    """
    jobs = (
        Job("j0", (A[0], A[1], A[2], B)),
        Job("j1", (A[0], A[1], B), at_ms=2000, limits={Dimension.FETCHES: 1}),
        Job("j2", (A[3], A[4]), at_ms=3000, life_ms=20_000),
    )
    hosts = {"a": Host("a", has_robots=False), "b": Host("b", robots_ms=500)}
    return asyncio.run(crawl(Scenario(hosts, jobs, workers=1, concurrency=4)))


def test_requests_go_out_when_they_were_worked_out_to(tiny: Crawl) -> None:
    sent = {
        name: [(each.begin_ms - START_MS, each.end_ms - START_MS) for each in log.sends]
        for name, log in tiny.record.hosts.items()
    }
    assert sent == {
        "a": [(5, 1005), (15_012, 16_012), (30_024, 31_024)],
        "b": [(5, 505), (14_512, 16_512)],
    }


def test_every_request_comes_to_its_end(tiny: Crawl) -> None:
    assert tiny.record.state == {
        "j0|0": "fetched",
        "j0|1": "fetched",
        "j0|2": "fetched",
        "j0|3": "fetched",
        "j1|0": "cached",
        "j1|1": "fetched",
        "j1|2": "budget",
        "j2|0": "expired",
        "j2|1": "late",
    }
    found = judge.requests(tiny.record)
    sums = [found[each] for each in ("offered", "delivered", "refused", "cancelled", "lost")]
    assert sums == [9, 6, 2, 1, 0]


def test_refusals_are_honest(tiny: Crawl) -> None:
    found = judge.refusals(tiny.record)
    assert {kind: each["n"] for kind, each in found.items()} == {
        "full": 0,
        "late": 1,
        "suspended": 0,
        "budget": 1,
    }
    assert not any(each["dishonest"] for each in found.values())


def test_the_makespan_stands_beside_its_bound(tiny: Crawl) -> None:
    found = tiny.figures()["time"]
    assert found["requests_sent"] == 5
    assert found["bounds_s"] == {"host": 31, "work": 1, "arrival": 3}
    assert found["makespan_to_bound"] == round(31_024 / (3 * 1000 + 2 * 14_002), 4)


def test_who_fetches_pays_and_who_reads_pays_for_reading(tiny: Crawl) -> None:
    ledger = tiny.desk.ledger
    assert ledger.balance("job:j0").used == {Dimension.FETCHES: 4, Dimension.TOKENS: 2000}
    assert ledger.balance("job:j1").used == {Dimension.TOKENS: 1000}
    assert ledger.balance("deployment").used == {Dimension.FETCHES: 4, Dimension.TOKENS: 3000}
    assert tiny.figures()["money"] == {
        "levels": 5,
        "overspent": 0,
        "balances_that_differ": 0,
        "still_held": 0,
    }


def test_the_same_seed_gives_the_same_crawl() -> None:
    size = Size(hosts=20, fetches=300, jobs=10)
    first, again = (
        asyncio.run(crawl(draw(size, workers=2, concurrency=4))).figures() for _ in range(2)
    )
    assert first == again
    assert first["requests"]["offered"] > 250
    assert (first["requests"]["lost"], first["politeness"]["violations"]) == (0, 0)


def test_the_judge_sees_a_rest_that_was_too_short_and_an_overlap() -> None:
    record = Record()
    for begin, end in ((0, 10), (110, 120), (219, 230), (225, 240)):
        record.send(Send("a", "a/0", begin, end, rest_ms=100))
    assert judge.politeness(record) == {"pairs": 3, "violations": 2, "overlaps": 1}


@pytest.mark.parametrize(
    ("deadline", "left", "dishonest"),
    [(5000, [], 0), (5001, [], 1), (5001, [4000], 0)],
    ids=["no room before the deadline", "room for it", "room since others left"],
)
def test_the_judge_sees_a_request_that_was_not_too_late(
    deadline: int, left: list[int], dishonest: int
) -> None:
    record = Record()
    log = record.hosts["a"]
    log.free, log.left = [(0, 10), (5000, 6000)], left
    record.refusals.append(Refusal("late", "j|0", "a", at_ms=1000, deadline_ms=deadline))
    assert judge.refusals(record)["late"]["dishonest"] == dishonest


def test_the_judge_sees_what_was_lost_and_what_ended_twice() -> None:
    record = Record()
    record.state = {"j|0": "waits", "j|1": "offered"}
    record.end("j|0", "fetched")
    record.end("j|0", "cancelled")
    found = judge.requests(record)
    assert (found["lost"], found["ended_twice"]) == (1, 1)


def test_the_account_remembers_an_overspending_that_was_made_good() -> None:
    account = Account({Dimension.FETCHES: 2})
    account.change(used={}, held={Dimension.FETCHES: 3})
    account.change(used={Dimension.FETCHES: 1}, held={Dimension.FETCHES: 3}, sign=-1)
    assert (account.worst, account.left(Dimension.FETCHES)) == (1, 1)


def test_fair_shares_give_nobody_more_than_it_asked_for() -> None:
    assert fair_shares(10, {"small": 1, "middle": 4, "giant": 90}) == {
        "small": 1.0,
        "middle": 4.0,
        "giant": 5.0,
    }


@pytest.mark.parametrize(
    ("shares", "expected"), [([2, 2, 2], 1.0), ([1, 0, 0, 0], 0.25), ([1, 3], 0.8), ([], 1.0)]
)
def test_the_index_of_jain(shares: list[float], expected: float) -> None:
    assert jain(shares) == pytest.approx(expected)
