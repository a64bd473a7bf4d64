"""Chains of scripts: the first decides, and each script gets its own keys and arguments, as if it were called alone."""

from redis import Redis

from infra.script_chain import Chain, run_chains
from infra.scripts import Call, Script

_TAKE = Script(
    "take",
    "-- Takes a name once.\nlocal taken = redis.call('SETNX', KEYS[1], ARGV[1])\n"
    "return taken == 1 and 'yes' or 'no'\n",
)
_SUM = Script(
    "sum",
    "local function add(n) return redis.call('INCRBY', KEYS[1], n) end\n"
    "if #KEYS ~= 1 or #ARGV ~= 2 then return redis.error_reply('not its own') end\n"
    "add(ARGV[1])\nreturn add(ARGV[2])",
)
_TELL = Script("tell", "return {KEYS[1], KEYS[2], #ARGV}")


def chain(name: str) -> Chain:
    tag = f"{{{name}}}"
    return Chain(
        b"yes",
        (
            Call(_TAKE, [f"{tag}:taken"], ["me"]),
            Call(_SUM, [f"{tag}:sum"], [2, 3]),
            Call(_SUM, [f"{tag}:sum"], [10, 20]),
            Call(_TELL, [f"{tag}:a", f"{tag}:b"], []),
        ),
    )


def test_each_script_runs_with_its_own_keys_and_arguments(redis: Redis) -> None:
    [replies] = run_chains(redis, [chain("x")])
    assert replies == [b"yes", 5, 35, [b"{x}:a", b"{x}:b", 0]]
    assert (redis.get("{x}:taken"), redis.get("{x}:sum")) == (b"me", b"35")


def test_behind_a_first_that_refuses_nothing_runs(redis: Redis) -> None:
    redis.set("{x}:taken", "other")
    first, second = run_chains(redis, [chain("x"), chain("y")])
    assert first == [b"no"]
    assert len(second) == 4
    assert redis.get("{x}:sum") is None


def test_a_store_that_forgot_its_scripts_is_told_again(redis: Redis) -> None:
    run_chains(redis, [chain("x")])
    redis.script_flush()
    assert run_chains(redis, [chain("x"), chain("y")])[1][1] == 5


def test_no_chains_are_no_trip(redis: Redis) -> None:
    assert run_chains(redis, []) == []
