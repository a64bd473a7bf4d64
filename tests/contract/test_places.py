"""Places for unfinished jobs: limits, the last ones for newcomers, and shares by weight, in the store's own script."""

from itertools import count

import pytest
from redis import Redis

from budget.slots import JOBS, WAITING_MS, Ask, Slots, admit_call, admitted, free_job, jobs_of
from infra import keys

NOW = 1_790_000_000_000


class House:
    """A deployment of so many places, and tenants with weights."""

    def __init__(self, redis: Redis, limit: int, *, kept: int = 0, tenant_limit: int = 1000):
        self.redis = redis
        self.limits = {"limit": limit, "kept": kept, "tenant_limit": tenant_limit}
        self.numbers = count()

    def ask(
        self,
        tenant: str,
        *,
        at: int = NOW,
        job: str = "",
        weight: float = 1.0,
        ttl_ms: int = 60_000,
    ) -> str:
        job = job or f"job_{next(self.numbers)}"
        ask = Ask(job=job, tenant=tenant, ttl_ms=ttl_ms, weight=weight, **self.limits)
        return admitted(admit_call(ask, now_ms=at).run(self.redis))

    def fill(self, tenant: str, number: int, *, weight: float = 1.0) -> None:
        assert [self.ask(tenant, weight=weight) for _ in range(number)] == ["admitted"] * number

    def held(self, tenant: str, *, at: int = NOW) -> int:
        return Slots(self.redis).count(jobs_of(tenant), at)

    def leave(self, tenant: str) -> None:
        [job] = self.redis.zrange(keys.slots(jobs_of(tenant)), 0, 0)
        free_job(Slots(self.redis), job.decode(), tenant)


def test_a_place_counts_in_the_deployment_and_under_its_tenant(redis: Redis) -> None:
    house = House(redis, 3)
    house.fill("red", 1)
    house.fill("blue", 2)
    slots = Slots(redis)
    assert (slots.count(JOBS, NOW), house.held("red"), house.held("blue")) == (3, 1, 2)


def test_who_is_refused_holds_nothing_anywhere(redis: Redis) -> None:
    house = House(redis, 2, tenant_limit=1)
    house.fill("red", 1)
    assert house.ask("red") == "tenant"
    house.fill("blue", 1)
    assert house.ask("green") == "deployment"
    slots = Slots(redis)
    assert (slots.count(JOBS, NOW), house.held("red"), house.held("green")) == (2, 1, 0)


def test_the_same_job_prolongs_its_place_even_in_a_full_house(redis: Redis) -> None:
    house = House(redis, 1)
    assert house.ask("red", job="one", ttl_ms=1000) == "admitted"
    assert house.ask("red", job="one", ttl_ms=5000, at=NOW + 900) == "admitted"
    assert house.ask("blue", at=NOW + 5899) == "deployment"
    assert house.ask("blue", at=NOW + 5900) == "admitted"


def test_the_last_places_are_for_who_has_none(redis: Redis) -> None:
    house = House(redis, 10, kept=2)
    house.fill("red", 8)
    assert house.ask("red") == "kept"
    assert [house.ask("blue"), house.ask("blue")] == ["admitted", "kept"]
    assert house.ask("green") == "admitted"
    assert house.ask("white") == "deployment"


def test_a_place_that_becomes_free_is_for_who_waits_and_has_less(redis: Redis) -> None:
    """Of 6 places among two, 3 each: red, which has all, must let blue have the next three."""
    house = House(redis, 6)
    house.fill("red", 6)
    assert house.ask("blue") == "deployment"
    for _ in range(3):
        house.leave("red")
        answers = house.ask("red"), house.ask("blue"), house.ask("blue")
        assert answers == ("share", "admitted", "deployment")
    assert (house.held("red"), house.held("blue")) == (3, 3)
    house.leave("red")  # each has its share: first come, first served
    assert house.ask("red") == "admitted"


def test_shares_follow_the_weights(redis: Redis) -> None:
    """Red weighs 2 and blue 1: of 9 places, blue's share is 3 and red's 6."""
    house = House(redis, 9)
    house.fill("blue", 9)
    admitted_of_red = 0
    for _ in range(9):
        house.ask("red", weight=2)  # waits
        house.leave("blue")
        if house.ask("blue") != "admitted":
            admitted_of_red += house.ask("red", weight=2) == "admitted"
    assert (house.held("red"), house.held("blue"), admitted_of_red) == (6, 3, 6)


def test_who_comes_no_more_is_not_waited_for(redis: Redis) -> None:
    house = House(redis, 4)
    house.fill("red", 4)
    assert house.ask("blue") == "deployment"
    house.leave("red")
    assert house.ask("red", at=NOW + WAITING_MS - 1) == "share"
    assert house.ask("red", at=NOW + WAITING_MS) == "admitted"


def test_who_has_its_share_is_not_waited_for(redis: Redis) -> None:
    house = House(redis, 4)
    house.fill("red", 2)
    house.fill("blue", 2)
    assert house.ask("blue") == "deployment"  # waits for a third
    house.leave("red")
    assert house.ask("red") == "admitted"


def test_a_tenant_alone_may_have_all(redis: Redis) -> None:
    house = House(redis, 5)
    house.fill("red", 5)
    house.ask("red")  # waits for itself
    house.leave("red")
    assert house.ask("red") == "admitted"


def test_a_tenant_that_left_takes_no_share(redis: Redis) -> None:
    """Green was here once and left, so blue's share is 2 of 4 and not 4/3."""
    house = House(redis, 4)
    house.fill("green", 1)
    house.leave("green")
    house.fill("blue", 1)
    house.fill("red", 3)
    assert house.ask("blue") == "deployment"
    house.leave("red")
    assert (house.ask("red"), house.ask("blue")) == ("share", "admitted")
    assert {*redis.hkeys(keys.slot_weights())} == {b"blue", b"red"}


@pytest.mark.parametrize("ttl_ms", [1000, 500_000])
def test_every_key_leaves(redis: Redis, ttl_ms: int) -> None:
    house = House(redis, 1)
    house.ask("red", at=0, ttl_ms=ttl_ms)
    house.ask("blue", at=0)
    lives = {each: redis.pttl(each) for each in redis.keys("ss:{b}:*")}
    assert len(lives) == 4
    assert all(0 < life <= 31 * 86_400_000 for life in lives.values())
