"""Find secrets by the names they are given: environment assignments, fields and flags of commands.

These are the noisy passes. A name only makes a secret likely, so the value must also look
like one: stricter where a bare word may be code, looser where it can only be a literal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from holdfast.redaction.sites import SecretKind, kind_of, read_value, whole_value
from holdfast.redaction.spans import SecretSpan
from holdfast.redaction.values import LETTERS, counts_far, is_placeholder, is_random, is_wordy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.redaction.sites import Site
    from holdfast.redaction.survey import TextViews

__all__ = [
    "CommandFlag",
    "environment_pass",
    "field_pass",
    "find_flags",
    "flag_pass",
    "holds_secret",
    "is_parameter",
    "names_secret",
    "user_flag_pass",
]

# Tuples, because members of an enumeration are slow to hash and quick to compare.
_NAMED = (SecretKind.PASSWORD, SecretKind.SECRET, SecretKind.TOKEN, SecretKind.KEY)
_PERSONAL = (SecretKind.PASSWORD, SecretKind.SECRET)
_SHORTEST_PASSWORD = 4
_SHORTEST_TOKEN = 8
_LONG = 20
_JUDGED = 256
_FEW_DIGITS = 3
_VARIABLE = re.compile(rb"[A-Z][A-Z0-9_]*\Z")
_PLACE = re.compile(rb"\w{1,16}://|[~.]{0,2}/[\w.-]{1,64}/|[A-Za-z]:\\")
_OPENS_CALL = frozenset({b"(", b"[", b"{"})
_FILES = tuple(
    b".pem .key .json .crt .cer .yaml .yml .txt .py .js .ts .env .pub .toml .ini .conf .md".split()
)
_IDENTIFIER = re.compile(rb"[A-Za-z_]++\d{0,4}+[A-Za-z_]*+(?:\.[A-Za-z_]\w*+)*+\Z")
_JOINED = re.compile(rb"[A-Za-z][-_. :]")
# With a slash or a colon it is a reference, as in `vault:app-db:2`.
_NUMBERED = re.compile(rb"[^\d/:]*+\d[^/:]*+\Z")
_HYPHENATED = re.compile(rb"[A-Za-z]-[A-Za-z]")
_SYMBOL = re.compile(rb"[!@#$%^*?~+]")
_UUID = re.compile(rb"[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\Z")
_NPMRC = re.compile(rb"//[^\s:]{1,200}/:\Z")
_REGISTRY = 210
# The dash is the anchor; a look behind sees that a flag begins here. The first branch is a
# flag with a telling name, the others `-u` and `-p`, which may touch their value.
_FLAG = re.compile(
    rb"-(?<![^\s\"'`(\[,]-)(?:"
    rb"(-?(?=[a-z])[\w-]{0,32}?(?:pass|pw|secret|token|key|cred)[\w-]{0,20}+)"
    rb"(?:[ \t]{1,4}|[\"'],[ \t]{0,2})(?=[^\s-])"
    rb"|(u|-user|-proxy-user)(?:[ \t=]{1,4})?(?=[\w\"'\\:{$.])"
    rb"|(p)[ \t]?(?=[^\s-]{4}))",
)
# Commands whose `-p` is a password and not a port or a path.
_TAKES_PASSWORD = (b"sshpass", b"mysql", b"mariadb", b"mongo", b"sqlcmd", b" login ", b"ldapsearch")
_ENDS_COMMAND = re.compile(rb"[|;&\n]")
_COMMAND_REACH = 200
_P = ord("p")
_USER_NAMES = frozenset({b"u", b"-user", b"-proxy-user"})
_LONGEST_COMMAND = 4096
_PAIR = re.compile(
    rb"\\{0,3}[\"']?([^\s:\"'\\]{0,128})(?:\\{0,3}[\"'])?:(?:\\{0,3}[\"'])?([^\s\"'\\]{0,256})",
)


def environment_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the values of assignments such as `GITHUB_TOKEN=...` and `db_password = '...'`."""
    return _bound(view, (site for site in sites if not site.is_field))


def field_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the values of JSON and YAML fields, arguments and elements with telling names."""
    return _bound(view, (site for site in sites if site.is_field))


def names_secret(site: Site) -> bool:
    """Return whether the name alone is enough for a value to be considered."""
    return site.kind in _NAMED


def is_parameter(raw: bytes, site: Site) -> bool:
    """Return whether a site is a parameter of an address, `?token=...` or `&token=...`."""
    return site.start > 0 and raw[site.start - 1] in b"?&"


def holds_secret(kind: SecretKind, value: bytes, *, literal: bool) -> bool:
    """Return whether a value under a telling name is a secret.

    Args:
        kind: What the name announces.
        value: The value without quotes.
        literal: Whether the value cannot be code: it is quoted, or in an environment line.
    """
    shortest = _SHORTEST_PASSWORD if kind in _PERSONAL else _SHORTEST_TOKEN
    # It is judged up to an equals sign inside, unless little is left.
    judged = value[:_JUDGED]
    sign = judged.find(b"=", _SHORTEST_PASSWORD)
    value = judged if sign < 0 or b"=" in judged[:_SHORTEST_PASSWORD] else judged[:sign]
    if len(value) < shortest:
        return False
    # With spaces it may be a password; plain words are a remark.
    if b" " in value and not (kind is SecretKind.PASSWORD and literal and not is_wordy(value)):
        return False
    if is_placeholder(value) or _PLACE.match(value) or value.endswith(_FILES):
        return False
    if kind not in _PERSONAL:
        return is_random(value) and (len(value) >= _LONG or not counts_far(value))
    # People make passwords up of words and a number. A bare one needs hyphens between words:
    # `size-1` and `users.0` are code.
    is_made_up = kind is SecretKind.PASSWORD and _NUMBERED.match(value)
    if is_made_up and (literal or _HYPHENATED.search(value)):
        return True
    if is_wordy(value):
        # Words that separators join are the name of a secret.
        return literal and not _JOINED.search(value)
    if literal:
        return True
    # A bare word after a password's name must not be a name in code.
    digits = len(value) - len(value.translate(None, b"0123456789"))
    letters = len(value) - len(value.translate(None, LETTERS))
    return bool(letters) and (bool(digits) or bool(_SYMBOL.search(value)))


def _bound(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    raw = view.raw
    spans: list[SecretSpan] = []
    masked = 0
    for site in sites:
        if site.value < masked or site.kind not in _NAMED or is_parameter(raw, site):
            continue
        value = read_value(raw, site.value)
        if value is None:
            continue
        start, stop, quoted = value
        if stop - start < _SHORTEST_PASSWORD:
            continue
        # What is called or indexed is code, unless it stands in quotes.
        if not quoted and raw[stop : stop + 1] in _OPENS_CALL:
            continue
        sign = raw[site.stop : site.value]
        # What follows `NAME=` in capitals, or an element, cannot be code.
        is_literal = sign == b">" or (sign == b"=" and _VARIABLE.match(raw, site.start, site.stop))
        if _is_secret(raw, site, raw[start:stop], literal=quoted or bool(is_literal)):
            masked = whole_value(raw, value).stop
            spans.append(SecretSpan(start, masked))
    return spans


def _is_secret(raw: bytes, site: Site, written: bytes, *, literal: bool) -> bool:
    if site.kind is SecretKind.TOKEN and _UUID.match(written):
        # A token that is a UUID is mostly an id; in an .npmrc line it is a credential.
        return bool(_NPMRC.search(raw[max(site.start - _REGISTRY, 0) : site.start]))
    if not literal and len(written) < _LONG and _IDENTIFIER.match(written):
        return False
    return holds_secret(site.kind, written, literal=literal)


class CommandFlag(NamedTuple):
    """A flag that may take a secret, and where its value begins."""

    name: bytes
    """In lower case, without its first dash."""
    start: int
    stop: int
    value: int


def find_flags(view: TextViews) -> list[CommandFlag]:
    """Return the flags that may take a secret, in order."""
    flags: list[CommandFlag] = []
    for found in _FLAG.finditer(view.lower):
        group = found.lastindex or 0
        flags.append(
            CommandFlag(found.group(group), found.start(group), found.end(group), found.end())
        )
    return flags


def flag_pass(view: TextViews, flags: Iterable[CommandFlag]) -> list[SecretSpan]:
    """Return the secrets given to flags such as `--password x`, `-ClientSecret x` and `-p x`."""
    raw = view.raw
    spans: list[SecretSpan] = []
    masked = 0
    for flag in flags:
        if flag.start < masked:
            continue
        takes_no_name = flag.name == b"p" or flag.name in _USER_NAMES
        kind = (
            SecretKind.NOTHING if takes_no_name else kind_of(raw[flag.start : flag.stop].decode())
        )
        start = flag.value
        # A password may touch its `-p`, and may look like the name of a flag.
        if flag.name == b"p" or (flag.name[0] == _P and _takes_password(view, flag)):
            kind, start = SecretKind.PASSWORD, start if flag.name == b"p" else flag.start + 1
        if kind in (SecretKind.NOTHING, SecretKind.PHONE):
            continue
        value = read_value(raw, start)
        if value is None or not holds_secret(kind, raw[value.start : value.stop], literal=True):
            continue
        if flag.name != b"p" or _takes_password(view, flag):
            masked = whole_value(raw, value).stop
            spans.append(SecretSpan(value.start, masked))
    return spans


def _takes_password(view: TextViews, flag: CommandFlag) -> bool:
    before = view.lower[max(0, flag.start - 1 - _COMMAND_REACH) : flag.start - 1]
    command = max(map(before.rfind, _TAKES_PASSWORD))
    return command >= 0 and not _ENDS_COMMAND.search(before, command)


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
            spans.extend(_password(view.raw, flag.value))
    return spans


def _password(raw: bytes, start: int) -> list[SecretSpan]:
    pair = _PAIR.match(raw, start)
    if pair is None:
        return []
    group = 2 if pair.group(2) else 1
    secret = pair.group(group)
    braced = secret.startswith(b"{") and is_random(secret.strip(b"{}"))
    if len(secret) < _SHORTEST_PASSWORD or (is_placeholder(secret) and not braced):
        return []
    return [SecretSpan(*pair.span(group))]
