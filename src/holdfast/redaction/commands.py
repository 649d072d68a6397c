"""Find passwords on command lines: flags that take a secret, and `curl -u user:password`."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from holdfast.redaction.assignments import holds_secret
from holdfast.redaction.names import Kind, kind_of
from holdfast.redaction.sites import read_value, whole_value
from holdfast.redaction.spans import Span
from holdfast.redaction.values import is_placeholder, is_random

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.redaction.survey import Survey

__all__ = ["Flag", "find_flags", "flag_pass", "user_flag_pass"]

# The dash is the anchor; a look behind sees that a flag begins here. The first branch is a
# flag with a telling name, the others `-u` and `-p`, which may touch their value.
_FLAG = re.compile(
    rb"-(?<![^\s\"'`(\[,]-)(?:"
    rb"(-?(?=[a-z])[\w-]{0,32}?(?:pass|pw|secret|token|key|cred)[\w-]{0,20}+)"
    rb"(?:[ \t]{1,4}|[\"'],[ \t]{0,2})(?=[^\s-])"
    rb"|(u|-user|-proxy-user)(?:[ \t=]{1,4})?(?=[\w\"'\\:{$.])"
    rb"|(p)[ \t]?(?=[^\s-]{4}))",
)


class Flag(NamedTuple):
    """A flag that may take a secret, and where its value begins."""

    name: bytes
    """In lower case, without its first dash."""
    start: int
    stop: int
    value: int


def find_flags(view: Survey) -> list[Flag]:
    """Return the flags that may take a secret, in order."""
    flags: list[Flag] = []
    for found in _FLAG.finditer(view.lower):
        group = found.lastindex or 0
        flags.append(Flag(found.group(group), found.start(group), found.end(group), found.end()))
    return flags


# Commands whose `-p` is a password and not a port or a path.
_TAKES_PASSWORD = (b"sshpass", b"mysql", b"mariadb", b"mongo", b"sqlcmd", b" login ", b"ldapsearch")
_ENDS_COMMAND = re.compile(rb"[|;&\n]")
_COMMAND_REACH = 200
_P = ord("p")


def flag_pass(view: Survey, flags: Iterable[Flag]) -> list[Span]:
    """Return the secrets given to flags such as `--password x`, `-ClientSecret x` and `-p x`."""
    raw = view.raw
    spans: list[Span] = []
    masked = 0
    for flag in flags:
        if flag.start < masked:
            continue
        kind = _kind(view, flag)
        start = flag.value
        # A password may touch its `-p`, and may look like the name of a flag.
        if flag.name == b"p" or (flag.name[0] == _P and _takes_password(view, flag)):
            kind, start = Kind.PASSWORD, start if flag.name == b"p" else flag.start + 1
        if kind in (Kind.NOTHING, Kind.PHONE):
            continue
        value = read_value(raw, start)
        if value is None or not holds_secret(kind, raw[value.start : value.stop], literal=True):
            continue
        if flag.name != b"p" or _takes_password(view, flag):
            masked = whole_value(raw, value).stop
            spans.append(Span(value.start, masked))
    return spans


def _kind(view: Survey, flag: Flag) -> Kind:
    match flag.name:
        case b"u" | b"-user" | b"-proxy-user" | b"p":
            return Kind.NOTHING
        case _:
            return kind_of(view.raw[flag.start : flag.stop].decode())


def _takes_password(view: Survey, flag: Flag) -> bool:
    before = view.lower[max(0, flag.start - 1 - _COMMAND_REACH) : flag.start - 1]
    command = max(map(before.rfind, _TAKES_PASSWORD))
    return command >= 0 and not _ENDS_COMMAND.search(before, command)


_USER_NAMES = frozenset({b"u", b"-user", b"-proxy-user"})
_LONGEST_COMMAND = 4096
_PAIR = re.compile(
    rb"\\{0,3}[\"']?([^\s:\"'\\]{0,128})(?:\\{0,3}[\"'])?:(?:\\{0,3}[\"'])?([^\s\"'\\]{0,256})",
)
_SHORTEST_PASSWORD = 4


def user_flag_pass(view: Survey, flags: Iterable[Flag]) -> list[Span]:
    """Return the passwords of `curl -u user:password`; a lone half of the pair is one too."""
    spans: list[Span] = []
    stop = next_curl = 0
    for flag in flags:
        if flag.name not in _USER_NAMES:
            continue
        # A command further back than the longest one has ended.
        next_curl = max(next_curl, flag.start - _LONGEST_COMMAND) if next_curl >= 0 else -1
        while flag.start > stop and 0 <= next_curl < flag.start:
            next_curl = view.lower.find(b"curl", max(stop, next_curl))
            if 0 <= next_curl < flag.start:
                stop = _command_end(view.raw, next_curl)
                next_curl += len("curl")
        if flag.start < stop:
            spans.extend(_password(view.raw, flag.value))
    return spans


def _command_end(raw: bytes, start: int) -> int:
    """Return where a command ends: at a line break that no backslash continues."""
    limit = start + _LONGEST_COMMAND
    end = raw.find(b"\n", start, limit)
    while end > 0 and raw[end - 1] == 0x5C:
        end = raw.find(b"\n", end + 1, limit)
    return end if end >= 0 else min(limit, len(raw))


def _password(raw: bytes, start: int) -> list[Span]:
    pair = _PAIR.match(raw, start)
    if pair is None:
        return []
    group = 2 if pair.group(2) else 1
    secret = pair.group(group)
    braced = secret.startswith(b"{") and is_random(secret.strip(b"{}"))
    if len(secret) < _SHORTEST_PASSWORD or (is_placeholder(secret) and not braced):
        return []
    return [Span(*pair.span(group))]
