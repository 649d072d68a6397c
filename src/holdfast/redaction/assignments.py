"""Find secrets by the names they are given: environment assignments and fields.

These are the noisy passes. A name only makes a secret likely, so the value must also look
like one: stricter where a bare word may be code, looser where it can only be a literal.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.redaction.names import Kind
from holdfast.redaction.sites import read_value, whole_value
from holdfast.redaction.spans import Span
from holdfast.redaction.values import LETTERS, counts_far, is_placeholder, is_random, is_wordy

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.redaction.sites import Site
    from holdfast.redaction.survey import Survey

__all__ = ["environment_pass", "field_pass", "holds_secret", "is_parameter", "names_secret"]

# Tuples, because members of an enumeration are slow to hash and quick to compare.
_NAMED = (Kind.PASSWORD, Kind.SECRET, Kind.TOKEN, Kind.KEY)
_PERSONAL = (Kind.PASSWORD, Kind.SECRET)
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


def environment_pass(view: Survey, sites: Iterable[Site]) -> list[Span]:
    """Return the values of assignments such as `GITHUB_TOKEN=...` and `db_password = '...'`."""
    return _bound(view, (site for site in sites if not site.is_field))


def field_pass(view: Survey, sites: Iterable[Site]) -> list[Span]:
    """Return the values of JSON and YAML fields, arguments and elements with telling names."""
    return _bound(view, (site for site in sites if site.is_field))


def _head(value: bytes) -> bytes:
    """Return what of a value is judged: up to an equals sign inside, unless little is left."""
    judged = value[:_JUDGED]
    sign = judged.find(b"=", _SHORTEST_PASSWORD)
    return judged if sign < 0 or b"=" in judged[:_SHORTEST_PASSWORD] else judged[:sign]


def names_secret(site: Site) -> bool:
    """Return whether the name alone is enough for a value to be considered."""
    return site.kind in _NAMED


def is_parameter(raw: bytes, site: Site) -> bool:
    """Return whether a site is a parameter of an address, `?token=...` or `&token=...`."""
    return site.start > 0 and raw[site.start - 1] in b"?&"


def holds_secret(kind: Kind, value: bytes, *, literal: bool) -> bool:
    """Return whether a value under a telling name is a secret.

    Args:
        kind: What the name announces.
        value: The value without quotes.
        literal: Whether the value cannot be code: it is quoted, or in an environment line.
    """
    shortest = _SHORTEST_PASSWORD if kind in _PERSONAL else _SHORTEST_TOKEN
    value = _head(value)
    if len(value) < shortest or (b" " in value and not _is_phrase(kind, value, literal=literal)):
        return False
    if is_placeholder(value) or _PLACE.match(value) or value.endswith(_FILES):
        return False
    if kind not in _PERSONAL:
        return _is_generated(value)
    if kind is Kind.PASSWORD and _is_made_up(value, literal=literal):
        return True
    return not _is_name(value) if literal else _is_typed(value)


def _bound(view: Survey, sites: Iterable[Site]) -> list[Span]:
    raw = view.raw
    spans: list[Span] = []
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
        if _is_secret(raw, site, raw[start:stop], literal=quoted or _is_literal(raw, site)):
            masked = whole_value(raw, value).stop
            spans.append(Span(start, masked))
    return spans


def _is_literal(raw: bytes, site: Site) -> bool:
    """Return whether what follows cannot be code: `NAME=...` in capitals, or an element."""
    sign = raw[site.stop : site.value]
    return sign == b">" or (sign == b"=" and bool(_VARIABLE.match(raw, site.start, site.stop)))


def _is_secret(raw: bytes, site: Site, written: bytes, *, literal: bool) -> bool:
    if site.kind is Kind.TOKEN and _UUID.match(written):
        # A token that is a UUID is mostly an id; in an .npmrc line it is a credential.
        return bool(_NPMRC.search(raw[max(site.start - _REGISTRY, 0) : site.start]))
    if not literal and len(written) < _LONG and _IDENTIFIER.match(written):
        return False
    return holds_secret(site.kind, written, literal=literal)


def _is_phrase(kind: Kind, value: bytes, *, literal: bool) -> bool:
    """Return whether a value with spaces may be a password; plain words are a remark."""
    return kind is Kind.PASSWORD and literal and not is_wordy(value)


def _is_made_up(value: bytes, *, literal: bool) -> bool:
    """Return whether a value has words and a number, as people make passwords up.

    A bare one needs hyphens between words: `size-1` and `users.0` are code.
    """
    return bool(_NUMBERED.match(value)) and (literal or bool(_HYPHENATED.search(value)))


def _is_name(value: bytes) -> bool:
    """Return whether a value is words that separators join, as names of secrets are."""
    return is_wordy(value) and bool(_JOINED.search(value))


def _is_generated(value: bytes) -> bool:
    return is_random(value) and (len(value) >= _LONG or not counts_far(value))


def _is_typed(value: bytes) -> bool:
    """Return whether a bare word after a password's name is one, and not a name in code."""
    digits = len(value) - len(value.translate(None, b"0123456789"))
    letters = len(value) - len(value.translate(None, LETTERS))
    mixed = bool(digits and letters) or bool(_SYMBOL.search(value) and letters)
    return mixed and not is_wordy(value)
