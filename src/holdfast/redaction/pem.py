"""Find private keys in PEM armor, also when the end is missing or the text is quoted.

Tools cut their output, so a key often has no last line: what follows its first line is then
taken as long as it can only be key material.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from typing import TYPE_CHECKING

from holdfast.redaction.spans import Mask, Span

if TYPE_CHECKING:
    from holdfast.redaction.survey import Survey

__all__ = ["private_key_pass"]

_BEGIN = re.compile(rb"-----begin[ a-z0-9]{0,40}private key(?: block)?-----")
_END = re.compile(rb"-----end[ a-z0-9]{0,40}private key(?: block)?-----")
_LONGEST_KEY = 65_536
# Lines of base64 in any dress: indented, quoted, joined in code, or with escaped line breaks.
# The alternatives begin with different characters, so there is one way to read any text.
_MATERIAL = re.compile(
    rb"(?:\\{1,4}[nr]|[A-Za-z0-9+/]{16,}+={0,2}|[\s\"'`,>|#*]|\+(?=[\s\"'])"
    rb"|(?:proc-type|dek-info|version|comment):[^\n\\]{0,120})*+"
    rb"(?:(?<=[\nnr\"'])[A-Za-z0-9+/]{1,15}+={0,2}(?=[\s\"'\\]|$))?",
    re.IGNORECASE,
)
_PLAIN_MATERIAL = re.compile(rb"[A-Za-z0-9+/]{24}")


def private_key_pass(view: Survey) -> list[Span]:
    """Return private keys with their armor, whole; or as far as the text has them."""
    first = view.lower.find(b"-----begin")
    begins = list(_BEGIN.finditer(view.lower, first)) if first >= 0 else []
    if not begins:
        return []
    ends = list(_END.finditer(view.lower))
    end_starts = [end.start() for end in ends]
    spans: list[Span] = []
    for index, begin in enumerate(begins):
        limit = begins[index + 1].start() if index + 1 < len(begins) else len(view.raw)
        limit = min(limit, begin.end() + _LONGEST_KEY)
        following = bisect_left(end_starts, begin.end())
        if following < len(ends) and ends[following].start() < limit:
            body_stop, stop = ends[following].start(), ends[following].end()
        else:
            body_stop = stop = _material_end(view.raw, begin.end(), limit)
        if _PLAIN_MATERIAL.search(view.raw, begin.end(), body_stop):
            spans.append(Span(begin.start(), stop, Mask.KEY_BLOCK))
    return spans


def _material_end(raw: bytes, start: int, limit: int) -> int:
    found = _MATERIAL.match(raw, start, limit)
    stop = found.end() if found else start
    # White space and quotes after the last line belong to the text around the key.
    return start + len(raw[start:stop].rstrip(b" \t\r\n\"'`,>|#*+"))
