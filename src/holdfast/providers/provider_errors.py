"""What a provider's HTTP answer means, in our words: one table for every SDK."""

from __future__ import annotations

import re
import time
from enum import Enum, auto
from math import isfinite
from typing import TYPE_CHECKING, cast

from holdfast.errors import (
    SummarizerDenied,
    SummarizerError,
    SummarizerMisread,
    SummarizerMissing,
    SummarizerUnavailable,
)
from holdfast.tokens import window_from_error

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = [
    "Refusal",
    "broken_connection",
    "is_cut",
    "refusal",
    "rejection",
    "retry_after",
    "said",
]

_DENIED = frozenset({401, 403})
_PASSING = frozenset({408, 409, 425, 429})
_CUT = frozenset({"RemoteProtocolError", "ReadError", "DecodingError"})
_NO_MODEL = re.compile(
    r"\bmodel\b.{0,80}\b(?:not found|does not exist|not exist|unknown|invalid)"
    r"|\b(?:unknown|invalid|no such|unsupported)\s+model\b|model_not_found",
    re.IGNORECASE | re.DOTALL,
)
_TOO_LARGE = re.compile(
    r"exceed_context_size|context_length_exceeded|prompt is too long|request_too_large"
    r"|exceeds? (?:the )?(?:available |maximum |model's )*(?:context|prompt length|token limit)"
    r"|(?:maximum|max) (?:context|prompt|input) length|input is too long"
    r"|too many (?:input )?tokens",
    re.IGNORECASE,
)
_UNFIT = frozenset({400, 422})
"""Statuses that say only that the request was wrong; the sentence says how."""


class Refusal(Enum):
    """What a provider means by a status and a sentence."""

    DENIED = auto()
    PASSING = auto()
    """Worth another try."""
    TOO_LARGE = auto()
    MISSING = auto()
    """There is no such model."""
    OTHER = auto()


def refusal(status: int, message: str) -> Refusal:
    """Return what an HTTP status with its message means."""
    if status in _DENIED:
        return Refusal.DENIED
    if status in _PASSING or status >= 500:
        return Refusal.PASSING
    if status == 413 or (status in _UNFIT and _is_about_size(message)):
        return Refusal.TOO_LARGE
    if status == 404 or _NO_MODEL.search(message):
        return Refusal.MISSING
    return Refusal.OTHER


def _is_about_size(message: str) -> bool:
    return bool(_TOO_LARGE.search(message)) or window_from_error(message) is not None


def said(body: object, otherwise: str) -> str:
    """Return the sentence inside a provider's error body, with or without its envelope."""
    for _ in range(2):
        if not isinstance(body, dict):
            break
        fields = cast("dict[str, object]", body)
        sentence = fields.get("message")
        if isinstance(sentence, str) and sentence:
            return sentence
        body = fields.get("error")
    return body if isinstance(body, str) and body else otherwise


def rejection(status: int, message: str, headers: Mapping[str, str]) -> SummarizerError:
    """Return the error that an HTTP status with its message stands for."""
    sentence = f"HTTP {status}: {message}" if message else f"HTTP {status}"
    match refusal(status, message):
        case Refusal.DENIED:
            return SummarizerDenied(sentence)
        case Refusal.PASSING:
            return SummarizerUnavailable(sentence, retry_after=retry_after(headers))
        case Refusal.MISSING:
            return SummarizerMissing(sentence)
        case Refusal.TOO_LARGE | Refusal.OTHER:
            return SummarizerError(sentence)


def broken_connection(error: Exception) -> SummarizerError:
    """Return the error for a connection that failed: cut in the answer, or never made.

    Both SDKs put their HTTP library's error behind their own.
    """
    cause = error.__cause__ or error
    if is_cut(cause):
        return SummarizerMisread(f"the answer was cut off: {cause}")
    return SummarizerUnavailable(f"no connection: {cause}")


def is_cut(error: BaseException) -> bool:
    """Say whether this is an HTTP library's error for an answer that ended too early.

    It is told by its name, because the library is the SDKs' dependency and not ours.
    """
    return type(error).__name__ in _CUT


def retry_after(headers: Mapping[str, str]) -> float | None:
    """Return how many seconds the provider wants to be left alone, if it says.

    A date is measured against the date of the same answer, so that a wrong clock on either
    side does not matter.
    """
    milliseconds = _number(headers.get("retry-after-ms", ""))
    if milliseconds is not None:
        return milliseconds / 1000
    wish = headers.get("retry-after", "").strip()
    seconds = _number(wish)
    if seconds is not None or not wish:
        return seconds
    then = _moment(wish)
    if then is None:
        return None
    now = _moment(headers.get("date", ""))
    return max(0.0, then - (time.time() if now is None else now))


def _number(text: str) -> float | None:
    try:
        value = float(text)
    except ValueError:
        return None
    return value if isfinite(value) and value >= 0 else None


def _moment(text: str) -> float | None:
    from email.utils import parsedate_to_datetime

    try:
        return parsedate_to_datetime(text).timestamp()
    except (ValueError, OverflowError):
        return None
