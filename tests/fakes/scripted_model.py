"""A chat-completions endpoint that answers by a script and keeps every question."""

import json
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any, NamedTuple

import uvicorn

USAGE = {"prompt_tokens": 30, "completion_tokens": 11, "total_tokens": 41}
GOOD = json.dumps(
    {
        "scorer": {"language": "qatlas-expr-v1", "score": "lexical"},
        "summary": "By lexical.",
        "warnings": [],
    }
)


class Answer(NamedTuple):
    """What is sent back."""

    body: bytes
    status: int = 200
    headers: tuple[tuple[str, str], ...] = ()


Script = Callable[[int], Answer]


def said(text: str, usage: object = USAGE) -> Answer:
    """Return a completion that says this."""
    body = {"choices": [{"message": {"role": "assistant", "content": text}}], "usage": usage}
    return Answer(json.dumps(body).encode())


class ScriptedModel:
    """Answers the n-th question, from 1, with what `script` gives for n."""

    def __init__(self, script: Script) -> None:
        self.script = script
        self.questions: list[dict[str, Any]] = []
        self.port = 0

    async def __call__(self, scope: Any, receive: Any, send: Any) -> None:
        raw = b""
        while True:
            message = await receive()
            raw += message.get("body", b"")
            if not message.get("more_body", False):
                break
        self.questions.append(json.loads(raw))
        answer = self.script(len(self.questions))
        named = (("content-type", "application/json"), *answer.headers)
        headers = [(name.encode(), value.encode()) for name, value in named]
        await send({"type": "http.response.start", "status": answer.status, "headers": headers})
        await send({"type": "http.response.body", "body": answer.body})


@contextmanager
def scripted(script: Script) -> Iterator[ScriptedModel]:
    """Serve on a free port of this machine until the block ends."""
    model = ScriptedModel(script)
    config = uvicorn.Config(
        model, host="127.0.0.1", port=0, log_level="warning", lifespan="off", ws="none"
    )
    server = uvicorn.Server(config)
    thread = threading.Thread(target=server.run, daemon=True)
    thread.start()
    while not server.started:
        thread.join(0.01)
        assert thread.is_alive(), "the model did not start"
    model.port = server.servers[0].sockets[0].getsockname()[1]
    try:
        yield model
    finally:
        server.should_exit = True
        thread.join(10)
