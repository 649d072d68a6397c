"""What an error teaches about a model's window.

Local servers and proxies often serve a smaller window than the model's card promises; the error
that refuses a request is the only place that states the true one.
"""

from __future__ import annotations

import re

__all__ = ["window_from_error"]

_SMALLEST, _LARGEST = 256, 100_000_000
_STATEMENTS = (
    re.compile(r"n_ctx\D{0,8}(\d{3,9})"),
    re.compile(r"maximum (?:context|prompt) length (?:is|of)\D{0,8}(\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r"(\d[\d,]{2,11}) maximum context length", re.IGNORECASE),
    re.compile(r"tokens allowed \(?(\d[\d,]{2,11})\)?", re.IGNORECASE),
    re.compile(r"context limit: [\d,]+ \+ [\d,]+ > (\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r"context (?:window|length|size)[^\d\n]{0,40}(\d[\d,]{2,11})", re.IGNORECASE),
    re.compile(r">\s{0,4}(\d[\d,]{2,11})\s{0,4}(?:maximum|max\b)", re.IGNORECASE),
    re.compile(r"max_model_len\D{0,8}(\d{3,9})"),
)


def window_from_error(text: str) -> int | None:
    """Return the window that the error text states, or None when it states none."""
    for statement in _STATEMENTS:
        found = statement.search(text[:20_000])
        if found:
            tokens = int(found.group(1).replace(",", ""))
            if _SMALLEST <= tokens <= _LARGEST:
                return tokens
    return None
