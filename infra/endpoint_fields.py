"""What a setting that names an endpoint of somebody else's, or holds its key, may be: the same for every section."""

import re
from typing import Annotated

from pydantic import AfterValidator, Field, SecretStr

# http or https, a host, and neither credentials nor a query nor a fragment.
_ADDRESS = re.compile(r"https?://[^\s/?#@]+(?:/[^\s?#@]*)?", re.IGNORECASE)


def _address(value: str) -> str:
    bare = value.strip()
    if bare and not _ADDRESS.fullmatch(bare):
        msg = "must be an http or https address without user information, query or fragment"
        raise ValueError(msg)
    return bare


def _sendable(value: SecretStr) -> SecretStr:
    key = value.get_secret_value().strip()
    if not (key.isascii() and key.isprintable()) or " " in key:
        msg = "must be visible ASCII without blanks, to stand in a header"
        raise ValueError(msg)
    return SecretStr(key)


EndpointAddress = Annotated[str, Field(max_length=2048), AfterValidator(_address)]
"""An http or https address of at most 2,048 characters, or "" for none; blanks around it do not count."""

EndpointKey = Annotated[SecretStr, AfterValidator(_sendable)]
"""A key that can stand in a header, or "" for none; blanks around it do not count."""
