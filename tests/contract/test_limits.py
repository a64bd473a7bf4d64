"""Limits over HTTP, on a real server and store: who is refused, with which status, headers and words."""

from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import httpx
import msgspec
import pytest
from redis import Redis
from signal_search.contracts.budget import Dimension
from signal_search.contracts.job import JobEvent

from budget.redis_ledger import RedisLedger
from infra import keys
from infra.settings import load
from infra.tokens import TokenStore
from tests.fakes.gateway import finish, running

TENANTS = ("red", "blue", "big", "poor")
Ask = Callable[..., httpx.Response]


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("limits")


@pytest.fixture(scope="module")
def tokens(folder: Path) -> dict[str, str]:
    path = folder / "tokens.json"
    made = {
        each: TokenStore.load(path).create(each, ("read", "write"), {}, now_ms=1)[0]
        for each in TENANTS
    }
    few = {Dimension.CALLS: 10}
    return made | {"few": TokenStore.load(path).create("red", ("read", "write"), few, now_ms=1)[0]}


@pytest.fixture(scope="module")
def gateway(redis_url: str, folder: Path, tokens: dict[str, str]) -> Iterator[httpx.Client]:
    assert tokens
    settings = load(
        redis_url=redis_url,
        data_dir=str(folder),
        gateway={"tenant_slots": 2, "deployment_slots": 8, "newcomer_share": 0.25},
        tenants={"big": {"slots": 8, "weight": 0.5}, "poor": {"tokens": 1000}},
        tenant={"calls": 40},
        deployment={"per": "ever", "bytes": 5000},
    )
    with running(settings) as client:
        yield client


@pytest.fixture
def ask(gateway: httpx.Client, tokens: dict[str, str], redis: Redis) -> Ask:
    """Submit for a tenant, over a store that is empty but for bells and counts, which come late."""

    def submit(tenant: str, **headers: str) -> httpx.Response:
        headers["Authorization"] = f"Bearer {tokens[tenant]}"
        return gateway.post("/v1/retrieve", json={"query": "How high is it?"}, headers=headers)

    return submit


def told(reply: httpx.Response) -> tuple[int, str, str]:
    """Status, code and message of a refusal; its body has nothing else but the request's id."""
    body = reply.json()
    assert body.keys() == {"detail", "request_id"}
    assert body["detail"].keys() == {"code", "message"}
    assert body["request_id"] == reply.headers["x-request-id"]
    return reply.status_code, body["detail"]["code"], body["detail"]["message"]


def spend(redis: Redis, level: str, **used: int) -> None:
    ledger = RedisLedger(redis)
    amounts = {Dimension(name): amount for name, amount in used.items()}
    ledger.open(level, dict.fromkeys(amounts, 10**9), ttl_ms=60_000)
    ledger.reserve(f"hold|{level}", [level], amounts, lease_ms=60_000)
    assert ledger.settle(f"hold|{level}", amounts)


def today() -> str:
    return datetime.now(UTC).date().isoformat()


def midnight() -> datetime:
    day = datetime.now(UTC).date() + timedelta(days=1)
    return datetime(day.year, day.month, day.day, tzinfo=UTC)


def test_a_tenants_own_places(ask: Ask) -> None:
    assert [ask("red").status_code for _ in range(3)] == [202, 202, 429]
    reply = ask("red")
    message = "You have as many unfinished jobs as you may."
    assert told(reply) == (429, "rate_limited", message)
    assert reply.headers["retry-after"] == "5"
    assert ask("blue").status_code == 202  # nobody else's business


def test_a_tenant_with_a_row_of_its_own_has_its_figure(ask: Ask) -> None:
    """Big may have all 8, but the last quarter is for who has none."""
    assert [ask("big").status_code for _ in range(7)] == [202] * 6 + [429]
    message = "The service is nearly full, and its last places are for callers who have none."
    assert told(ask("big")) == (429, "rate_limited", message)
    assert ask("red").status_code == 202


def test_a_full_service_says_so_and_gives_what_becomes_free_to_who_has_less(
    ask: Ask, redis: Redis
) -> None:
    """Shares of 8 by the weights 0.5, 1 and 1 are 1.6, 3.2 and 3.2: big has 6 of them, red and blue one each."""
    jobs = [ask("big").json()["id"] for _ in range(6)]
    assert [ask(each).status_code for each in ("red", "blue")] == [202, 202]
    full = "The service has as many unfinished jobs as it may."
    assert told(ask("red")) == (429, "rate_limited", full)
    for job in jobs[:3]:  # one more than the two that are kept
        finish(redis, job, JobEvent.FAIL)
    share = "The service is nearly full, you have your share of it, and another caller waits."
    assert told(ask("big")) == (429, "rate_limited", share)
    assert ask("red").status_code == 202


def test_a_refused_submission_leaves_nothing(ask: Ask, redis: Redis) -> None:
    for _ in range(2):
        ask("red")
    before = {*redis.keys("*")}
    assert ask("red", **{"Idempotency-Key": "again"}).status_code == 429
    left = {*redis.keys("*")} - before
    # The gateway sends its bells and counts when it likes, also those of what it did before.
    late = (b"ss:mq:", b"_kombu", keys.metrics().encode())
    assert {each for each in left if not each.startswith(late)} <= {keys.slots_waiting().encode()}


def test_a_place_is_held_to_the_deadline_and_given_back_by_cancelling(
    ask: Ask, gateway: httpx.Client, tokens: dict[str, str], redis: Redis
) -> None:
    job = ask("red").json()
    [(holder, ends_ms)] = redis.zrange(keys.slots("jobs:red"), 0, -1, withscores=True)
    assert holder.decode() == job["id"]
    assert abs(ends_ms - job["deadline_ms"]) < 5000
    own = {"Authorization": f"Bearer {tokens['red']}"}
    assert gateway.delete(f"/v1/jobs/{job['id']}", headers=own).status_code == 202
    assert redis.exists(keys.slots("jobs:red"), keys.slots("jobs")) == 0


def test_a_quota_by_the_day_names_the_dimension_and_when_it_starts_anew(
    ask: Ask, redis: Redis
) -> None:
    spend(redis, f"tenant:red@{today()}", calls=39, tokens=10**6)
    assert ask("red").status_code == 202  # one is left, and tokens have no limit
    spend(redis, f"tenant:blue@{today()}", calls=40)
    reply, until = ask("blue"), midnight()
    message = (
        f"Your quota of 40 calls a day is used up; it starts anew at {until:%Y-%m-%dT%H:%M:%SZ}."
    )
    assert told(reply) == (429, "quota_exceeded", message)
    left_s = (until - datetime.now(UTC)).total_seconds()
    assert abs(int(reply.headers["retry-after"]) - left_s) < 50
    assert redis.exists(keys.slots("jobs:blue"), keys.tenant_jobs("blue")) == 0


def test_what_is_held_counts_as_used(ask: Ask, redis: Redis) -> None:
    ledger, level = RedisLedger(redis), f"tenant:poor@{today()}"
    ledger.open(level, {Dimension.TOKENS: 1000}, ttl_ms=60_000)
    ledger.reserve("held", [level], {Dimension.TOKENS: 1000}, lease_ms=60_000)
    assert told(ask("poor"))[2].startswith("Your quota of 1000 tokens a day is used up")
    ledger.release("held")
    assert ask("poor").status_code == 202


def test_a_quota_for_ever_of_the_whole_service(ask: Ask, redis: Redis) -> None:
    spend(redis, "deployment", bytes=5000)
    reply = ask("red")
    message = "The service's quota of 5000 bytes is used up."
    assert told(reply) == (429, "quota_exceeded", message)
    assert reply.headers["retry-after"] == "86400"


def test_a_token_may_have_less_than_its_tenant(
    ask: Ask, tokens: dict[str, str], folder: Path, redis: Redis
) -> None:
    job = ask("few").json()["id"]
    spec = msgspec.json.decode(redis.hget(keys.job(job), "spec"))
    record = TokenStore.load(folder / "tokens.json").records[-1]
    assert (spec["tenant"], spec["token"]) == ("red", record.id)
    level = f"token:{record.id}@{today()}"
    assert RedisLedger(redis).balance(level).limits == {Dimension.CALLS: 10}
    spend(redis, level, calls=10)
    until = f"{midnight():%Y-%m-%dT%H:%M:%SZ}"
    message = f"This token's quota of 10 calls a day is used up; it starts anew at {until}."
    assert told(ask("few")) == (429, "quota_exceeded", message)
    other = ask("red")
    assert other.status_code == 202
    assert msgspec.json.decode(redis.hget(keys.job(other.json()["id"]), "spec"))["token"] == ""


def test_a_refused_key_may_be_used_again(ask: Ask, redis: Redis) -> None:
    key = {"Idempotency-Key": "later"}
    spend(redis, "deployment", bytes=5000)
    assert ask("red", **key).status_code == 429
    redis.delete(keys.budget_level("deployment"))
    assert ask("red", **key).status_code == 202
