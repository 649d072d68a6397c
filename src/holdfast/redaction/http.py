"""Find secrets in requests: authorization and cookies, addresses, parameters, form bodies."""

from __future__ import annotations

import re
from binascii import Error, a2b_base64
from typing import TYPE_CHECKING

from holdfast.redaction.assignments import CommandFlag, holds_secret, is_parameter, names_secret
from holdfast.redaction.sites import SecretKind, Site
from holdfast.redaction.spans import SecretSpan, TextViews
from holdfast.redaction.values import is_placeholder, is_random

if TYPE_CHECKING:
    from collections.abc import Iterable


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
_SHORTEST = 8
_SHORTEST_BASIC = 6
_COOKIE_LINE = re.compile(rb"[ \t\"'\\]{0,6}([^\r\n\"'\\`]{1,4096})")
_COOKIE = re.compile(rb"(?<![\w.$-])([\w.$-]{1,64}+)=([^\s;,\"'\\]{1,4096})")
_ATTRIBUTES = frozenset(b"path domain expires max-age samesite priority version".split())
_TELLING = re.compile(rb"sess|sid|auth|token|jwt|login|csrf|xsrf|remember|secret|key|id\Z")
_SHORTEST_COOKIE = 6
# Also the sign of a line `host:port:database:user:password`, as a `.pgpass` has them.
# And of a hash as LDAP and `.htpasswd` have it, `user:{SHA}...`.
_ADDRESS = re.compile(rb":(?=[/\d*{])(?://|[1-9]\d{3,4}:|\*:|\{(?=S))")
_HASH = re.compile(rb"S?SHA(?:256|512)?\}[A-Za-z0-9+/]{27,120}+={0,2}")
_BRACE = 0x7B
_PGPASS = re.compile(
    rb"[ \t>|?]{0,8}([^\s:]{1,253}+):(\d{4,5}|\*)"
    rb":([^\s:]{1,64}+):([^\s:]{1,64}+):([^\s:]\S{2,127}+)"
)
_USUAL_PORTS = (b"5432", b"*")
_LINE = 300
_COLON = 0x3A
_AUTHORITY = re.compile(
    rb"(?:([^\s/?#@:\"'<>`\\{}|]{0,128}):([^\s/?#\"'<>`\\|]{1,256})@(?=[\w\[$%{.-])"
    rb"|([^\s/?#@:\"'<>`\\{}|,;()]{16,256})@(?=[\w\[]))",
)
_SHORTEST_PASSWORD = 3
_USER_NAMES = frozenset({b"u", b"-user", b"-proxy-user"})
_LONGEST_COMMAND = 4096
_PAIR = re.compile(
    rb"\\{0,3}[\"']?([^\s:\"'\\]{0,128})(?:\\{0,3}[\"'])?:(?:\\{0,3}[\"'])?([^\s\"'\\]{0,256})",
)
_WEBHOOK = re.compile(
    rb"(?:[\w.-]{0,64}\.)?(?:"
    rb"hooks\.slack(?:-gov)?\.com/(?:services|workflows|triggers)/([\w/+-]{20,200})"
    rb"|discord(?:app)?\.com/api/(?:v\d+/)?webhooks/\d{10,20}/([\w-]{30,100})"
    rb"|hooks\.zapier\.com/hooks/catch/(\d+/\w+)"
    rb"|(?:webhook\.office\.com|office\.com)/webhook\w{0,3}/([\w@./-]{40,300})"
    rb"|infura\.io/(?:ws/)?v3/([0-9a-f]{32})|alchemy(?:api)?\.(?:com|io)/v2/([\w-]{32})"
    rb"|thingsboard\.cloud/api/v1/([a-z0-9]{20})/|maker\.ifttt\.com/trigger/[\w-]{1,64}/with/key/([\w-]{20,64})"
    rb"|open\.(?:feishu\.cn|larksuite\.com)/open-apis/bot/v2/hook/([\w-]{30,64})"
    rb"|qyapi\.weixin\.qq\.com/cgi-bin/webhook/send\?key=([\w-]{30,64})"
    rb"|softlayer\.com/(?:soap|xmlrpc|rest)/v3(?:\.1)?/([a-z0-9]{64})(?![a-z0-9])"
    rb"|chat\.googleapis\.com/v1/spaces/[\w-]+/messages\?([\w=&%-]{20,300}))",
    re.IGNORECASE,
)
_FIRST_LOOK = 256
_PARAMETER = re.compile(rb"[^\s&\"'<>`\\#;(){}\[\]|]{1,4096}")
_SIGNATURE = re.compile(
    rb"=(?:(?<=[?&]sig=)|(?<=signature=)|(?<=[?&]code=)|(?<=[?&]hmac=))([\w%+/.~-]{20,512}=*)",
)


def authorization_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the credentials of Authorization headers, with or without a scheme before them."""
    raw = view.raw
    spans: list[SecretSpan] = []
    for site in sites:
        # A line between two names joins types.
        if site.kind is not SecretKind.AUTH or b"|" in site.sign:
            continue
        # A line of such words is one value after the other, each as long as the rest of the line.
        found = _AUTHORIZATION.match(raw, site.value, site.value + _FIRST_LOOK)
        if found is None:
            continue
        scheme = (found.group(1) or b"").lower()
        if scheme == b"digest":
            start = found.start(2)
            line_end = raw.find(b"\n", start, start + _DIGEST_REACH)
            stop = line_end if line_end >= 0 else start + _DIGEST_REACH
            spans += [SecretSpan(*part.span(1)) for part in _DIGEST.finditer(raw, start, stop)]
        elif b"://" not in found.group(2):
            whole = _AUTHORIZATION.match(raw, site.value) or found
            if _is_credential(scheme, whole.group(2)):
                spans.append(SecretSpan(whole.start(2), whole.end(2)))
    return spans


def bearer_pass(view: TextViews) -> list[SecretSpan]:
    """Return tokens that the word bearer announces, wherever it stands."""
    return [
        SecretSpan(found.start(1), found.end(1))
        for found in _BEARER.finditer(view.lower)
        if _is_credential(b"bearer", view.raw[found.start(1) : found.end(1)])
    ]


def cookie_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the values of cookies that identify somebody; `theme=dark` is none."""
    raw = view.raw
    spans: list[SecretSpan] = []
    seen = 0
    headers = (site.value for site in sites if site.kind is SecretKind.COOKIE)
    for value in sorted(headers):
        if value < seen:
            continue
        line = _COOKIE_LINE.match(raw, value)
        if line is None:
            continue
        seen = line.end()
        for cookie in _COOKIE.finditer(raw, line.start(1), seen):
            name, secret = cookie.group(1).lower(), cookie.group(2)
            if name in _ATTRIBUTES or len(secret) < _SHORTEST_COOKIE or is_placeholder(secret):
                continue
            if _TELLING.search(name) or is_random(secret):
                spans.append(SecretSpan(*cookie.span(2)))
    return spans


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


def find_addresses(view: TextViews) -> list[int]:
    """Return where the authority of each address begins, right after `://` or a telling port."""
    return [found.end() for found in _ADDRESS.finditer(view.raw)]


def login_pass(view: TextViews, addresses: Iterable[int]) -> list[SecretSpan]:
    """Return passwords in addresses of databases, brokers and sites, `scheme://user:this@host`.

    A user without a password counts when it looks generated: tokens are given like that. A line
    of a `.pgpass` has a login too.
    """
    raw = view.raw
    spans: list[SecretSpan] = []
    seen = -1
    for address in addresses:
        if raw[address - 1] == _COLON:
            start = raw.rfind(b"\n", max(0, address - _LINE), address) + 1
            line = _PGPASS.match(raw, start) if start > seen else None
            seen = start
            if line and _is_password_line(line):
                spans.append(SecretSpan(*line.span(5)))
            continue
        if raw[address - 1] == _BRACE:
            if hashed := _HASH.match(raw, address):
                spans.append(SecretSpan(address - 1, hashed.end()))
            continue
        found = _AUTHORITY.match(raw, address)
        if found is None:
            continue
        password, lone = found.group(2), found.group(3)
        if password is not None:
            if len(password) >= _SHORTEST_PASSWORD and not is_placeholder(password):
                spans.append(SecretSpan(*found.span(2)))
        elif is_random(lone) and not is_placeholder(lone):
            spans.append(SecretSpan(*found.span(3)))
    return spans


def _is_password_line(line: re.Match[bytes]) -> bool:
    """Return whether five fields are those of a `.pgpass`, and not a place in a file."""
    host, port, database, user, password = line.groups()
    if is_placeholder(password):
        return False
    if port in _USUAL_PORTS:
        return True
    is_place = b"/" in host or database.isdigit() or user.isdigit() or b":" in password
    return not is_place and is_random(password)


def webhook_pass(view: TextViews, addresses: Iterable[int]) -> list[SecretSpan]:
    """Return the secret part of addresses that let anyone who knows them act."""
    spans: list[SecretSpan] = []
    for address in addresses:
        found = _WEBHOOK.match(view.raw, address)
        if found is None:
            continue
        group = found.lastindex or 0
        secret = found.group(group)
        if is_random(secret) and not is_placeholder(secret):
            spans.append(SecretSpan(*found.span(group)))
    return spans


def parameter_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the values of telling parameters, in an address or in a form body."""
    raw = view.raw
    spans: list[SecretSpan] = []
    masked = 0
    may_be_form = b"&" in raw
    for site in sites:
        if site.is_field or site.value < masked or not names_secret(site):
            continue
        if not may_be_form and not is_parameter(view, site):
            continue
        value = _PARAMETER.match(raw, site.value, site.value + _FIRST_LOOK)
        if value is None or not (raw.startswith(b"&", value.end()) or is_parameter(view, site)):
            continue
        if holds_secret(site.kind, value.group(), literal=True):
            whole = _PARAMETER.match(raw, site.value) or value
            masked = whole.end()
            spans.append(SecretSpan(whole.start(), masked))
    return spans


def signature_pass(view: TextViews) -> list[SecretSpan]:
    """Return signatures that make an address a capability: SAS, presigned links, codes."""
    spans: list[SecretSpan] = []
    for found in _SIGNATURE.finditer(view.lower):
        secret = view.raw[found.start(1) : found.end(1)]
        if is_random(secret) and not is_placeholder(secret):
            spans.append(SecretSpan(*found.span(1)))
    return spans


def user_flag_pass(view: TextViews, flags: Iterable[CommandFlag]) -> list[SecretSpan]:
    """Return the passwords of `curl -u user:password`; a lone half of the pair is one too."""
    spans: list[SecretSpan] = []
    stop = next_curl = 0
    for flag in flags:
        if flag.name not in _USER_NAMES:
            continue
        # A command further back than the longest one has ended.
        next_curl = max(next_curl, flag.start - _LONGEST_COMMAND) if next_curl >= 0 else -1
        while flag.start > stop and 0 <= next_curl < flag.start:
            next_curl = view.lower.find(b"curl", max(stop, next_curl))
            if 0 <= next_curl < flag.start:
                # Return where a command ends: at a line break that no backslash continues.
                raw = view.raw
                limit = next_curl + _LONGEST_COMMAND
                end = raw.find(b"\n", next_curl, limit)
                while end > 0 and raw[end - 1] == 0x5C:
                    end = raw.find(b"\n", end + 1, limit)
                stop = end if end >= 0 else min(limit, len(raw))
                next_curl += len("curl")
        if flag.start < stop:
            pair = _PAIR.match(view.raw, flag.value)
            if pair is None:
                continue
            group = 2 if pair.group(2) else 1
            secret = pair.group(group)
            braced = secret.startswith(b"{") and is_random(secret.strip(b"{}"))
            if len(secret) > _SHORTEST_PASSWORD and (braced or not is_placeholder(secret)):
                spans.append(SecretSpan(*pair.span(group)))
    return spans
