"""Passes for secrets in manifests, key and password files, and in logins without a scheme.

Most begin at a site, a telling name with a value after it, which `sites` has found anyway; the
others are found by a sign of their own. What is read around a site is not read again for the next
one, so a text full of them stays linear.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.redaction.assignments import holds_secret
from holdfast.redaction.sites import SecretKind, Site, kind_of
from holdfast.redaction.spans import Mask, SecretSpan, TextViews, find_each
from holdfast.redaction.values import is_placeholder, is_varied

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


_REACH = 16_384
_BLOCK = re.compile(
    rb"^([ \t]*+)(?:- )?(?:string)?data:[ \t]*+\r?\n((?:\1[ \t]++[^\n]*+(?:\n|\Z)|[ \t\r]*+\n)++)",
    re.IGNORECASE | re.MULTILINE,
)
_ENTRY = re.compile(
    rb"^[ \t]++[\"']?[\w./-]{1,253}+[\"']?:[ \t]++[\"']?([^\s\"'|>{}\[\]&*!#][^\s\"']{3,}+)",
    re.MULTILINE,
)
_OBJECT = re.compile(rb"\"(?:stringData|data)\\?\"\s{0,8}:\s{0,8}\{([^{}]{1,16000}+)\}")
_MEMBER = re.compile(rb"\"\s{0,8}:\s{0,8}\\?\"([^\s\"\\]{4,}+)")
_WEB_KEY_MEMBER = re.compile(
    rb"(?<![\w.-])(?:d|p|q|k|dp|dq|qi)\\{0,3}[\"']\s{0,8}:\s{0,8}\\{0,3}[\"']([\w-]{20,2048}+)={0,2}",
)
_WEB_KEY_BEFORE, _WEB_KEY_AFTER = 2048, 8192
_PUTTY_LINES = re.compile(
    rb"\d{1,3}(?:\r?\n|\\{1,2}n)"
    rb"((?:[ \t]{0,8}[A-Za-z0-9+/]{1,76}+={0,2}(?=[\r\n\\\"']|\Z)(?:\r?\n|\\{1,2}n)?){1,200}+)",
)
_CRYPT = re.compile(
    rb"\$(?:(?:1|apr1)\$[./A-Za-z0-9]{1,8}\$[./A-Za-z0-9]{22}"
    rb"|2[abxy]?\$\d\d\$[./A-Za-z0-9]{53}"
    rb"|[58]\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{43}"
    rb"|6\$(?:rounds=\d{1,9}\$)?[./A-Za-z0-9]{1,16}\$[./A-Za-z0-9]{86}"
    rb"|(?:y|gy|7)\$[./A-Za-z0-9]{1,32}\$[./A-Za-z0-9]{1,86}\$[./A-Za-z0-9]{43}"
    rb"|[PH]\$[./A-Za-z0-9]{31}(?![./A-Za-z0-9])|krb5(?:asrep|tgs|pa)\$\d\d?\$[^\s\"']{40,8192}+"
    rb"|(?:pbkdf2-sha\d{1,3}|scrypt)\$[a-z0-9=,]{1,40}\$[./A-Za-z0-9+=]{8,64}\$[./A-Za-z0-9+=]{27,128}"
    rb"|argon2(?:id|i|d)\$v=\d{1,3}\$[mtp=,\d]{1,40}\$[A-Za-z0-9+/]{8,64}+\$[A-Za-z0-9+/]{16,256}+)",
)
_ENV = re.compile(rb"ENV[ \t]{1,4}([A-Z][A-Z0-9_]{1,63}+)[ \t]{1,4}[\"']?([^\s\"'=]{4,256}+)")
_NET_USE = re.compile(
    rb"net use (?:[A-Za-z*]:? )?\\\\[^\s]{1,200}+ "
    rb"(?:/user:[^\s]{1,100}+ ([^\s/]\S{2,127}+)|([^\s/]\S{2,127}+) /user:)",
    re.IGNORECASE,
)
_AT = re.compile(rb"@(?=tcp6?\(|unix\(|cloudsql\(|//|[\w.-])")
_LOGIN_REACH = 200
_TO_LOGINS = bytes(ord(" ") if byte in b" \t\r\n\"'`,;<>(){}" else ord("w") for byte in range(256))
_ORACLE = re.compile(
    rb"(?:jdbc:oracle:(?:thin|oci8?):|\A)([\w$#.-]{1,64})/([^\s/@:\"']{3,128})\Z", re.I
)
_ORACLE_TOOL = re.compile(
    rb"(?:sqlplus|rman|sqlldr|expdp?|impdp?)(?:\s{1,4}-\S{1,20}){0,3}\s{1,4}(?:target\s+)?[\"']?\Z",
    re.I,
)


def manifest_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the values of Kubernetes objects of the kind Secret, in YAML or JSON."""
    raw = view.raw
    at = [site.start for site in sites if site.kind is SecretKind.MANIFEST]
    spans: list[SecretSpan] = []
    for before, here, after in zip([0, *at], at, [*at[1:], len(raw)], strict=False):
        first = max(before, here - _REACH, raw.rfind(b"\n---", before, here), 0)
        divider = raw.find(b"\n---", here, after)
        last = min(here + _REACH, after if divider < 0 else divider)
        for pattern, entry in ((_BLOCK, _ENTRY), (_OBJECT, _MEMBER)):
            for block in pattern.finditer(raw, first, last):
                group = pattern.groups
                spans += _told(entry.finditer(raw, *block.span(group)))
    return spans


def _told(matches: Iterator[re.Match[bytes]]) -> list[SecretSpan]:
    return [SecretSpan(*found.span(1)) for found in matches if not is_placeholder(found.group(1))]


def key_file_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the private parts of JSON Web Keys and of the key files of PuTTY."""
    raw = view.raw
    spans: list[SecretSpan] = []
    seen = 0
    for site in sites:
        if site.kind is SecretKind.PUTTY:
            lines = _PUTTY_LINES.match(raw, site.value)
            if lines:
                kept = lines.group(1).rstrip(b"\r\n").removesuffix(b"\\n")
                start = lines.start(1)
                spans.append(SecretSpan(start, start + len(kept), Mask.KEY_BLOCK))
        elif site.kind is SecretKind.WEB_KEY and site.start >= seen:
            first = max(seen, raw.rfind(b"{", max(0, site.start - _WEB_KEY_BEFORE), site.start))
            seen = raw.find(b"}", site.value, site.value + _WEB_KEY_AFTER)
            seen = min(site.value + _WEB_KEY_AFTER, len(raw)) if seen < 0 else seen
            spans += _told(_WEB_KEY_MEMBER.finditer(raw, first, seen))
    return spans


def crypt_pass(view: TextViews) -> list[SecretSpan]:
    """Return hashed passwords as `.htpasswd` and `/etc/shadow` have them: they can be guessed."""
    raw = view.raw
    if b"$" not in raw:
        return []
    return [SecretSpan(*found.span()) for found in _CRYPT.finditer(raw) if is_varied(found.group())]


def command_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the passwords of `net use`, before or behind its `/user:`."""
    raw = view.raw
    spans: list[SecretSpan] = []
    for site in sites:
        if site.kind is SecretKind.NET_USER:
            at = view.lower.rfind(b"net use ", max(0, site.start - _LOGIN_REACH), site.start)
            line = _NET_USE.match(raw, at) if at >= 0 else None
            secret = line.group(line.lastindex or 0) if line else b""
            if line and not is_placeholder(secret):
                spans.append(SecretSpan(*line.span(line.lastindex or 0)))
    return spans


def image_pass(view: TextViews) -> list[SecretSpan]:
    """Return the values of `ENV NAME value` in a Dockerfile, which has no sign between them."""
    raw = view.raw
    spans: list[SecretSpan] = []
    for at in find_each(raw, b"V"):
        line = _ENV.match(raw, at - 2) if raw.startswith(b"ENV ", at - 2) else None
        if line and holds_secret(kind_of(line.group(1).decode()), line.group(2), literal=True):
            spans.append(SecretSpan(*line.span(2)))
    return spans


def dsn_pass(view: TextViews) -> list[SecretSpan]:
    """Return passwords of addresses without a scheme: `user:this@tcp(host)`, `scott/this@host`."""
    raw = view.raw
    spans: list[SecretSpan] = []
    for at in find_each(raw, b"@"):
        found = _AT.match(raw, at)
        if found is None:
            continue
        before = raw[max(0, at - _LOGIN_REACH) : at]
        start = before.translate(_TO_LOGINS).rfind(b" ") + 1
        login = before[start:]
        if raw[found.end() : found.end() + 8].partition(b"(")[1]:
            user, _, password = login.partition(b":")
            secret = password if user else b""
        else:
            oracle = _ORACLE.search(login)
            is_oracle = oracle and (oracle.start(1) or _ORACLE_TOOL.search(before, 0, start))
            secret = oracle.group(2) if oracle and is_oracle else b""
        if len(secret) > 2 and not is_placeholder(secret):
            spans.append(SecretSpan(at - len(secret), at))
    return spans
