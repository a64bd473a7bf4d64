"""Claims whose truth only running shows: they hold code and say what it does.

Code is what stands in backquotes, behind a prompt, or has the form of a call; a name alone is none. Ours, and narrow
on purpose: a claim that is passed over is verified by its words like any other.
"""

import re

_BACKQUOTED = re.compile(r"`([^`\n]{3,400})`")
_PROMPTED = re.compile(r"(?:^|\s)(?:>>>|\$)\s+(\S[^\n]{1,400})")
_CALL = re.compile(r"\b[A-Za-z_][\w.]*\((?:[^()\n]|\([^()\n]*\)){0,200}\)")
_OUTCOME = re.compile(
    r"\b(?:returns?|prints?|outputs?|yields?|raises?|throws?|evaluates? to|results? in|fails?|crashes)\b"
    r"|返回|输出|打印|抛出|报错|得到|结果为",
    re.IGNORECASE,
)


def code_in(text: str) -> str:
    """Return the code that a claim depends on, '' when it holds none or does not say what the code does."""
    if not _OUTCOME.search(text):
        return ""
    for pattern in (_BACKQUOTED, _PROMPTED):
        found = pattern.search(text)
        if found is not None:
            return found[1].strip()
    call = _CALL.search(text)
    return call[0] if call is not None else ""
