"""Words of the web inside our Markdown: escaped, so that no page can put markup or links into an answer."""

import re

from signal_search.citations.works import link_target

_MARKUP = re.compile(r"([\\`*_\[\]<>|#])")


def escape(text: str) -> str:
    """Return a text on one line in which nothing is markup."""
    return _MARKUP.sub(r"\\\1", " ".join(text.split()))


def link(title: str, url: str) -> str:
    """Return a link with an escaped title; the address itself where there is none."""
    target = link_target(url).replace("(", "%28").replace(")", "%29")
    return f"[{escape(title or url)}]({target})" if target else escape(title or url)
