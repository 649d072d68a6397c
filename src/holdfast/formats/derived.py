"""Ids that follow from a text, for writers: writing a session twice gives the same bytes."""

from __future__ import annotations

import re
from hashlib import sha256

__all__ = ["derived_uuid", "digest", "is_uuid"]

_UUID = re.compile(r"[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}", re.IGNORECASE)


def is_uuid(text: str) -> bool:
    """Say whether a text is a UUID as programs write them."""
    return _UUID.fullmatch(text) is not None


def derived_uuid(text: str) -> str:
    """Return a UUID that is always the same for the same text."""
    digits = digest(text)
    ends = f"8{digits[16:19]}-{digits[20:32]}"
    return f"{digits[:8]}-{digits[8:12]}-5{digits[12:15]}-{ends}"


def digest(text: str) -> str:
    """Return 64 letters that fix a text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
