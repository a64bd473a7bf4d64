"""api.x.ai: the chat completions of a model that is asked to search.

The model here names pages of the open web for what stands between the <query> tags, in fenced JSON, with words of its
own beside them and one page that does not exist: what a model says about a page is not what the page says.
"""

import re
from typing import Any, Final

import msgspec

from infra.loopback_web import exchange, json_body, open_web
from infra.loopback_web.exchange import Answer, Ask

KEY = re.compile(r"xai-[A-Za-z0-9_-]{8,}")
INVENTED: Final = "http://harbour.test/not-a-page"
_SHAPE: Final[dict[str, type | tuple[type, ...]]] = {
    "model": str,
    "messages": list,
    "max_tokens": int,
    "temperature": (int, float),
    "stream": bool,
}
_QUERY = re.compile(r"<query>([\s\S]*)</query>")
_MODEL = re.compile(r"grok-[a-z0-9.-]+")


class Grok:
    """A model with a search engine."""

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.path != "/v1/chat/completions":
            return _refusal(404, "No such endpoint.")
        if ask.method != "POST":
            return exchange.method_not_allowed("POST")
        if not KEY.fullmatch(json_body.bearer(ask)):
            return _refusal(401, "Incorrect API key provided.")
        body = json_body.read(ask)
        wrong = "Failed to parse the request body." if body is None else _wrong(body)
        return _refusal(400, wrong) if body is None or wrong else _completion(body)


def _refusal(status: int, told: str) -> Answer:
    return exchange.json({"code": str(status), "error": told}, status=status, complaint=told)


def _wrong(body: dict[str, Any]) -> str:
    name = json_body.wrong_field(body, _SHAPE)
    if name:
        return f"Invalid argument: {name}."
    if not _MODEL.fullmatch(body.get("model", "")):
        return "The model does not exist."
    messages = body.get("messages", [])
    roles = [each.get("role") if isinstance(each, dict) else None for each in messages]
    return "" if roles == ["system", "user"] else "Invalid argument: messages."


def _completion(body: dict[str, Any]) -> Answer:
    said = body["messages"][1].get("content", "")
    asked = _QUERY.search(said if isinstance(said, str) else "")
    pages = open_web.find(asked[1])[:4] if asked else []
    results = [
        {"title": page.title, "url": page.url, "snippet": "A page that a model describes."}
        for page in pages
    ]
    if results:
        results.append({"title": "Invented", "url": INVENTED, "snippet": "It does not exist."})
    text = msgspec.json.encode({"results": results}).decode()
    message = {"role": "assistant", "content": f"```json\n{text}\n```", "refusal": None}
    return exchange.json(
        {
            "id": "loopback",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 200, "completion_tokens": 100, "total_tokens": 300},
        }
    )
