"""What went wrong with a provider's SDK, in our words: one table for every SDK.

An error's own shape says what it is, because the SDKs use the same names; what their HTTP library
raises is told by its name too, as the library is their dependency and not ours.
"""

from __future__ import annotations

import re
import time
from collections.abc import Mapping
from dataclasses import dataclass
from enum import Enum, auto
from math import isfinite
from typing import TYPE_CHECKING, cast

from holdfast.errors import (
    ConfigError,
    HoldfastError,
    ModelDenied,
    ModelError,
    ModelMissing,
    ModelOverflow,
    ModelUnavailable,
    SummarizerDenied,
    SummarizerError,
    SummarizerMisread,
    SummarizerMissing,
    SummarizerUnavailable,
)
from holdfast.tokens import window_from_error

if TYPE_CHECKING:
    from holdfast.providers.http_clients import ApiEndpoint

SERVER_KEY = "HOLDFAST_API_KEY"
"""The variable with the key of a compatible server: a provider's own key is never sent there."""

_DENIED = frozenset({401, 403})
_PASSING = frozenset({408, 409, 425, 429})
_UNFIT = frozenset({400, 422})
"""Statuses that say only that the request was wrong; the sentence says how."""
_CUT = frozenset({"RemoteProtocolError", "ReadError", "DecodingError"})
_TIMEOUTS = frozenset({"APITimeoutError", "ReadTimeout", "ConnectTimeout", "PoolTimeout"})
_CONNECTIONS = frozenset({"APIConnectionError", "ConnectError", "WriteError", "NetworkError"})
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
# What a provider calls its errors when they come inside a stream that had begun well.
_STATUS_INSIDE = {
    "overloaded_error": 529,
    "rate_limit_error": 429,
    "timeout_error": 504,
    "authentication_error": 401,
    "permission_error": 403,
    "not_found_error": 404,
    "request_too_large": 413,
    "exceed_context_size_error": 413,
    "invalid_request_error": 400,
}
_BROKEN_INSIDE = 500


class FailureKind(Enum):
    """What a failed request means."""

    DENIED = auto()
    NO_CREDENTIAL = auto()
    """The SDK found no credential and sent nothing."""
    UNAVAILABLE = auto()
    """Worth another try."""
    TOO_LARGE = auto()
    MISSING = auto()
    """There is no such model."""
    REJECTED = auto()
    CUT_OFF = auto()
    """The answer did not arrive whole."""
    NOT_JSON = auto()
    NO_CONNECTION = auto()


@dataclass(frozen=True, slots=True)
class RequestFailure:
    """A failed request, whoever asked."""

    kind: FailureKind
    message: str
    retry_after: float | None = None
    """Seconds for which the provider wants to be left alone."""
    details: str = ""
    """The body of an answer: fields beside its sentence may state the true window."""


def failure_of(error: Exception, timeout: float) -> RequestFailure | None:
    """Return what an SDK's error means; None where it is no failure of the request."""
    name = type(error).__name__
    cause = error.__cause__ or error
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _refusal(status, error)
    if name in _TIMEOUTS:
        return RequestFailure(FailureKind.UNAVAILABLE, f"no answer within {timeout:g} s")
    if {name, type(cause).__name__} & _CUT:
        return RequestFailure(FailureKind.CUT_OFF, str(cause))
    if name in _CONNECTIONS:
        return RequestFailure(FailureKind.NO_CONNECTION, str(cause))
    if name == "APIError":
        return _refusal(_BROKEN_INSIDE, error)
    if name in ("OpenAIError", "AnthropicError") or (
        isinstance(error, TypeError) and "authentication" in str(error)
    ):
        # What an SDK raises before it sends anything.
        return RequestFailure(FailureKind.NO_CREDENTIAL, str(error))
    if isinstance(error, ValueError):
        # The SDKs let the JSON reader's own error through.
        return RequestFailure(FailureKind.NOT_JSON, str(error))
    return None


def _refusal(status: int, error: Exception) -> RequestFailure:
    body: object = getattr(error, "body", None)
    if status in (200, _BROKEN_INSIDE):
        fields = fields_of(body)
        fields = fields_of(fields.get("error")) or fields
        code = fields.get("code")
        if isinstance(code, int) and 400 <= code < 600:
            status = code
        else:
            known = (_STATUS_INSIDE.get(str(fields.get(name))) for name in ("type", "code"))
            status = next((status for status in known if status), max(status, _BROKEN_INSIDE))
    message = error_sentence(body, str(error))
    kind = status_kind(status, message)
    headers: object = getattr(getattr(error, "response", None), "headers", {})
    return RequestFailure(
        kind,
        f"HTTP {status}: {message}" if message else f"HTTP {status}",
        retry_after(cast("Mapping[str, str]", headers))
        if kind is FailureKind.UNAVAILABLE
        else None,
        str(body),
    )


def status_kind(status: int, message: str) -> FailureKind:
    """Return what an HTTP status with its message means."""
    if status in _DENIED:
        return FailureKind.DENIED
    if status in _PASSING or status >= 500:
        return FailureKind.UNAVAILABLE
    is_about_size = _TOO_LARGE.search(message) or window_from_error(message) is not None
    if status == 413 or (status in _UNFIT and is_about_size):
        return FailureKind.TOO_LARGE
    if status == 404 or _NO_MODEL.search(message):
        return FailureKind.MISSING
    return FailureKind.REJECTED


def error_sentence(body: object, otherwise: str) -> str:
    """Return the sentence inside a provider's error body, with or without its envelope."""
    for _ in range(2):
        if not isinstance(body, Mapping):
            break
        fields = fields_of(cast("object", body))
        sentence = fields.get("message")
        if isinstance(sentence, str) and sentence:
            return sentence
        body = fields.get("error")
    return body if isinstance(body, str) and body else otherwise


def as_model_error(
    failure: RequestFailure, model: str, endpoint: ApiEndpoint, variable: str
) -> ModelError:
    """Return the error of a conversation's model.

    The variable is where the SDK looks for the provider's own credential.
    """
    variable = SERVER_KEY if endpoint.url else variable
    sentence = f"{model}: {failure.message}"
    match failure.kind:
        case FailureKind.DENIED:
            return ModelDenied(f"{sentence}; check the key in {variable}")
        case FailureKind.NO_CREDENTIAL:
            return ModelDenied(f"{model}: there is no credential; set {variable}")
        case FailureKind.UNAVAILABLE:
            return ModelUnavailable(sentence, retry_after=failure.retry_after)
        case FailureKind.CUT_OFF:
            return ModelUnavailable(f"{model}: the answer was cut off: {failure.message}")
        case FailureKind.NOT_JSON:
            return ModelUnavailable(
                f"{model}: the answer was cut off: it is not JSON: {failure.message}"
            )
        case FailureKind.NO_CONNECTION:
            where = f" to {endpoint.url}" if endpoint.url else ""
            return ModelUnavailable(f"{model}: no connection{where}: {failure.message}")
        case FailureKind.TOO_LARGE:
            more = "" if window_from_error(sentence) else f" {failure.details}"
            return ModelOverflow(f"{sentence}{more}")
        case FailureKind.MISSING:
            return ModelMissing(sentence)
        case FailureKind.REJECTED:
            return ModelError(sentence)


def as_summarizer_error(failure: RequestFailure, model: str) -> HoldfastError:
    """Return the error of a summarizer, or of its settings."""
    match failure.kind:
        case FailureKind.DENIED:
            return SummarizerDenied(failure.message)
        case FailureKind.NO_CREDENTIAL:
            return ConfigError(f"model {model}: {failure.message}")
        case FailureKind.UNAVAILABLE:
            return SummarizerUnavailable(failure.message, retry_after=failure.retry_after)
        case FailureKind.NO_CONNECTION:
            return SummarizerUnavailable(f"no connection: {failure.message}")
        case FailureKind.CUT_OFF:
            return SummarizerMisread(f"the answer was cut off: {failure.message}")
        case FailureKind.NOT_JSON:
            return SummarizerMisread(f"the answer is not JSON: {failure.message}")
        case FailureKind.MISSING:
            return SummarizerMissing(failure.message)
        case FailureKind.TOO_LARGE | FailureKind.REJECTED:
            return SummarizerError(failure.message)


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


def fields_of(value: object) -> Mapping[str, object]:
    """Return the fields of what a server sent; none of what is no object."""
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
