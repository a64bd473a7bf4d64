"""The ledger's contract, on every implementation. Sums in the tests were worked out by hand."""

from collections.abc import Callable

import pytest
from redis import Redis
from signal_search.contracts.budget import Amounts, Dimension
from signal_search.errors import Broken, StoreFailed

from budget.ledger import DROPPED_AT_ONCE, REMEMBER_MS, Balance, Held, Ledger, Short, Want
from budget.memory_ledger import MemoryLedger
from budget.redis_ledger import RedisLedger
from infra import keys
from infra.clock import FixedClock
from infra.redis import connect

NOW = 1_790_000_000_000
LEASE = 60_000
TOKENS, CALLS, FETCHES = Dimension.TOKENS, Dimension.CALLS, Dimension.FETCHES
JOB, TENANT, ALL = "job:j1", "tenant:t1", "deployment"
LEVELS = (JOB, TENANT, ALL)


@pytest.fixture(params=["memory", "redis"])
def ledger(request: pytest.FixtureRequest, clock: FixedClock) -> Ledger:
    if request.param == "memory":
        return MemoryLedger(clock)
    return RedisLedger(request.getfixturevalue("redis"))


@pytest.fixture
def purse(ledger: Ledger) -> Ledger:
    """Three levels; the tenant has the tightest token limit."""
    ledger.open(JOB, {TOKENS: 1000, CALLS: 3}, ttl_ms=0)
    ledger.open(TENANT, {TOKENS: 700}, ttl_ms=0)
    ledger.open(ALL, {}, ttl_ms=0)
    return ledger


def reserve(ledger: Ledger, hold: str, cost: Amounts, *, at: int = NOW) -> Held | Short:
    return ledger.reserve(hold, LEVELS, cost, lease_ms=LEASE, now_ms=at)


def test_a_new_level_has_its_limits_and_nothing_used(purse: Ledger) -> None:
    assert purse.balance(JOB) == Balance(limits={TOKENS: 1000, CALLS: 3})


def test_an_unknown_level_is_empty(ledger: Ledger) -> None:
    assert ledger.balance("job:nobody") == Balance()


def test_a_reservation_tells_the_least_that_is_left(purse: Ledger) -> None:
    assert reserve(purse, "h1", {TOKENS: 300, CALLS: 1}) == Held(left={TOKENS: 400, CALLS: 2})


def test_a_hold_counts_on_every_level(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 300})
    assert [purse.balance(each).held for each in LEVELS] == [{TOKENS: 300}] * 3


def test_the_level_that_is_short_is_named_and_nothing_is_held(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 300})
    assert reserve(purse, "h2", {TOKENS: 401}) == Short(level=TENANT, dimension=TOKENS, left=400)
    assert [purse.balance(each).held for each in LEVELS] == [{TOKENS: 300}] * 3


def test_the_first_short_dimension_is_named(purse: Ledger) -> None:
    answer = reserve(purse, "h1", {CALLS: 4, TOKENS: 1001})
    assert answer == Short(level=JOB, dimension=TOKENS, left=1000)


def test_what_is_left_can_be_held_to_the_last(purse: Ledger) -> None:
    assert reserve(purse, "h1", {TOKENS: 700}) == Held(left={TOKENS: 0, CALLS: 3})


def want(hold: str, cost: Amounts) -> Want:
    return Want(hold_id=hold, levels=LEVELS, cost=cost, lease_ms=LEASE)


def test_of_several_reservations_one_that_is_short_keeps_none_of_the_others(purse: Ledger) -> None:
    wants = [want("h1", {TOKENS: 300}), want("h2", {TOKENS: 401}), want("h3", {TOKENS: 400})]
    assert purse.reserve_all(wants, now_ms=NOW) == [
        Held(left={TOKENS: 400, CALLS: 3}),
        Short(level=TENANT, dimension=TOKENS, left=400),
        Held(left={TOKENS: 0, CALLS: 3}),
    ]
    assert purse.balance(TENANT).held == {TOKENS: 700}


def test_nothing_is_reserved_for_nobody(purse: Ledger) -> None:
    assert purse.reserve_all([]) == []


def test_several_holds_are_settled_and_an_unknown_one_is_passed_over(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 300})
    reserve(purse, "h2", {TOKENS: 100})
    purse.settle_all([("h1", {TOKENS: 30}), ("nobody", {TOKENS: 7}), ("h2", {TOKENS: 100})])
    assert purse.balance(ALL) == Balance(used={TOKENS: 130})


def test_what_is_spent_at_once_is_used_on_every_level_and_held_on_none(purse: Ledger) -> None:
    assert purse.spend(want("h1", {TOKENS: 300, CALLS: 1}), now_ms=NOW) == Held(
        left={TOKENS: 400, CALLS: 2}
    )
    assert [purse.balance(each).used for each in LEVELS] == [{TOKENS: 300, CALLS: 1}] * 3
    assert [purse.balance(each).held for each in LEVELS] == [{}] * 3


def test_spending_twice_under_one_id_counts_once(purse: Ledger) -> None:
    purse.spend(want("h1", {TOKENS: 300}), now_ms=NOW)
    assert isinstance(purse.spend(want("h1", {TOKENS: 300}), now_ms=NOW), Held)
    assert purse.balance(JOB).used == {TOKENS: 300}


def test_what_is_short_is_not_spent(purse: Ledger) -> None:
    short = Short(level=TENANT, dimension=TOKENS, left=700)
    assert purse.spend(want("h1", {TOKENS: 701}), now_ms=NOW) == short
    assert purse.balance(ALL) == Balance()


def test_the_same_id_holds_once(purse: Ledger) -> None:
    first = reserve(purse, "h1", {TOKENS: 500})
    assert reserve(purse, "h1", {TOKENS: 500}) == first
    assert purse.balance(JOB).held == {TOKENS: 500}


def test_the_same_id_prolongs_the_lease(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 500})
    reserve(purse, "h1", {TOKENS: 500}, at=NOW + 50_000)
    assert purse.expire(now_ms=NOW + LEASE) == 0
    assert purse.expire(now_ms=NOW + 50_000 + LEASE) == 1


def test_settling_turns_a_hold_into_usage_and_refunds_the_rest(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 500, CALLS: 1})
    assert purse.settle("h1", {TOKENS: 120, CALLS: 1})
    assert purse.balance(JOB) == Balance(
        limits={TOKENS: 1000, CALLS: 3}, used={TOKENS: 120, CALLS: 1}
    )


def test_an_over_run_is_recorded_in_full(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 600})
    purse.settle("h1", {TOKENS: 900, FETCHES: 2})
    assert purse.balance(TENANT).used == {TOKENS: 900, FETCHES: 2}
    assert reserve(purse, "h2", {TOKENS: 1}) == Short(level=TENANT, dimension=TOKENS, left=0)


def test_what_costs_nothing_is_never_short(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 600})
    purse.settle("h1", {TOKENS: 900})
    assert reserve(purse, "h2", {TOKENS: 0, CALLS: 1}) == Held(left={TOKENS: 0, CALLS: 2})


def test_settling_twice_counts_once(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 500})
    assert purse.settle("h1", {TOKENS: 100})
    assert not purse.settle("h1", {TOKENS: 100})
    assert purse.balance(JOB).used == {TOKENS: 100}


def test_settling_and_releasing_the_unknown_is_refused(purse: Ledger) -> None:
    assert not purse.settle("nobody", {TOKENS: 1})
    assert not purse.release("nobody")


def test_a_release_gives_everything_back(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 500})
    assert purse.release("h1")
    assert purse.balance(JOB) == Balance(limits={TOKENS: 1000, CALLS: 3})


@pytest.mark.parametrize(
    "end", [lambda one: one.settle("h1", {TOKENS: 70}), lambda one: one.release("h1")]
)
def test_an_ended_id_is_held_for_free(purse: Ledger, end: Callable[[Ledger], bool]) -> None:
    reserve(purse, "h1", {TOKENS: 500})
    end(purse)
    before = purse.balance(JOB)
    assert isinstance(reserve(purse, "h1", {TOKENS: 500}), Held)
    assert purse.balance(JOB) == before


def test_a_reservation_drops_the_expired_holds_of_its_levels(purse: Ledger) -> None:
    reserve(purse, "dead", {TOKENS: 700})
    assert isinstance(reserve(purse, "h2", {TOKENS: 1}, at=NOW + LEASE - 1), Short)
    assert reserve(purse, "h2", {TOKENS: 1}, at=NOW + LEASE) == Held(left={TOKENS: 699, CALLS: 3})
    assert [purse.balance(each).held for each in LEVELS] == [{TOKENS: 1}] * 3


def test_the_id_of_an_expired_hold_is_free_again(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 700})
    assert reserve(purse, "h1", {TOKENS: 600}, at=NOW + LEASE) == Held(left={TOKENS: 100, CALLS: 3})


def test_an_expired_hold_on_other_levels_is_free_again_too(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 700})
    purse.open("job:j2", {TOKENS: 10}, ttl_ms=0)
    purse.reserve("h1", ["job:j2"], {TOKENS: 10}, lease_ms=LEASE, now_ms=NOW + LEASE)
    assert purse.balance(JOB).held == {}
    assert purse.balance("job:j2").held == {TOKENS: 10}


def test_a_reservation_drops_no_more_than_it_may_at_once(purse: Ledger) -> None:
    for number in range(DROPPED_AT_ONCE + 1):
        reserve(purse, f"h{number:04}", {FETCHES: 1})
    reserve(purse, "later", {TOKENS: 1}, at=NOW + LEASE)
    assert purse.balance(JOB).held == {TOKENS: 1, FETCHES: 1}


def test_closing_a_level_that_is_never_named_first(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 1})
    purse.reserve("h2", [ALL, TENANT], {TOKENS: 2}, lease_ms=LEASE, now_ms=NOW)
    assert purse.close(TENANT) == 2
    assert [purse.balance(each).held for each in LEVELS] == [{}] * 3


def test_expire_releases_the_oldest_up_to_its_limit(purse: Ledger) -> None:
    for place, hold in enumerate(("h1", "h2", "h3")):
        reserve(purse, hold, {TOKENS: 10**place}, at=NOW + place)
    assert purse.expire(limit=2, now_ms=NOW + LEASE + 2) == 2
    assert purse.balance(JOB).held == {TOKENS: 100}
    assert not purse.settle("h1", {TOKENS: 1})


def test_closing_releases_every_open_hold_of_the_level_on_all_levels(purse: Ledger) -> None:
    purse.open("job:j2", {}, ttl_ms=0)
    purse.reserve("other", ["job:j2", ALL], {TOKENS: 5}, lease_ms=LEASE, now_ms=NOW)
    reserve(purse, "h1", {TOKENS: 1})
    reserve(purse, "h2", {TOKENS: 2})
    assert purse.close(JOB) == 2
    assert purse.balance(ALL).held == {TOKENS: 5}
    assert purse.close(JOB) == 0


def test_opening_again_replaces_the_limits_and_keeps_the_usage(purse: Ledger) -> None:
    reserve(purse, "h1", {TOKENS: 100})
    purse.settle("h1", {TOKENS: 100})
    reserve(purse, "h2", {TOKENS: 50})
    purse.open(JOB, {FETCHES: 0}, ttl_ms=0)
    assert purse.balance(JOB) == Balance(limits={FETCHES: 0}, used={TOKENS: 100}, held={TOKENS: 50})
    assert reserve(purse, "h3", {FETCHES: 1}) == Short(level=JOB, dimension=FETCHES, left=0)


def test_a_level_that_was_never_opened_limits_and_counts_nothing(ledger: Ledger) -> None:
    assert reserve(ledger, "h1", {TOKENS: 10**12}) == Held()
    assert ledger.settle("h1", {TOKENS: 10**12})
    assert ledger.balance(JOB) == Balance()


def test_a_level_named_twice_counts_once(purse: Ledger) -> None:
    purse.reserve("h1", [JOB, JOB], {TOKENS: 600}, lease_ms=LEASE, now_ms=NOW)
    assert purse.balance(JOB).held == {TOKENS: 600}


def test_the_largest_amounts_are_exact(ledger: Ledger) -> None:
    ledger.open(JOB, {Dimension.BYTES: 10**12}, ttl_ms=0)
    ledger.reserve("h1", [JOB], {Dimension.BYTES: 10**12 - 1}, lease_ms=LEASE, now_ms=NOW)
    assert ledger.balance(JOB).held == {Dimension.BYTES: 999_999_999_999}
    ledger.settle("h1", {Dimension.BYTES: 10**12 - 3})
    assert ledger.balance(JOB).used == {Dimension.BYTES: 999_999_999_997}


def test_a_negative_amount_is_a_bug(purse: Ledger) -> None:
    with pytest.raises(Broken):
        reserve(purse, "h1", {TOKENS: -1})
    with pytest.raises(Broken):
        purse.settle("h1", {TOKENS: -1})


def test_a_hold_does_not_follow_its_level_into_a_second_life(clock: FixedClock) -> None:
    ledger = MemoryLedger(clock)
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=1000)
    ledger.reserve("h1", [JOB], {TOKENS: 10}, lease_ms=LEASE)
    clock.advance(1000)
    assert ledger.balance(JOB) == Balance()
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=1000)
    assert ledger.settle("h1", {TOKENS: 10})
    assert ledger.balance(JOB) == Balance(limits={TOKENS: 10})


def test_redis_a_hold_does_not_follow_its_level_into_a_second_life(redis: Redis) -> None:
    ledger = RedisLedger(redis)
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=LEASE)
    ledger.reserve("h1", [JOB], {TOKENS: 10}, lease_ms=LEASE)
    level = keys.budget_level(JOB)
    redis.delete(level, level.replace(":level:", ":open:"))  # what their common life time does
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=LEASE)
    assert ledger.settle("h1", {TOKENS: 10})
    assert ledger.balance(JOB) == Balance(limits={TOKENS: 10})


def test_redis_a_level_and_its_list_of_holds_leave_together(redis: Redis) -> None:
    ledger = RedisLedger(redis)
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=3_600_000)
    ledger.reserve("h1", [JOB], {TOKENS: 1}, lease_ms=LEASE)
    level = keys.budget_level(JOB)
    lives = [redis.pexpiretime(each) for each in (level, level.replace(":level:", ":open:"))]
    assert lives[0] == lives[1] > 0
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=0)
    assert redis.pttl(level) == redis.pttl(level.replace(":level:", ":open:")) == -1


def test_redis_nothing_stays_of_a_settled_hold_but_its_mark(redis: Redis) -> None:
    ledger = RedisLedger(redis)
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=0)
    ledger.reserve("h1", [JOB], {TOKENS: 1}, lease_ms=LEASE)
    ledger.settle("h1", {TOKENS: 1})
    mark = f"{keys.budget_tag()}:hold:h1"
    assert set(redis.keys()) == {keys.budget_level(JOB).encode(), mark.encode()}
    assert 0 < redis.pttl(mark) <= REMEMBER_MS


def test_redis_asks_the_store_for_the_time(redis: Redis) -> None:
    ledger = RedisLedger(redis)
    ledger.open(JOB, {TOKENS: 10}, ttl_ms=0)
    ledger.reserve("h1", [JOB], {TOKENS: 10}, lease_ms=LEASE)
    assert ledger.expire() == 0
    seconds, _ = redis.time()
    assert ledger.expire(now_ms=(int(seconds) + 61) * 1000) == 1


def test_without_the_store_nothing_is_granted() -> None:
    ledger = RedisLedger(connect("unix:///nonexistent/redis.sock"))
    with pytest.raises(StoreFailed):
        reserve(ledger, "h1", {TOKENS: 1})
    with pytest.raises(StoreFailed):
        ledger.balance(JOB)
