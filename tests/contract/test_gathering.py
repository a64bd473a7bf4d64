"""A client that gathers: the same answers as any, in fewer trips. Trips are counted by the server."""

import asyncio
from collections.abc import Awaitable, Callable

import pytest
from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.exceptions import RedisError, ResponseError

from infra.gathering import gathered
from infra.redis import connect_async


def play(redis_url: str, game: Callable[[AsyncRedis], Awaitable[object]]) -> object:
    async def run() -> object:
        client = gathered(connect_async(redis_url))
        try:
            return await game(client)
        finally:
            await client.aclose()

    return asyncio.run(run())


def reads(redis: Redis) -> int:
    """How often the server has read from a connection."""
    return int(redis.info("stats")["total_reads_processed"])


def test_what_is_asked_at_once_goes_in_one_trip(redis: Redis, redis_url: str) -> None:
    async def game(client: AsyncRedis) -> list[int]:
        await client.ping()  # connects
        before = reads(redis)
        counts = await asyncio.gather(*(client.incr("n") for _ in range(50)))
        # Of what was read since, one is the question for the number itself.
        assert reads(redis) - before == 2
        return list(counts)

    assert play(redis_url, game) == list(range(1, 51))


def test_commands_take_effect_in_the_order_they_were_given(redis: Redis, redis_url: str) -> None:
    async def game(client: AsyncRedis) -> None:
        await asyncio.gather(*(client.rpush("list", number) for number in range(20)))

    play(redis_url, game)
    assert redis.lrange("list", 0, -1) == [b"%d" % number for number in range(20)]


def test_an_error_reaches_only_who_caused_it(redis_url: str) -> None:
    async def game(client: AsyncRedis) -> list[object]:
        await client.set("text", "x")
        return await asyncio.gather(
            client.get("text"), client.incr("text"), client.get("text"), return_exceptions=True
        )

    first, second, third = play(redis_url, game)  # type: ignore[misc]
    assert (first, third) == (b"x", b"x")
    assert isinstance(second, ResponseError)


def test_who_leaves_does_not_disturb_the_others(redis_url: str) -> None:
    async def game(client: AsyncRedis) -> object:
        gone = asyncio.create_task(client.set("a", "1"))
        stays = asyncio.create_task(client.set("b", "2"))
        await asyncio.sleep(0)
        gone.cancel()
        await stays
        return await client.mget("a", "b")  # it was on its way already

    assert play(redis_url, game) == [b"1", b"2"]


def test_a_server_that_is_away_is_an_error_for_everyone_and_not_for_ever(
    redis: Redis, redis_url: str
) -> None:
    async def game(client: AsyncRedis) -> list[object]:
        away = gathered(connect_async("unix:///nowhere/redis.sock"))
        answers = await asyncio.gather(away.ping(), away.ping(), return_exceptions=True)
        again = await asyncio.gather(away.ping(), return_exceptions=True)
        await away.aclose()
        return [*answers, *again]

    answers = play(redis_url, game)
    assert isinstance(answers, list)
    assert len(answers) == 3
    assert all(isinstance(each, RedisError) for each in answers)


def test_answers_are_read_as_by_any_client(redis_url: str) -> None:
    async def game(client: AsyncRedis) -> object:
        await client.hset("h", mapping={"a": "1"})
        info = await client.info("server")
        return await client.hgetall("h"), "run_id" in info

    assert play(redis_url, game) == ({b"a": b"1"}, True)


@pytest.mark.parametrize("number", [1, 3])
def test_what_comes_later_goes_with_a_later_trip(redis: Redis, redis_url: str, number: int) -> None:
    async def game(client: AsyncRedis) -> list[int]:
        return [await client.incr("n") for _ in range(number)]

    assert play(redis_url, game) == list(range(1, number + 1))
