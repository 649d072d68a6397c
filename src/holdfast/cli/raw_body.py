"""Finds the conversation of a provider's own JSON without decoding it.

A validator has to see what is there; decoding would already repair some of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from holdfast.formats import detect
from holdfast.wire import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["raw_body"]

_KEYS = {
    "openai": ("messages", ()),
    "responses": ("input", ("instructions",)),
    "anthropic": ("messages", ("system",)),
    "gemini": ("contents", ("systemInstruction", "system_instruction")),
}
_PLAIN_SPEAKERS = frozenset({"user", "assistant"})


def raw_body(content: bytes, provider: str, format_name: str = "auto") -> Body | None:
    """Return the conversation as it stands, or None when it is not in the provider's JSON."""
    try:
        value: object = json.loads(content)
    except (ValueError, RecursionError):
        return None
    body = _located(value, provider)
    if body is None:
        return None
    name = detect(content).format if format_name == "auto" else format_name
    return body if name == provider or (format_name == "auto" and _is_plain(body)) else None


def _located(value: object, provider: str) -> Body | None:
    key, system_keys = _KEYS[provider]
    if isinstance(value, list):
        return _body(cast("list[object]", value), None)
    if not isinstance(value, dict):
        return None
    entry = cast("Mapping[str, object]", value)
    messages = entry.get(key)
    if not isinstance(messages, list):
        return None
    system = next((entry[name] for name in system_keys if name in entry), None)
    return _body(cast("list[object]", messages), system)


def _body(messages: list[object], system: object) -> Body | None:
    if not all(isinstance(message, dict) for message in messages):
        return None
    return Body(cast("list[dict[str, object]]", messages), system)


def _is_plain(body: Body) -> bool:
    """Say whether the messages are written alike in several dialects: a role and some words."""
    return bool(body.messages) and all(
        message.get("role") in _PLAIN_SPEAKERS
        and isinstance(message.get("content"), str)
        and len(message) == 2
        for message in body.messages
    )
