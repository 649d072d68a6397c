"""What the gateway says by itself, in the words of the dialect in which it was asked."""

from __future__ import annotations

import json
from typing import cast

SIGNS_OF_LIFE = {
    "openai": b": holdfast is waiting\n\n",
    "responses": b": holdfast is waiting\n\n",
    "anthropic": b'event: ping\ndata: {"type": "ping"}\n\n',
}
"""What a stream may say before it begins. Gemini's client takes nothing but answers."""
_KINDS = {
    400: "invalid_request_error",
    401: "authentication_error",
    403: "permission_error",
    404: "not_found_error",
    413: "request_too_large",
    415: "invalid_request_error",
    429: "rate_limit_error",
}
_NAMES = {
    400: "INVALID_ARGUMENT",
    401: "UNAUTHENTICATED",
    403: "PERMISSION_DENIED",
    404: "NOT_FOUND",
    413: "INVALID_ARGUMENT",
    415: "INVALID_ARGUMENT",
    429: "RESOURCE_EXHAUSTED",
    503: "UNAVAILABLE",
    504: "DEADLINE_EXCEEDED",
}
_TROUBLE = "api_error"


def error_body(dialect: str, status: int, sentence: str) -> bytes:
    """Return an error as a provider of the dialect writes it."""
    kind = _KINDS.get(status, _TROUBLE)
    match dialect:
        case "anthropic":
            fields: dict[str, object] = {
                "type": "error",
                "error": {"type": kind, "message": sentence},
            }
        case "gemini":
            name = _NAMES.get(status, "INTERNAL")
            fields = {"error": {"code": status, "message": sentence, "status": name}}
        case _:
            fields = {"error": {"message": sentence, "type": kind, "param": None, "code": kind}}
    return json.dumps(fields).encode()


def error_event(dialect: str, status: int, body: bytes) -> bytes:
    """Return an error, as a body says it, as the last event of a stream that has begun."""
    try:
        found: object = json.loads(body)
    except ValueError:
        found = None
    fields = cast("dict[str, object]", found) if isinstance(found, dict) else {}
    if "error" not in fields:
        text = body.decode("utf-8", "replace")[:1000] or f"HTTP {status}"
        fields = json.loads(error_body(dialect, status, text))
    match dialect:
        case "anthropic":
            return b"event: error\ndata: " + json.dumps(fields).encode() + b"\n\n"
        case "responses":
            response = {"object": "response", "status": "failed", "output": (), **fields}
            event = {"type": "response.failed", "response": response}
            return b"event: response.failed\ndata: " + json.dumps(event).encode() + b"\n\n"
        case _:
            return b"data: " + json.dumps(fields).encode() + b"\n\n"
