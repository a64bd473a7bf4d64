"""Lua scripts from files: loaded by name, hashed once, called with one NOSCRIPT retry."""

from collections.abc import Sequence
from hashlib import sha1
from pathlib import Path
from typing import NamedTuple, cast

from redis import Redis
from redis.asyncio import Redis as AsyncRedis
from redis.client import Pipeline
from redis.cluster import RedisCluster
from redis.exceptions import NoScriptError

Argument = str | bytes | int | float


class Script:
    """A text in Lua, mostly of one file, whose header says what it does, its KEYS, its ARGV and what it returns."""

    def __init__(self, name: str, text: str) -> None:
        """Hash the text once."""
        self.name = name
        self.text = text
        self.sha = sha1(text.encode(), usedforsecurity=False).hexdigest()

    def __call__(self, redis: Redis, keys: Sequence[str], args: Sequence[Argument]) -> object:
        """Run the script; send its text only if the server does not know it."""
        try:
            return redis.evalsha(self.sha, len(keys), *keys, *args)
        except NoScriptError:
            return redis.eval(self.text, len(keys), *keys, *args)

    async def run(self, redis: AsyncRedis, keys: Sequence[str], args: Sequence[Argument]) -> object:
        """Run the script on an asyncio client."""
        try:
            return await redis.evalsha(self.sha, len(keys), *keys, *args)
        except NoScriptError:
            return await redis.eval(self.text, len(keys), *keys, *args)


class Call(NamedTuple):
    """A script with what it is to be called with."""

    script: Script
    keys: Sequence[str]
    args: Sequence[Argument]

    def run(self, redis: Redis) -> object:
        """Make the call alone."""
        return self.script(redis, self.keys, self.args)

    def join(self, pipe: Pipeline) -> None:
        """Make the call with others."""
        pipe.evalsha(self.script.sha, len(self.keys), *self.keys, *self.args)


class Command(NamedTuple):
    """A plain command with its arguments; it begins with the command's name and the one key that it is about."""

    args: Sequence[Argument]

    def run(self, redis: Redis) -> object:
        """Give the command alone."""
        return redis.execute_command(*self.args)  # type: ignore[no-untyped-call]

    def join(self, pipe: Pipeline) -> None:
        """Give the command with others."""
        pipe.execute_command(*self.args)  # type: ignore[no-untyped-call]


def run_together(redis: Redis, calls: Sequence[Call | Command]) -> list[object]:
    """Run all in one trip, in order but not as one: between two of them others may act, or everything may end.

    A cluster takes a trip for each. Scripts that the server does not know are sent again one by one, in order, so that
    none becomes known before those that run ahead of it.
    """
    if not calls:
        return []
    client: object = redis
    if isinstance(client, RedisCluster):  # its pipelines take no scripts
        return [each.run(redis) for each in calls]
    with redis.pipeline(transaction=False) as pipe:
        for each in calls:
            each.join(pipe)
        replies = cast("list[object]", pipe.execute(raise_on_error=False))
    return [_known(redis, call, reply) for call, reply in zip(calls, replies, strict=True)]


def _known(redis: Redis, call: Call | Command, reply: object) -> object:
    if isinstance(reply, NoScriptError):
        return call.run(redis)
    if isinstance(reply, Exception):
        raise reply
    return reply


def load(folder: Path, *names: str, first: str = "") -> dict[str, Script]:
    """Load `folder/NAME.lua` for each name; each begins with the functions of `folder/FIRST.lua`, if given."""
    shared = (folder / f"{first}.lua").read_text(encoding="utf-8") if first else ""
    texts = {name: (folder / f"{name}.lua").read_text(encoding="utf-8") for name in names}
    return {name: Script(name, shared + text) for name, text in texts.items()}
