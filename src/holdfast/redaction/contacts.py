"""Find phone numbers and the ids by which chat platforms mention people.

Conservative: digits are everywhere in logs. A number counts when it is written the
international way, in the North American grouping, or in a field that is called phone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.redaction.sites import SecretKind, Site, read_value
from holdfast.redaction.spans import Mask, SecretSpan, TextViews, find_each

if TYPE_CHECKING:
    from collections.abc import Iterable


_INTERNATIONAL = re.compile(
    rb"\+(?<![\w+).\]/=-]\+)[1-9]\d{0,2}(?:[ .-]?\(\d{1,4}\))?(?:[ .-]?\d{1,14}){1,6}+"
    rb"(?![\w.:,+-]?\d|\w|\()",
)
# All ways to group a number end in three digits and four. In a view that has one byte for all
# digits and one for all separators that is a literal, and few places need a closer look.
_TO_GROUPS = bytes(
    ord("0") if byte in b"0123456789" else ord("-") if byte in b"-. " else ord("x")
    for byte in range(256)
)
_LAST_GROUPS = b"000-0000"
_GROUPED = re.compile(
    rb"(?:-\d{3}-|\.[2-9]\d\d\.)\d{4}(?![\w-]|\.\d)"
    rb"(?<=[2-9]\d\d.\d{3}.\d{4})(?<![\w.-]\d{3}.\d{3}.\d{4})",
)
_AREA = 3
_PARENTHESES = re.compile(rb"\(\d{3}\) ?\d{3}[ .-]\d{4}(?![\w-]|\.\d)")
_LONGEST_AREA = len("(415) ")
_FEWEST_DIGITS, _MOST_DIGITS = 8, 15
_PHONE_VALUE = re.compile(rb"\+?[\d ().-]{9,24}\Z")
_MENTION = re.compile(rb"<@(?:[!&]?\d{17,20}|[UW][A-Z0-9]{6,12}(?:\|[^>\n]{0,80})?)>")


def phone_pass(view: TextViews) -> list[SecretSpan]:
    """Return phone numbers, masked whole: a few digits of one are enough to find the rest."""
    raw = view.raw
    spans: list[SecretSpan] = []
    for at in find_each(raw.translate(_TO_GROUPS), _LAST_GROUPS):
        if raw[at - 1] in b"-.":
            grouped = _GROUPED.match(raw, at - 1) if at else None
            start = at - 1 - _AREA
        else:
            start = raw.rfind(b"(", max(0, at - _LONGEST_AREA), at)
            grouped = _PARENTHESES.match(raw, start) if start >= 0 else None
        if grouped:
            spans.append(SecretSpan(start, grouped.end(), Mask.WHOLE))
    if b"+" in raw:
        spans += [
            SecretSpan(found.start(), found.end(), Mask.WHOLE)
            for found in _INTERNATIONAL.finditer(raw)
            if _FEWEST_DIGITS <= _digits(found.group()) <= _MOST_DIGITS
        ]
    return spans


def mention_pass(view: TextViews) -> list[SecretSpan]:
    """Return the ids in mentions such as `<@U024BE7LH>`; the angle brackets stay."""
    return [
        SecretSpan(at + 1, found.end() - 1, Mask.WHOLE)
        for at in find_each(view.raw, b"@")
        if at and (found := _MENTION.match(view.raw, at - 1))
    ]


def phone_field_pass(view: TextViews, sites: Iterable[Site]) -> list[SecretSpan]:
    """Return the numbers in fields that are called phone, however they are written."""
    raw = view.raw
    spans: list[SecretSpan] = []
    for site in sites:
        if site.kind is not SecretKind.PHONE:
            continue
        value = read_value(raw, site.value)
        if value is None:
            continue
        written = raw[value.start : value.stop]
        if _PHONE_VALUE.match(written) and _digits(written) >= _FEWEST_DIGITS:
            spans.append(SecretSpan(value.start, value.stop, Mask.WHOLE))
    return spans


def _digits(written: bytes) -> int:
    return len(written) - len(written.translate(None, b"0123456789"))
