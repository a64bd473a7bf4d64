"""api.x.ai: the Responses API of a model that is asked to search.

The model here names pages of the open web for what stands between the <query> tags, in fenced JSON, with words of its
own beside them and one page that does not exist: what a model says about a page is not what the page says. Without the
tool `web_search` it knows of no page but that one. At the chat endpoint, where gateways search by themselves, it says
the same as a chat completion.
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
    "input": list,
    "tools": list,
    "tool_choice": str,
    "max_output_tokens": int,
    "max_turns": int,
    "temperature": (int, float),
    "top_p": (int, float),
    "store": bool,
    "stream": bool,
}
_CHAT_SHAPE: Final[dict[str, type | tuple[type, ...]]] = {
    "model": str,
    "messages": list,
    "max_tokens": int,
    "temperature": (int, float),
    "top_p": (int, float),
    "stream": bool,
}
_TOOLS: Final = frozenset({"web_search", "x_search", "code_interpreter"})
_QUERY = re.compile(r"<query>([\s\S]*)</query>")
_MODEL = re.compile(r"grok-[a-z0-9-]+(?:\.[0-9]+)?")
_CHAT: Final = "/v1/chat/completions"


class Grok:
    """A model with a search engine."""

    def __call__(self, ask: Ask) -> Answer:
        """Answer one request."""
        if ask.path == _CHAT and ask.method == "POST" and b"search_parameters" in ask.body:
            return _refusal(410, "Live search is deprecated. Please switch to the Agent Tools API.")
        if ask.path not in {"/v1/responses", _CHAT}:
            return _refusal(404, "No such endpoint.")
        if ask.method != "POST":
            return exchange.method_not_allowed("POST")
        if not KEY.fullmatch(json_body.bearer(ask)):
            return _refusal(401, "Incorrect API key provided.")
        body = json_body.read(ask)
        is_chat = ask.path == _CHAT
        shape = _CHAT_SHAPE if is_chat else _SHAPE
        wrong = "Failed to parse the request body." if body is None else _wrong(body, shape)
        if body is None or wrong:
            return _refusal(400, wrong)
        return _completion(body) if is_chat else _response(body)


def _refusal(status: int, told: str) -> Answer:
    return exchange.json({"code": str(status), "error": told}, status=status, complaint=told)


def _wrong(body: dict[str, Any], shape: json_body.Shape) -> str:
    name = json_body.wrong_field(body, shape)
    if name:
        return f"Invalid argument: {name}."
    if not _MODEL.fullmatch(body.get("model", "")):
        return "The model does not exist."
    if not set(_of(body, "tools", "type")) <= _TOOLS:
        return "Invalid argument: tools."
    if not 0 <= body.get("temperature", 1) <= 2 or body.get("max_output_tokens", 1) < 1:
        return "Invalid argument: temperature or max_output_tokens."
    told = "input" if "input" in shape else "messages"
    return "" if _of(body, told, "role") == ["system", "user"] else f"Invalid argument: {told}."


def _of(body: dict[str, Any], field: str, key: str) -> list[object]:
    items = body.get(field, [])
    return [each.get(key) if isinstance(each, dict) else None for each in items]


def _response(body: dict[str, Any]) -> Answer:
    searches = "web_search" in _of(body, "tools", "type")
    pages = _pages(body["input"]) if searches else []
    text = _said(pages, invents=bool(pages) or not searches)
    cited = [_citation(page, text) for page in pages[:1]]
    part = {"type": "output_text", "text": text, "annotations": cited, "logprobs": []}
    message = {"type": "message", "role": "assistant", "status": "completed", "content": [part]}
    call = {"type": "web_search_call", "status": "completed", "action": {"type": "search"}}
    return exchange.json(
        {
            "id": "loopback",
            "object": "response",
            "model": body["model"],
            "status": "completed",
            "output": [call, message] if searches else [message],
            "usage": {"input_tokens": 200, "output_tokens": 100, "total_tokens": 300},
        }
    )


def _completion(body: dict[str, Any]) -> Answer:
    pages = _pages(body["messages"])
    message = {"role": "assistant", "content": _said(pages, invents=bool(pages))}
    return exchange.json(
        {
            "id": "loopback",
            "object": "chat.completion",
            "model": body["model"],
            "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
            "usage": {"prompt_tokens": 200, "completion_tokens": 100, "total_tokens": 300},
        }
    )


def _pages(messages: list[dict[str, Any]]) -> list[open_web.Found]:
    said = messages[1].get("content", "")
    asked = _QUERY.search(said if isinstance(said, str) else "")
    return open_web.find(asked[1])[:4] if asked else []


def _said(pages: list[open_web.Found], *, invents: bool) -> str:
    results: list[dict[str, object]] = [
        {
            "title": page.title,
            "url": page.url,
            "snippet": "A page that a model describes.",
            "published_date": page.published or "",
        }
        for page in pages
    ]
    if invents:
        results.append({"title": "Invented", "url": INVENTED, "snippet": "It does not exist."})
    return f"```json\n{msgspec.json.encode({'results': results}).decode()}\n```"


def _citation(page: open_web.Found, text: str) -> dict[str, object]:
    start = text.find(page.url)
    return {
        "type": "url_citation",
        "url": page.url,
        "title": page.title,
        "start_index": start,
        "end_index": start + len(page.url),
    }
