"""Several scripts as one: the first is a condition, and the others run only if it answers as it must.

On one server a chain is one call, all of which is done or nothing. A cluster has its keys on several servers, so there
each script is a trip of its own, and a caller may die between two of them.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple, cast

from redis import Redis

from infra.redis import is_cluster
from infra.scripts import Call, Script, run_together

Shape = tuple[Script, int, int]
"""A script, and how many keys and arguments it is called with."""


class Chain(NamedTuple):
    """Calls in order; those behind the first are made only if it answers `word`."""

    word: bytes
    calls: Sequence[Call]


def run_chains(redis: Redis, chains: Sequence[Chain]) -> list[list[object]]:
    """Run chains in order, on one server in one trip; return the replies of each, one alone where the first refused.

    Errors are the client's own: a caller stands in `store_errors`.
    """
    if is_cluster(redis):
        return [_one_by_one(redis, each) for each in chains]
    replies = run_together(redis, [_joined(each) for each in chains])
    return cast("list[list[object]]", replies)


def _one_by_one(redis: Redis, chain: Chain) -> list[object]:
    first, *rest = chain.calls
    replies = [first.run(redis)]
    if replies[0] == chain.word:
        replies += [each.run(redis) for each in rest]
    return replies


def _joined(chain: Chain) -> Call:
    shapes = tuple((each.script, len(each.keys), len(each.args)) for each in chain.calls)
    names = [name for each in chain.calls for name in each.keys]
    args = [value for each in chain.calls for value in each.args]
    return Call(_script(chain.word, shapes), names, args)


@lru_cache(maxsize=64)  # the kinds of chains are few
def _script(word: bytes, shapes: tuple[Shape, ...]) -> Script:
    """Return the script that has each of these as a function, with its own part of the keys and arguments."""
    parts = [
        f"local function part{number}(KEYS, ARGV)\n{script.text}\nend\n"
        for number, (script, _keys, _args) in enumerate(shapes)
    ]
    calls, keys_at, args_at = [], 1, 1
    for number, (_script, keys, args) in enumerate(shapes):
        mine = f"{{unpack(KEYS, {keys_at}, {keys_at + keys - 1})}}"
        given = f"{{unpack(ARGV, {args_at}, {args_at + args - 1})}}"
        calls.append(f"replies[{number + 1}] = part{number}({mine}, {given})\n")
        keys_at, args_at = keys_at + keys, args_at + args
    condition = f"if replies[1] ~= '{word.decode()}' then return replies end\n"
    begin, *rest = calls
    text = "".join((*parts, "local replies = {}\n", begin, condition, *rest, "return replies\n"))
    return Script("+".join(script.name for script, _keys, _args in shapes), text)
