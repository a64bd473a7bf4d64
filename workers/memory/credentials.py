"""What looks like a credential: names of files, whole texts that are left out, and what is masked in the rest. Pure.

The rules of the memory guide are the profile `strict` and the default: any name with `key` in it and any long run of
letters and digits is left out. `balanced` lets through what is plainly something else: `monkey.py`, checksums, UUIDs
and long names made of words. `masked` leaves out no file for what is in it: a manual that says `password: ` somewhere
is worth reading, and what stands behind it is masked.
"""

import math
import re
from collections import Counter
from pathlib import PurePosixPath
from typing import Final, Literal

Profile = Literal["strict", "balanced", "masked"]

_NAMES: Final = ("credential", "secret", "key", "token", "password", "passwd")
_NAME_WORD: Final = re.compile(
    r"(?:^|[^a-z])(?:credentials?|secrets?|(?:api|access|private|ssh)?[-_]?keys?|tokens?|passwords?|passwd)(?:[^a-z]|$)"
)
_ENV: Final = re.compile(r"\.env(?:\.|$)")
_KEY_FILE: Final = re.compile(r"^id_(?:rsa|dsa|ecdsa|ed25519)$|\.(?:pem|p12|pfx|jks|kdbx)$")

_SAID: Final = re.compile(
    r"(?:api[ _-]?key|access[ _-]?key|secret|token|password|passwd|credentials?)\s*[:=]"
    r"|authorization:\s*\S|bearer\s+\S|gh[pousr]_[a-z0-9]{20}",
    re.IGNORECASE,
)
_RUN: Final = re.compile(r"(?<![A-Za-z0-9_-])[A-Za-z0-9_-]{32,}(?![A-Za-z0-9_-])")
_CHECKSUM: Final = re.compile(
    r"[0-9a-f]{32}|[0-9a-f]{40}|[0-9a-f]{64}|[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}",
    re.IGNORECASE,
)
_RANDOM_BITS: Final = 3.5  # bits for each character, above which a run is taken for chance

MASK: Final = "[REDACTED]"
# Shapes that nothing else has, wherever they stand; and what is said to be one.
_MASKED: Final = re.compile(
    r"-----BEGIN [A-Z ]*PRIVATE KEY-----.*?(?:-----END [A-Z ]*PRIVATE KEY-----|\Z)"
    r"|\bAKIA[0-9A-Z]{16}\b|\bgh[pousr]_[A-Za-z0-9]{20,}|\bgithub_pat_\w{20,}|\bsk-[A-Za-z0-9_-]{20,}|\bsst_[\w-]{20,}"
    r"|\beyJ[\w-]{8,}\.eyJ[\w-]{8,}\.[\w-]*"
    r"|(?i:(?<=bearer )[^\s\"']{8,}|(?<=://)[^\s/:@\"']{1,64}:[^\s/@\"']{1,200}(?=@))",
    re.DOTALL,
)
# What a text has, in lower case, when one of the two expressions could find something in it: looked for first.
_SHAPED: Final = (
    *(
        "private key",
        "akia",
        "ghp_",
        "gho_",
        "ghu_",
        "ghs_",
        "ghr_",
        "github_pat_",
        "sk-",
        "sst_",
        "eyj",
    ),
    *("bearer ", "://"),
)
_ASSIGNABLE: Final = ("key", "secret", "token", "password", "passwd", "credential")
_ASSIGNED: Final = re.compile(
    r"(?i:((?:api[ _-]?key|access[ _-]?key|secret|token|password|passwd|credential)s?[\"']?\s{0,8}[:=]\s{0,8}[\"']?))"
    r"([^\s\"',;]{6,})"
)


def is_sensitive_name(path: str, profile: Profile = "strict") -> bool:
    """Tell whether a part of a relative path names a place for credentials."""
    return any(_is_sensitive_part(part.lower(), profile) for part in PurePosixPath(path).parts)


def _is_sensitive_part(part: str, profile: Profile) -> bool:
    if _ENV.match(part) or _KEY_FILE.search(part):
        return True
    if profile == "strict":
        return any(name in part for name in _NAMES)
    return bool(_NAME_WORD.search(part))


def is_sensitive_text(text: str, profile: Profile = "strict") -> bool:
    """Tell whether a text is left out as a whole, because something in it looks like a credential."""
    if profile == "masked":
        return False
    if _SAID.search(text) or _MASKED.search(text):
        return True
    runs = (found.group() for found in _RUN.finditer(text))
    return any(profile == "strict" or _is_chance(run) for run in runs)


def _is_chance(run: str) -> bool:
    if _CHECKSUM.fullmatch(run) or not any(each.isdigit() for each in run):
        return False
    counts = Counter(run).values()
    bits = -sum(count / len(run) * math.log2(count / len(run)) for count in counts)
    return bits > _RANDOM_BITS


def mask(text: str) -> str:
    """Return a text with what looks like a credential replaced by `[REDACTED]`; twice is the same as once."""
    folded = text.lower()
    masked = _MASKED.sub(MASK, text) if any(each in folded for each in _SHAPED) else text
    if not any(each in folded for each in _ASSIGNABLE):
        return masked
    return _ASSIGNED.sub(lambda found: found[1] + MASK, masked)
