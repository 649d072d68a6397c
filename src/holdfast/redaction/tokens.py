"""Find vendors' tokens wherever they stand, without any name beside them.

All but a few have a run of twenty token characters somewhere. Such runs are rare, are found
with one literal search, and each is looked at once: what it begins with, what stands before
it, and what follows.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from typing import TYPE_CHECKING

from holdfast.redaction.spans import Span
from holdfast.redaction.survey import STICKY, long_runs, run_start, unglued
from holdfast.redaction.values import is_monotone, is_placeholder, is_random, is_varied
from holdfast.redaction.vendors import token_end, vendors_by_opening

if TYPE_CHECKING:
    from holdfast.redaction.survey import Survey
    from holdfast.redaction.vendors import Vendor

__all__ = ["jwt_pass", "short_token_pass", "vendor_pass"]

_VENDORS = vendors_by_opening()

# Tokens with dots in them. The part before the last dot is what gives them away.
_DOT_BEFORE = frozenset(
    b"""SG. vs. vb. vr. 29. pt. ct. st. sa. im. it. sk. pk. sl. .u. .b. v1. at. sn. t1. 01. xe.
    """.split(),
)
_DOTTED = re.compile(
    rb"SG\.[\w-]{20,24}\.[\w-]{39,50}(?![\w-])|hv[sbr]\.[\w-]{20,}+|s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![\w-])"
    rb"|ya29\.[\w-]{20,}+|dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}"
    rb"|[sp]k\.eyJ[\w-]{20,}+\.[\w-]{20,}+|sl\.(?:[ub]\.)?[\w-]{60,}+"
    rb"|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}|[ps]at\.[\w-]{22}\.\w{24}\.\w{20}"
    rb"|dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}|mlsn\.\w{30,}+"
    rb"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?!\w)|t1\.[\w=-]{10,200}\.[\w-]{86}"
    rb"|xoxe\.xox[bp]-\d-[A-Za-z0-9]{100,200}",
)
_AFTER_COLON = re.compile(rb"\d{8,10}:AA[\w-]{33}(?![\w-])")
_AFTER_BAR = re.compile(rb"\d{15,16}\|[\w-]{27,40}(?![\w-])")
_AFTER_TILDE = re.compile(rb"sha256~[\w-]{43}(?![\w-])")
_BOT = re.compile(rb"[\w-]{23,28}\.[\w-]{6}\.[\w-]{27,38}(?![\w.-])")
_BOT_LENGTHS = range(23, 29)
_AIRTABLE = 64
_MAILCHIMP = re.compile(rb"[0-9a-f]{32}-us\d{1,2}\Z")
_MAILCHIMP_LENGTHS = (36, 37)


def vendor_pass(view: Survey) -> list[Span]:
    """Return the tokens whose prefix or build belongs to one vendor."""
    raw = view.raw
    padded = raw + b"  "
    rows = _VENDORS.get
    spans: list[Span] = []
    for start, stop in long_runs(view):
        before = padded[start - 1]
        if before in STICKY:
            start = unglued(raw, start)
        # After a dot it is the ending of a name, as in `favicon.ico-7a38`, or a dotted token.
        if before != _DOT and (vendors := rows(raw[start : start + 2])):
            length = _vendor_token(raw[start:stop], vendors)
            if length:
                spans.append(Span(start, start + length))
                continue
        if before in _TELLING or padded[stop] == _DOT or stop - start in _MAILCHIMP_LENGTHS:
            spans.extend(_built(view, start, stop))
    return spans


_DOT = 0x2E
_TELLING = frozenset(b".:|~")


def _vendor_token(run: bytes, vendors: dict[int, dict[bytes, list[Vendor]]]) -> int:
    """Return the length of the token that a run begins with; zero when it begins with none.

    The longest prefix decides: what is not a token of that vendor is none of a vaguer one.
    """
    for length, prefixes in vendors.items():
        decided = prefixes.get(run[:length])
        if decided:
            return next(filter(None, (token_end(run, vendor) for vendor in decided)), 0)
    return 0


def _built(view: Survey, start: int, stop: int) -> list[Span]:
    """Return the token that a run is part of, judged by its neighborhood."""
    raw = view.raw
    before = raw[start - 1 : start]
    found = None
    if before == b"." and (
        raw[start - 3 : start] in _DOT_BEFORE or _may_be_dotted(raw, start, stop)
    ):
        found = _DOTTED.match(raw, _dotted_start(view, start))
    elif before == b":":
        found = _AFTER_COLON.match(raw, _digits_before(raw, start - 1))
    elif before == b"|":
        found = _AFTER_BAR.match(raw, _digits_before(raw, start - 1))
    elif before == b"~":
        found = _AFTER_TILDE.match(raw, start - len("sha256~"))
    if found is None and stop - start in _BOT_LENGTHS:
        found = _BOT.match(raw, start)
    if found is None and stop - start in _MAILCHIMP_LENGTHS:
        found = _MAILCHIMP.match(raw, start, stop)
    if found is None:
        return []
    secret = found.group()
    convincing = is_varied(secret) and is_random(secret) and not is_placeholder(secret)
    return [Span(found.start(), found.end())] if convincing else []


def _may_be_dotted(raw: bytes, start: int, stop: int) -> bool:
    """Return whether a run after a dot ends a token whose start is not telling by itself."""
    if stop - start == _AIRTABLE:
        return True
    return raw[start - 2 : start] == b"s." and not raw[max(0, start - 3) : start - 2].isalnum()


def _dotted_start(view: Survey, start: int) -> int:
    """Return where a token of up to three dotted parts begins, given where its long part does."""
    begin = run_start(view, start - 1, reach=40)
    if begin > 1 and view.raw[begin - 1] == _DOT:
        begin = run_start(view, begin - 1, reach=40)
    return unglued(view.raw, begin)


_LONGEST_ID = 17


def _digits_before(raw: bytes, stop: int) -> int:
    """Return where the digits that end at a position begin; `/bot` may precede them."""
    start = stop
    while start > max(0, stop - _LONGEST_ID) and raw[start - 1 : start].isdigit():
        start -= 1
    glued = raw[start - 1 : start].isalpha() and raw[max(0, start - 4) : start] != b"/bot"
    return stop if glued and unglued(raw, start - 1) != start else start


_OPENING = re.compile(rb"J(?<=eyJ)")
_JWT = re.compile(rb"eyJ([\w-]{10,}+)={0,2}\.[\w-]{10,}+(?:\.[\w-]*+){0,3}")
_OPAQUE = re.compile(rb"eyJrIjoi[A-Za-z0-9]{60,}+={0,2}")
_LONGEST_HEADER = 4096


def jwt_pass(view: Survey) -> list[Span]:
    """Return JSON Web Tokens: their first part must decode to the header of one."""
    raw = view.raw
    if b"J" not in raw:
        return []
    spans: list[Span] = []
    # A token does not begin inside a run that was read already; what was read is behind us.
    seen = 0
    for opening in _OPENING.finditer(raw):
        start = opening.start() - 2
        if start < seen:
            continue
        found = _JWT.match(raw, start) or _OPAQUE.match(raw, start)
        if found and (found.re is _OPAQUE or _is_header(b"eyJ" + found.group(1))):
            spans.append(Span(found.start(), found.end()))
            seen = found.end()
        else:
            seen = view.runs.find(b" ", start)
            if seen < 0:
                break
    return spans


def _is_header(encoded: bytes) -> bool:
    encoded = encoded[:_LONGEST_HEADER].translate(bytes.maketrans(b"-_", b"+/"))
    try:
        header = a2b_base64(encoded + b"=" * (-len(encoded) % 4))
    except Error:
        return False
    return header.rstrip().endswith(b"}") and (b'"alg"' in header or b'"typ"' in header)


# A short token has no long run; its literal is rare enough to be looked for by itself. The ids
# of access keys begin with the same letter, and one scan serves both: a look ahead, so that
# the one does not swallow the other.
_LETTER_A = re.compile(
    rb"A(?:([KS]IA[A-Z0-9]{16}(?![A-Za-z0-9_-]))"
    rb"|(?=((?:KC(?<![^\s=:\"'\\]AKC)[A-Za-z0-9]{10,128}+"
    rb"|P(?<![^\s=:\"'\\]AP)[0-9A-F][A-Za-z0-9]{8,128}+)(?![^\s\"'\\,;]))))",
)
_ID, _SHORT = 1, 2
_AZURE = re.compile(rb"~(?<=[\w~.-]{3}[78]Q~)[\w~.-]{31,34}(?![\w~-])")
_AZURE_FRONT = 5


def short_token_pass(view: Survey) -> list[Span]:
    """Return tokens that literals give away which hardly occur otherwise.

    They have no run long enough, or stand near the id of an access key.
    """
    raw = view.raw
    spans: list[Span] = []
    access_keys: list[re.Match[bytes]] = []
    for found in _LETTER_A.finditer(raw):
        if found.lastindex == _ID:
            access_keys.append(found)
            continue
        rest = found.group(_SHORT)[2:]
        if is_monotone(rest) or not rest.isalpha():
            spans.append(Span(found.start(), found.end(_SHORT)))
    if access_keys:
        spans += _cloud_keys(raw, access_keys)
    return spans + _azure(raw) if b"~" in raw else spans


def _azure(raw: bytes) -> list[Span]:
    spans: list[Span] = []
    for found in _AZURE.finditer(raw):
        rest = found.group()[1:]
        if is_random(rest) and not is_placeholder(rest):
            spans.append(Span(found.start() - _AZURE_FRONT, found.end()))
    return spans


_SECRET_ACCESS_KEY = re.compile(rb"(?<![A-Za-z0-9/+_=-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+_=-])")
_NEAR = 300


def _cloud_keys(raw: bytes, access_keys: list[re.Match[bytes]]) -> list[Span]:
    """Return secret access keys that stand near the id of an AWS access key.

    They have no prefix; forty characters of base64 beside such an id can be little else.
    """
    spans: list[Span] = []
    seen = 0
    for found in access_keys:
        for near in _SECRET_ACCESS_KEY.finditer(
            raw, max(seen, found.start() - _NEAR), found.end() + _NEAR
        ):
            secret = near.group()
            # A digest is no key, however near it stands.
            generated = secret.translate(None, b"0123456789abcdef") and is_random(secret)
            if generated and not is_placeholder(secret):
                spans.append(Span(near.start(), near.end()))
        seen = found.end() + _NEAR
    return spans
