"""The operator's model: one question to an OpenAI-compatible endpoint, over the one door to the network.

The endpoint is configuration and therefore trusted: it may stand on this machine or in a private network, and it is
the only host this client connects to. Its answers are not trusted: they are bounded, read strictly, and refused when
they are compressed. Nothing is retried, redirects are not followed. Fails with `JudgeFailed`, which never repeats what
was asked, what was answered, the key or the address, and carries the tokens that the answer reported.
"""

import asyncio
from typing import Any, Final
from urllib.parse import urlsplit

import msgspec
from msgspec import Struct
from signal_search.contracts.generation import Message
from signal_search.errors import (
    AddressRefused,
    BadReply,
    BodyTooLarge,
    JudgeFailed,
    JudgeTimedOut,
    TimedOut,
    Unreachable,
)

from infra.clock import Clock
from infra.http import HttpClient, RawReply
from infra.llm_reply import Completion, read_reply, reported_tokens
from infra.one_host import below, only_host_of
from infra.outgoing import Outgoing
from infra.settings import Settings

MAX_TEXT_BYTES: Final = 16_384
"""The most text, in UTF-8 bytes, that is taken out of one answer (scorer guide)."""

NEVER_SENT: Final = "model_unavailable"
"""The code of a question that never reached the model, and cost nothing."""

_NO_THINKING_HOST: Final = "api.deepseek.com"
_OK = 200


class Prompt(Struct, frozen=True, kw_only=True):
    """What is asked in one completion.

    max_tokens: of output. timeout_s: for the whole exchange. max_body_bytes: of the raw answer. quick: where the
    endpoint has a switch for thinking that this client knows, it is off.
    """

    messages: tuple[Message, ...]
    max_tokens: int
    timeout_s: float
    max_body_bytes: int
    quick: bool = False


def charged(told: Completion | JudgeFailed, held: int) -> int:
    """Return the tokens to book for a question: what was reported; all that was held where nothing was.

    A question that never reached the model costs nothing.
    """
    if isinstance(told, JudgeFailed):
        return told.tokens or (0 if told.code == NEVER_SENT else held)
    return told.tokens if told.reports else held


class JudgeClient:
    """Asks the model. Belongs to one event loop; every question is a connection of its own."""

    def __init__(self, settings: Settings, clock: Clock) -> None:
        """Ask the model of `settings.search`, which must be whole; nothing is opened yet."""
        self._search = settings.search
        self._url = below(settings.search.agent_base_url, "/chat/completions")
        # A model may think for longer than a page may take: the time of a question is the prompt's alone.
        longest_s = max(self._search.scorer_generation_timeout, self._search.agent_timeout_s)
        limits = {"clients": 1, "total_timeout_s": longest_s}
        fetch = settings.fetch.model_copy(update=limits)
        guard = only_host_of(self._url, settings.loopback)
        self._http = HttpClient(fetch, settings.loopback, guard, clock)

    async def complete(self, prompt: Prompt) -> Completion:
        """Return the model's words and the tokens it reported.

        Raises:
            JudgeTimedOut: not within `prompt.timeout_s`, or no connection in time.
            JudgeFailed: `model_unavailable`: no connection, or it broke; `model_error`: another status than 200;
                `model_response_too_large`: more bytes or text than the limits; `model_response_invalid`: compressed,
                not JSON, another shape, or no text in it.
        """
        reply = await self._exchange(prompt)
        if reply.status != _OK:
            raise JudgeFailed(tokens=reported_tokens(reply.body))
        key = self._search.agent_api_key.get_secret_value()
        return read_reply(reply.body, most_bytes=MAX_TEXT_BYTES, secrets=(key,))

    async def _exchange(self, prompt: Prompt) -> RawReply:
        outgoing = Outgoing(
            url=self._url,
            method="POST",
            headers=self._headers(),
            body=msgspec.json.encode(self._body(prompt)),
            plain=True,
        )
        try:
            return await self._http.send(
                outgoing,
                total_timeout_s=prompt.timeout_s,
                max_body_bytes=prompt.max_body_bytes,
            )
        except TimedOut as error:
            raise JudgeTimedOut from error
        except BodyTooLarge as error:
            raise JudgeFailed(
                "The model's answer is too large.", code="model_response_too_large"
            ) from error
        except BadReply as error:
            raise JudgeFailed(
                "The model's answer could not be read.", code="model_response_invalid"
            ) from error
        except (Unreachable, AddressRefused) as error:
            raise JudgeFailed("The model cannot be reached.", code=NEVER_SENT) from error

    def _headers(self) -> dict[str, str]:
        key = self._search.agent_api_key.get_secret_value()
        return {
            "authorization": f"Bearer {key}",
            "content-type": "application/json",
            "accept": "application/json",
            # A connection that waited for the next question might be closed just then, and nothing is sent twice.
            "connection": "close",
        }

    def _body(self, prompt: Prompt) -> dict[str, Any]:
        body: dict[str, Any] = {
            "model": self._search.agent_model,
            "messages": prompt.messages,
            "max_tokens": prompt.max_tokens,
            "temperature": 0,
            "stream": False,
        }
        if prompt.quick and urlsplit(self._url).hostname == _NO_THINKING_HOST:
            body["thinking"] = {"type": "disabled"}
        return body

    async def aclose(self) -> None:
        """Close what is open."""
        await self._http.aclose()


def ask(settings: Settings, clock: Clock, prompt: Prompt) -> Completion:
    """Return a completion to a caller without an event loop, such as a worker; raises as `JudgeClient.complete`."""

    async def once() -> Completion:
        client = JudgeClient(settings, clock)
        try:
            return await client.complete(prompt)
        finally:
            await client.aclose()

    return asyncio.run(once())
