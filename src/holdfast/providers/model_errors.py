"""What went wrong between a conversation and its model, in our words: one table for every SDK."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from holdfast.errors import (
    ModelDenied,
    ModelError,
    ModelMissing,
    ModelOverflow,
    ModelUnavailable,
)
from holdfast.providers.provider_errors import Refusal, is_cut, refusal, retry_after, said
from holdfast.tokens import window_from_error

if TYPE_CHECKING:
    from typing import Never

__all__ = ["SERVER_KEY", "Address", "cut_off", "raise_as_model_error"]

SERVER_KEY = "HOLDFAST_API_KEY"
"""The variable with the key of a compatible server: a provider's own key is never sent there."""

# What a provider calls its errors when they come inside a stream that had begun well.
_KINDS = {
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
_TIMEOUTS = frozenset({"APITimeoutError", "ReadTimeout", "ConnectTimeout", "PoolTimeout"})
_CONNECTIONS = frozenset({"APIConnectionError", "ConnectError", "WriteError", "NetworkError"})


@dataclass(frozen=True, slots=True)
class Address:
    """Whom a request was for, as its errors say it."""

    model: str
    variable: str
    """Where the SDK looks for the credential when none is given."""
    url: str = ""
    """Where a compatible server listens; empty for the provider itself."""
    timeout: float = 120.0

    @property
    def credential(self) -> str:
        """Return the variable to look at when the credential was refused."""
        return SERVER_KEY if self.url else self.variable


def raise_as_model_error(error: Exception, address: Address) -> Never:
    """Raise what an SDK or its HTTP library raised as the `ModelError` that it stands for.

    The error's own shape says what it is: both SDKs use the same names. What is no failure of
    the request is raised as it is.
    """
    translated = _translated(error, address)
    if translated is None:
        raise error
    raise translated from error


def cut_off(address: Address, why: str) -> ModelUnavailable:
    """Return the error for an answer that did not arrive whole."""
    return ModelUnavailable(f"{address.model}: the answer was cut off: {why}")


def _translated(error: Exception, address: Address) -> ModelError | None:
    name = type(error).__name__
    status = getattr(error, "status_code", None)
    if isinstance(status, int):
        return _refused(status, error, address)
    if name in _TIMEOUTS:
        return ModelUnavailable(f"{address.model}: no answer within {address.timeout:g} s")
    if is_cut(error) or is_cut(error.__cause__ or error):
        return cut_off(address, str(error.__cause__ or error))
    if name in _CONNECTIONS:
        where = f" to {address.url}" if address.url else ""
        return ModelUnavailable(
            f"{address.model}: no connection{where}: {error.__cause__ or error}"
        )
    if name == "APIError":
        return _refused(_BROKEN_INSIDE, error, address)
    if _is_about_credentials(error):
        # What an SDK raises before it sends anything.
        return ModelDenied(f"{address.model}: there is no credential; set {address.credential}")
    if isinstance(error, ValueError):
        # The SDKs let the JSON reader's own error through.
        return cut_off(address, f"it is not JSON: {error}")
    return None


def _is_about_credentials(error: Exception) -> bool:
    if type(error).__name__ in ("OpenAIError", "AnthropicError"):
        return True
    return isinstance(error, TypeError) and "authentication" in str(error)


def _refused(status: int, error: Exception, address: Address) -> ModelError:
    body: object = getattr(error, "body", None)
    if status in (200, _BROKEN_INSIDE):
        status = _status_inside(body, status)
    message = said(body, str(error))
    sentence = f"{address.model}: HTTP {status}: {message}"
    match refusal(status, message):
        case Refusal.DENIED:
            return ModelDenied(f"{sentence}; check the key in {address.credential}")
        case Refusal.PASSING:
            return ModelUnavailable(sentence, retry_after=retry_after(_headers(error)))
        case Refusal.TOO_LARGE:
            # The fields beside the sentence may state the true window where it does not.
            more = "" if window_from_error(sentence) else f" {body}"
            return ModelOverflow(f"{sentence}{more}")
        case Refusal.MISSING:
            return ModelMissing(sentence)
        case Refusal.OTHER:
            return ModelError(sentence)


def _status_inside(body: object, otherwise: int) -> int:
    """Return the status that an error inside a stream stands for: its own says 200 or nothing."""
    fields = _fields(body)
    fields = _fields(fields.get("error")) or fields
    code = fields.get("code")
    if isinstance(code, int) and 400 <= code < 600:
        return code
    known = (_KINDS.get(str(fields.get(name))) for name in ("type", "code"))
    return next((status for status in known if status), max(otherwise, _BROKEN_INSIDE))


def _headers(error: Exception) -> Mapping[str, str]:
    response: object = getattr(error, "response", None)
    return cast("Mapping[str, str]", getattr(response, "headers", {}))


def _fields(value: object) -> Mapping[str, object]:
    return cast("Mapping[str, object]", value) if isinstance(value, Mapping) else {}
