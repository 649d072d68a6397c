"""Find phone numbers and the ids by which chat platforms mention people.

Conservative: digits are everywhere in logs. A number counts when it is written the
international way, in the North American grouping, or in a field that is called phone.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.redaction.names import Kind
from holdfast.redaction.sites import read_value
from holdfast.redaction.spans import Mask, Span

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.redaction.sites import Site
    from holdfast.redaction.survey import Survey

__all__ = ["mention_pass", "phone_pass"]

_INTERNATIONAL = re.compile(
    rb"\+(?<![\w+).\]/=-]\+)[1-9]\d{0,2}(?:[ .-]?\(\d{1,4}\))?(?:[ .-]?\d{1,14}){1,6}+"
    rb"(?![\w.:,+-]?\d|\w|\()",
)
# The middle comes first: few dashes and dots are followed by digits, and the look behind, which
# costs more, is left to those.
_GROUPED = (
    re.compile(
        rb"-\d{3}-\d{4}(?![\w-]|\.\d)(?<=[2-9]\d\d.\d{3}.\d{4})(?<![\w.-]\d{3}.\d{3}.\d{4})"
    ),
    re.compile(
        rb"\.[2-9]\d\d\.\d{4}(?![\w-]|\.\d)(?<=[2-9]\d\d.\d{3}.\d{4})(?<![\w.-]\d{3}.\d{3}.\d{4})"
    ),
)
_PARENTHESES = re.compile(rb"\) ?\d{3}[ .-]\d{4}(?![\w-]|\.\d)")
_AREA = 3
_AREA_CODE = re.compile(rb"\(\d{3}\Z")
_FEWEST_DIGITS, _MOST_DIGITS = 8, 15
_PHONE_VALUE = re.compile(rb"\+?[\d ().-]{9,24}\Z")
_MENTION = re.compile(rb"@(?<=<@)(?:[!&]?\d{17,20}|[UW][A-Z0-9]{6,12}(?:\|[^>\n]{0,80})?)>")


def phone_pass(view: Survey, sites: Iterable[Site]) -> list[Span]:
    """Return phone numbers, masked whole: a few digits of one are enough to find the rest."""
    raw = view.raw
    spans = [
        Span(found.start(), found.end(), Mask.WHOLE)
        for found in _INTERNATIONAL.finditer(raw)
        if _FEWEST_DIGITS <= _digits(found.group()) <= _MOST_DIGITS
    ]
    for grouped in _GROUPED:
        spans += [
            Span(found.start() - _AREA, found.end(), Mask.WHOLE) for found in grouped.finditer(raw)
        ]
    spans += [
        Span(found.start() - _AREA - 1, found.end(), Mask.WHOLE)
        for found in _PARENTHESES.finditer(raw)
        if _AREA_CODE.match(raw, max(0, found.start() - _AREA - 1), found.start())
    ]
    return spans + _phone_fields(raw, sites)


def mention_pass(view: Survey) -> list[Span]:
    """Return the ids in mentions such as `<@U024BE7LH>`; the angle brackets stay."""
    return [
        Span(found.start() + 1, found.end() - 1, Mask.WHOLE)
        for found in _MENTION.finditer(view.raw)
    ]


def _phone_fields(raw: bytes, sites: Iterable[Site]) -> list[Span]:
    spans: list[Span] = []
    for site in sites:
        if site.kind is not Kind.PHONE:
            continue
        value = read_value(raw, site.value)
        if value is None:
            continue
        written = raw[value.start : value.stop]
        if _PHONE_VALUE.match(written) and _digits(written) >= _FEWEST_DIGITS:
            spans.append(Span(value.start, value.stop, Mask.WHOLE))
    return spans


def _digits(written: bytes) -> int:
    return len(written) - len(written.translate(None, b"0123456789"))
