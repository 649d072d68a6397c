"""Find vendors' tokens wherever they stand, without any name beside them.

All but a few have a run of twenty token characters somewhere. Such runs are rare, are found
with one literal search, and each is looked at once: what it begins with, what stands before
it, and what follows.

A row of the vendors' table is chosen by two letters and compared with a prefix, a length and an
alphabet: no pattern is run, so there is nothing that could backtrack. Private keys in PEM armor
often have no last line, because tools cut their output: what follows the first line is then taken
as long as it can only be key material.
"""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from bisect import bisect_left
from dataclasses import dataclass
from enum import Enum
from functools import lru_cache
from typing import TYPE_CHECKING, assert_never

from holdfast.redaction.sites import split_words
from holdfast.redaction.spans import (
    ALNUM,
    STICKY,
    Mask,
    SecretSpan,
    find_each,
    long_runs,
    run_start,
    unglued,
)
from holdfast.redaction.values import counts_up, is_monotone, is_placeholder, is_random, is_varied
from holdfast.redaction.vendor_tables import (
    CLOUDS,
    EVEN_AFTER_DOT,
    FORGES,
    MESSAGES_AND_MONEY,
    MODELS,
    SERVICES,
)

if TYPE_CHECKING:
    from holdfast.redaction.spans import TextViews

_UNLIMITED = 1 << 30
_ALPHABETS = {
    "alnum": ALNUM,
    "word": ALNUM + b"_",
    "slug": ALNUM + b"_-",
    "hex": b"0123456789abcdefABCDEF",
    "hexdash": b"0123456789abcdefABCDEF-",
    "lower": b"abcdefghijklmnopqrstuvwxyz0123456789",
    "upper": b"ABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789",
    "digits": b"0123456789",
}
_DIGITS_FIRST = _ALPHABETS["hex"]
_FEW_DIGITS = 6
_THRICE = re.compile(rb"(.)\1\1")
# Tokens with dots in them. The part before the last dot is what gives them away.
_DOT_BEFORE = frozenset(
    b"""SG. vs. vb. vr. 29. pt. ct. st. sa. im. it. sk. pk. sl. .u. .b. v1. at. sn. t1. 01. xe.
    AQ. IQ. ve. us. eu. ca. 00. 01. 02. 03.""".split(),
)
_DOTTED = re.compile(
    rb"SG\.[\w-]{20,24}\.[\w-]{39,50}(?![\w-])|hv[sbr]\.[\w-]{20,}+|s\.(?=[A-Za-z]{0,23}\d)[A-Za-z0-9]{24}(?![\w-])"
    rb"|ya29\.[\w-]{20,}+|dp\.(?:pt|ct|st|sa|scim|audit)\.(?:[\w-]{2,35}\.)?[A-Za-z0-9]{40,44}"
    rb"|[sp]k\.eyJ[\w-]{20,}+\.[\w-]{20,}+|sl\.(?:[ub]\.)?[\w-]{60,}+"
    rb"|[A-Za-z0-9]{14}\.atlasv1\.[\w=-]{60,70}|[ps]at\.[\w-]{22}\.\w{24}\.\w{20}"
    rb"|dt0[a-z]\d\d\.[A-Z0-9]{24}\.[A-Z0-9]{64}|mlsn\.\w{30,}+"
    rb"|pat[A-Za-z0-9]{14}\.[a-f0-9]{64}(?!\w)|t1\.[\w=-]{10,200}\.[\w-]{86}"
    rb"|xoxe\.xox[bp]-\d-[A-Za-z0-9]{100,200}|[AI]Q\.[\w-]{40,60}(?![\w-])"
    rb"|api_(?:live|sandbox)(?:_[a-z]{2})?\.[\w-]{20,}+|100\d\.[0-9a-f]{32}\.[0-9a-f]{32}(?!\w)"
    rb"|v1\.0-[0-9a-f]{24,64}-[0-9a-f-]{128,200}",
)
# What a token goes on with behind a run: base64 with its signs, a checksum, or a route.
_GOES_ON = (
    (
        (b"sntrys_", b"fm2_", b"fm1", b"glc_", b"BBDC-", b"pscale_"),
        re.compile(rb"[+/=.][A-Za-z0-9+/=_-]{0,4096}"),
    ),
    ((b"AT",), re.compile(rb"=[0-9A-F]{8}(?![A-Za-z0-9])")),
    ((b"gl",), re.compile(rb"(?:\.[0-9a-z]{2})?\.[0-9a-z]{9}(?![A-Za-z0-9])")),
)
_CONTINUED = frozenset(b"+/=.")
_FLY = b"fm2_"
_MACAROON = re.compile(rb"fm2_[A-Za-z0-9+/]{40,4096}={0,2}")
_REFRESH = re.compile(rb"1//0[\w-]{40,}+")
_SLASH = 0x2F
_INSIDE = frozenset(b"+/")
_FAR = 300
_AFTER_COLON = re.compile(rb"\d{8,10}:AA[\w-]{33}(?![\w-])")
_AFTER_BAR = re.compile(rb"\d{15,16}\|[\w-]{27,40}(?![\w-])")
_AFTER_TILDE = re.compile(rb"sha256~[\w-]{43}(?![\w-])")
_BOT = re.compile(rb"[\w-]{23,28}\.[\w-]{6}\.[\w-]{27,38}(?![\w-]|\.[\w-])")
_BOT_LENGTHS = range(23, 29)
_AIRTABLE = 64
_MAILCHIMP = re.compile(rb"[0-9a-f]{32}-us\d{1,2}\Z")
_MAILCHIMP_LENGTHS = (36, 37)
_PERSONAL = re.compile(rb"[A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4,5}\Z")
_PERSONAL_LENGTHS = (84, 85)
# A number and a key, as TrueNAS has them.
_NUMBERED = re.compile(rb"\d{1,3}-[A-Za-z0-9]{64}\Z")
_NUMBERED_LENGTHS = (66, 67, 68)
_LICENSE = re.compile(rb"[A-Za-z0-9]{6}_[A-Za-z0-9]{29}_mmk\Z")
_LICENSE_LENGTH = 40
_OWN_LENGTHS = frozenset(
    {*_MAILCHIMP_LENGTHS, *_PERSONAL_LENGTHS, *_NUMBERED_LENGTHS, _LICENSE_LENGTH}
)
_HALVED = re.compile(rb"[0-9a-f]{32}\.[A-Za-z0-9]{16}(?![\w.-])")
_HALVED_LENGTH = 32
_SESSION = re.compile(rb"00D[A-Za-z0-9]{12,15}![\w.]{80,160}+")
_ROBOT = re.compile(rb"[a-z0-9_]{1,64}\+[a-z0-9_]{1,64}:\Z")
_ROBOT_LENGTH = 64
_WHOLE = re.compile(rb"[A-Z0-9]+\Z")
_GENERATED = 16
_UUID_LENGTH = 36
_INFIX = re.compile(
    rb"[a-z][a-z0-9]{0,15}_(?:[a-z0-9]{1,15}_){0,3}?"
    rb"(?:live|prod|production|sandbox|pat|sk|secret|token|apikey|key|oat|rk)_([A-Za-z0-9]{20,})\Z"
)
_SERVICES = frozenset(SERVICES.split())
_BINDING = frozenset(b"\"'`=: \t\n")
_SIGN_REACH = 16
_NO_SECRETS = frozenset(
    """id ids commit sha sha1 sha256 sha512 md5 hash digest rev revision version url uri checksum
    integrity etag fingerprint path file image name tag branch ref resolved public""".split()
)
_DOT = 0x2E
_TELLING = frozenset(b".:|~!")
_LONGEST_ID = 17
_JWT = re.compile(rb"eyJ([\w-]{10,}+)={0,2}\.[\w-]{10,}+(?:\.[\w-]*+){0,3}")
_OPAQUE = re.compile(rb"eyJrIjoi[A-Za-z0-9]{60,}+={0,2}")
_LONGEST_HEADER = 4096
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
_SECRET_ACCESS_KEY = re.compile(rb"(?<![A-Za-z0-9/+_=-])[A-Za-z0-9/+]{40}(?![A-Za-z0-9/+_=-])")
_NEAR = 300
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


class Proof(Enum):
    """What the rest of a token must show beyond its shape."""

    ANY = "any"
    VARIED = "varied"
    RANDOM = "random"
    UNEVEN = "uneven"


@dataclass(frozen=True, slots=True)
class Vendor:
    """One shape of token."""

    prefix: bytes
    alphabet: bytes
    least: int
    most: int
    proof: Proof


def vendors_by_opening() -> dict[bytes, dict[int, dict[bytes, list[Vendor]]]]:
    """Return the rows by the first two bytes of their prefix, its length, and the prefix itself.

    Longer prefixes come first.
    """
    lines = "".join((MODELS, FORGES, CLOUDS, MESSAGES_AND_MONEY)).split("\n")
    vendors: list[Vendor] = []
    for line in filter(None, lines):
        prefix, alphabet, least, most, proof = line.split()
        longest = _UNLIMITED if most == "-" else int(most)
        vendors.append(
            Vendor(prefix.encode(), _ALPHABETS[alphabet], int(least), longest, Proof(proof))
        )
    rows: dict[bytes, dict[int, dict[bytes, list[Vendor]]]] = {}
    for vendor in sorted(vendors, key=lambda vendor: -len(vendor.prefix)):
        prefix = vendor.prefix
        lengths = rows.setdefault(prefix[:2], {})
        lengths.setdefault(len(prefix), {}).setdefault(prefix, []).append(vendor)
    return rows


def token_end(run: bytes, vendor: Vendor) -> int:
    """Return how much of a run that begins with the prefix is a token; zero when it is none."""
    rest = run[len(vendor.prefix) :]
    left = rest.lstrip(vendor.alphabet)
    length = len(rest) - len(left)
    if not vendor.least <= length <= vendor.most or left[:1].isalnum():
        return 0
    secret = rest[:length]
    if vendor.proof is Proof.VARIED and vendor.alphabet.startswith(_DIGITS_FIRST):
        few = len(set(secret)) >= _FEW_DIGITS and not _THRICE.search(secret)
        shows = (few or is_varied(secret)) and not is_placeholder(secret)
    else:
        shows = _shows(secret, vendor.proof)
    return len(vendor.prefix) + length if shows else 0


def _shows(secret: bytes, proof: Proof) -> bool:
    match proof:
        case Proof.ANY:
            return b"EXAMPLE" not in secret
        case Proof.VARIED:
            return is_varied(secret) and not is_placeholder(secret)
        case Proof.RANDOM:
            return is_random(secret) and not is_placeholder(secret)
        case Proof.UNEVEN:
            return _shows(secret, Proof.RANDOM) and not counts_up(secret)
        case _:
            assert_never(proof)


_VENDORS = vendors_by_opening()


def vendor_pass(view: TextViews) -> list[SecretSpan]:
    """Return the tokens whose prefix or build belongs to one vendor."""
    raw = view.raw
    padded = raw + b"  "
    rows = _VENDORS.get
    spans: list[SecretSpan] = []
    reached = 0
    for start, stop in long_runs(view):
        before = padded[start - 1]
        if before in STICKY:
            start = unglued(raw, start)
        # After a dot it is the ending of a name, as in `favicon.ico-7a38`, or a dotted token.
        is_ending = before == _DOT and not raw.startswith(EVEN_AFTER_DOT, start)
        if not is_ending and (vendors := rows(raw[start : start + 2])):
            length = _vendor_token(raw[start:stop], vendors)
            if length:
                end = start + length
                if padded[end] in _CONTINUED:
                    end = _whole_end(raw, start, end)
                spans.append(SecretSpan(start, end))
                continue
        if before in _INSIDE:
            # Base64 has signs that end a run, so that this may not be the first of a token.
            at = raw.rfind(_FLY, max(reached, start - _FAR), start)
            if at >= 0 and unglued(raw, run_start(view, at)) == at:
                found = _MACAROON.match(raw, at)
                if found and found.end() >= stop:
                    reached = found.end()
                    spans.append(SecretSpan(at, reached))
                    continue
        if (
            before in _TELLING
            or padded[stop] == _DOT
            or stop - start in _OWN_LENGTHS
            or (before == _SLASH and raw.startswith(b"1//0", start - 3))
        ):
            built = _built(view, start, stop)
            if built:
                spans.extend(built)
                continue
        # Names and words end in letters; what is generated seldom has as many in a row.
        if before in _BINDING:
            last = raw[stop - _GENERATED : stop]
            if (last.isalnum() and not last.isalpha()) or stop - start == _UUID_LENGTH:
                spans.extend(_announced(view, start, stop))
    return spans


def _announced(view: TextViews, start: int, stop: int) -> list[SecretSpan]:
    """Return a generated run that says by itself, or by the service before it, what it is."""
    raw = view.raw
    secret = raw[start:stop]
    if b"_" in secret and (infix := _INFIX.match(secret)):
        secret = infix.group(1)
    else:
        floor = max(0, start - _SIGN_REACH)
        before = raw[floor:start].rstrip(b"\"'` \t\n")
        name = before.rstrip(b"=:>?").rstrip(b"\"'` \t]")
        if len(name) == len(before) or not name:
            return []
        end = floor + len(name)
        if not _is_service(raw[run_start(view, end) : end].decode()):
            return []
    generated = is_random(secret) and is_varied(secret) and not is_placeholder(secret)
    return [SecretSpan(start, stop)] if generated and not counts_up(secret) else []


@lru_cache(maxsize=1024)
def _is_service(name: str) -> bool:
    words = [word.lower() for word in split_words(name)]
    return bool(words) and words[-1] not in _NO_SECRETS and not _SERVICES.isdisjoint(words)


def _whole_end(raw: bytes, start: int, end: int) -> int:
    """Return where a token ends that goes on behind its first run."""
    for prefixes, pattern in _GOES_ON:
        if raw.startswith(prefixes, start):
            found = pattern.match(raw, end)
            return found.end() if found else end
    return end


def _vendor_token(run: bytes, vendors: dict[int, dict[bytes, list[Vendor]]]) -> int:
    """Return the length of the token that a run begins with; zero when it begins with none.

    The longest prefix decides: what is not a token of that vendor is none of a vaguer one.
    """
    for length, prefixes in vendors.items():
        decided = prefixes.get(run[:length])
        if decided:
            return next(filter(None, (token_end(run, vendor) for vendor in decided)), 0)
    return 0


def _built(view: TextViews, start: int, stop: int) -> list[SecretSpan]:
    """Return the token that a run is part of, judged by its neighborhood."""
    raw = view.raw
    before = raw[start - 1 : start]
    found = None
    if before == b"." and (
        raw[start - 3 : start] in _DOT_BEFORE or _may_be_dotted(raw, start, stop)
    ):
        # Return where a token of up to four dotted parts begins, given where its long part does.
        begin = run_start(view, start - 1, reach=40)
        for _ in range(2):
            if begin > 1 and raw[begin - 1] == _DOT and raw[begin - 2 : begin] != b"..":
                begin = run_start(view, begin - 1, reach=40)
        found = _DOTTED.match(raw, unglued(view.raw, begin))
    elif before == b":":
        found = _AFTER_COLON.match(raw, _digits_before(raw, start - 1))
        if stop - start == _ROBOT_LENGTH and _ROBOT.search(raw, max(0, start - _FAR), start):
            found = _WHOLE.match(raw, start, stop)
    elif before == b"!":
        found = _SESSION.match(raw, unglued(raw, run_start(view, start - 1)))
    elif before == b"|":
        found = _AFTER_BAR.match(raw, _digits_before(raw, start - 1))
    elif before == b"~":
        found = _AFTER_TILDE.match(raw, start - len("sha256~"))
    elif before == b"/":
        found = _REFRESH.match(raw, start - 3)
    elif stop - start in _PERSONAL_LENGTHS:
        found = _PERSONAL.match(raw, start, stop)
    elif stop - start in _NUMBERED_LENGTHS:
        found = _NUMBERED.match(raw, start, stop)
    elif stop - start == _LICENSE_LENGTH:
        found = _LICENSE.match(raw, start, stop)
    elif stop - start == _HALVED_LENGTH:
        found = _HALVED.match(raw, start)
    if found is None and stop - start in _BOT_LENGTHS:
        found = _BOT.match(raw, start)
    if found is None and stop - start in _MAILCHIMP_LENGTHS:
        found = _MAILCHIMP.match(raw, start, stop)
    if found is None:
        return []
    secret = found.group()
    convincing = is_varied(secret) and is_random(secret) and not is_placeholder(secret)
    return [SecretSpan(found.start(), found.end())] if convincing else []


def _may_be_dotted(raw: bytes, start: int, stop: int) -> bool:
    """Return whether a run after a dot ends a token whose start is not telling by itself."""
    if stop - start == _AIRTABLE or raw.find(b"dp.", max(0, start - 45), start) >= 0:
        return True
    return raw[start - 2 : start] == b"s." and not raw[max(0, start - 3) : start - 2].isalnum()


def _digits_before(raw: bytes, stop: int) -> int:
    """Return where the digits that end at a position begin; `/bot` may precede them."""
    start = stop
    while start > max(0, stop - _LONGEST_ID) and raw[start - 1 : start].isdigit():
        start -= 1
    glued = raw[start - 1 : start].isalpha() and raw[max(0, start - 4) : start] != b"/bot"
    return stop if glued and unglued(raw, start - 1) != start else start


def jwt_pass(view: TextViews) -> list[SecretSpan]:
    """Return JSON Web Tokens: their first part must decode to the header of one."""
    raw = view.raw
    spans: list[SecretSpan] = []
    # A token does not begin inside a run that was read already; what was read is behind us.
    seen = 0
    for at in find_each(raw, b"J"):
        start = at - 2
        if start < seen or not raw.startswith(b"ey", start):
            continue
        found = _JWT.match(raw, start) or _OPAQUE.match(raw, start)
        if found and (found.re is _OPAQUE or _is_header(b"eyJ" + found.group(1))):
            spans.append(SecretSpan(found.start(), found.end()))
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


def short_token_pass(view: TextViews) -> list[SecretSpan]:
    """Return tokens that literals give away which hardly occur otherwise.

    They have no run long enough, or stand near the id of an access key.
    """
    raw = view.raw
    spans: list[SecretSpan] = []
    access_keys: list[re.Match[bytes]] = []
    for found in _LETTER_A.finditer(raw):
        if found.lastindex == _ID:
            access_keys.append(found)
            continue
        rest = found.group(_SHORT)[2:]
        if is_monotone(rest) or not rest.isalpha():
            spans.append(SecretSpan(found.start(), found.end(_SHORT)))
    # Secret access keys have no prefix; forty characters of base64 near the id of one can be
    # little else.
    seen = 0
    for found in access_keys:
        for near in _SECRET_ACCESS_KEY.finditer(
            raw, max(seen, found.start() - _NEAR), found.end() + _NEAR
        ):
            secret = near.group()
            # A digest is no key, however near it stands.
            generated = secret.translate(None, b"0123456789abcdef") and is_random(secret)
            if generated and not is_placeholder(secret):
                spans.append(SecretSpan(near.start(), near.end()))
        seen = found.end() + _NEAR
    for found in _AZURE.finditer(raw) if b"~" in raw else ():
        rest = found.group()[1:]
        if is_random(rest) and not is_placeholder(rest):
            spans.append(SecretSpan(found.start() - _AZURE_FRONT, found.end()))
    return spans


def private_key_pass(view: TextViews) -> list[SecretSpan]:
    """Return private keys with their armor, whole; or as far as the text has them."""
    first = view.lower.find(b"-----begin")
    begins = list(_BEGIN.finditer(view.lower, first)) if first >= 0 else []
    if not begins:
        return []
    ends = list(_END.finditer(view.lower))
    end_starts = [end.start() for end in ends]
    spans: list[SecretSpan] = []
    for index, begin in enumerate(begins):
        limit = begins[index + 1].start() if index + 1 < len(begins) else len(view.raw)
        limit = min(limit, begin.end() + _LONGEST_KEY)
        following = bisect_left(end_starts, begin.end())
        if following < len(ends) and ends[following].start() < limit:
            body_stop, stop = ends[following].start(), ends[following].end()
        else:
            material = _MATERIAL.match(view.raw, begin.end(), limit)
            stop = material.end() if material else begin.end()
            # White space and quotes after the last line belong to the text around the key.
            kept = view.raw[begin.end() : stop].rstrip(b" \t\r\n\"'`,>|#*+")
            body_stop = stop = begin.end() + len(kept)
        if _PLAIN_MATERIAL.search(view.raw, begin.end(), body_stop):
            spans.append(SecretSpan(begin.start(), stop, Mask.KEY_BLOCK))
    return spans
