"""The bounds of texts that several requests have."""

from typing import Annotated

from msgspec import Meta

QueryText = Annotated[str, Meta(min_length=1, max_length=4000)]
