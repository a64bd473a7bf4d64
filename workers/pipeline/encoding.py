"""How a request travels through the frontier."""

import msgspec
from signal_search.contracts.source import Request

_REQUEST = msgspec.msgpack.Decoder(Request)


def encode_request(request: Request) -> bytes:
    """Return a request as bytes."""
    return msgspec.msgpack.encode(request)


def decode_request(raw: bytes) -> Request:
    """Return the request in `raw`."""
    return _REQUEST.decode(raw)
