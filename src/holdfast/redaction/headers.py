"""Find credentials in HTTP headers: Authorization of any scheme, bearer tokens, cookies."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from typing import TYPE_CHECKING

from holdfast.redaction.names import Kind
from holdfast.redaction.spans import Span
from holdfast.redaction.values import is_placeholder, is_random

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.redaction.sites import Site
    from holdfast.redaction.survey import Survey

__all__ = ["authorization_pass", "bearer_pass", "cookie_pass"]

_AUTHORIZATION = re.compile(
    rb"\\{0,3}[\"'`]?[ \t]{0,4}(?:f?\\{0,3}[\"'`])?"
    rb"(?:(basic|bearer|token|digest|negotiate|apikey|api-key|api-token|oauth|key|bot|splunk"
    rb"|genie?key|ghost|hawk|jwt|ssws|discogs|[a-z]{1,12}-(?:token|key|auth))[ \t]{1,4})?"
    rb"([^\s\"'`,;<>(){}\\]{1,4096})",
    re.IGNORECASE,
)
_DIGEST = re.compile(rb"\b(?:response|cnonce)=\\{0,3}\"?([0-9a-f]{16,128})", re.IGNORECASE)
_DIGEST_REACH = 1024
_BEARER = re.compile(rb"bearer(?:[ \t]|%20|\+){1,4}([\w.~+/=-]{16,4096})")
_FIRST_LOOK = 256
_SHORTEST = 8
_SHORTEST_BASIC = 6


def authorization_pass(view: Survey, sites: Iterable[Site]) -> list[Span]:
    """Return the credentials of Authorization headers, with or without a scheme before them."""
    raw = view.raw
    spans: list[Span] = []
    for site in sites:
        if site.kind is not Kind.AUTH:
            continue
        # A line of such words is one value after the other, each as long as the rest of the line.
        found = _AUTHORIZATION.match(raw, site.value, site.value + _FIRST_LOOK)
        if found is None:
            continue
        scheme = (found.group(1) or b"").lower()
        if scheme == b"digest":
            spans.extend(_digest(raw, found.start(2)))
        elif b"://" not in found.group(2):
            whole = _AUTHORIZATION.match(raw, site.value) or found
            if _is_credential(scheme, whole.group(2)):
                spans.append(Span(whole.start(2), whole.end(2)))
    return spans


def bearer_pass(view: Survey) -> list[Span]:
    """Return tokens that the word bearer announces, wherever it stands."""
    return [
        Span(found.start(1), found.end(1))
        for found in _BEARER.finditer(view.lower)
        if _is_credential(b"bearer", view.raw[found.start(1) : found.end(1)])
    ]


_COOKIE_LINE = re.compile(rb"[ \t\"'\\]{0,6}([^\r\n\"'\\`]{1,4096})")
_COOKIE = re.compile(rb"(?<![\w.$-])([\w.$-]{1,64}+)=([^\s;,\"'\\]{1,4096})")
_ATTRIBUTES = frozenset(b"path domain expires max-age samesite priority version".split())
_TELLING = re.compile(rb"sess|sid|auth|token|jwt|login|csrf|xsrf|remember|secret|key|id\Z")
_SHORTEST_COOKIE = 6


def cookie_pass(view: Survey, sites: Iterable[Site]) -> list[Span]:
    """Return the values of cookies that identify somebody; `theme=dark` is none."""
    raw = view.raw
    spans: list[Span] = []
    seen = 0
    headers = (site.value for site in sites if site.kind is Kind.COOKIE)
    for value in sorted(headers):
        if value < seen:
            continue
        line = _COOKIE_LINE.match(raw, value)
        if line is None:
            continue
        seen = line.end()
        spans += [
            Span(cookie.start(2), cookie.end(2))
            for cookie in _COOKIE.finditer(raw, line.start(1), seen)
            if _identifies(cookie.group(1).lower(), cookie.group(2))
        ]
    return spans


def _identifies(name: bytes, value: bytes) -> bool:
    if name in _ATTRIBUTES or len(value) < _SHORTEST_COOKIE or is_placeholder(value):
        return False
    return bool(_TELLING.search(name)) or is_random(value)


def _digest(raw: bytes, start: int) -> list[Span]:
    line_end = raw.find(b"\n", start, start + _DIGEST_REACH)
    stop = line_end if line_end >= 0 else start + _DIGEST_REACH
    return [Span(*found.span(1)) for found in _DIGEST.finditer(raw, start, stop)]


def _is_credential(scheme: bytes, credential: bytes) -> bool:
    if is_placeholder(credential) or b"://" in credential:
        return False
    if scheme == b"basic" and len(credential) >= _SHORTEST_BASIC and _is_pair(credential):
        return True
    return len(credential) >= _SHORTEST and is_random(credential)


def _is_pair(encoded: bytes) -> bool:
    """Return whether this is the base64 of `user:password`."""
    try:
        pair = a2b_base64(encoded[:512] + b"=" * (-len(encoded[:512]) % 4))
    except Error:
        return False
    return b":" in pair and pair.isascii()
