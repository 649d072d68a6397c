"""Finds the conversation of a provider's own JSON without decoding it.

A validator has to see what is there; decoding would already repair some of it.
"""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, cast

from holdfast.formats import detect
from holdfast.formats.documents.container import find_conversation
from holdfast.wire import Body

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.formats import Document

__all__ = ["raw_body", "raw_document"]

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
        # Decoded here: the reader of bytes would take UTF-16 too, which no other command takes.
        value: object = json.loads(content.decode("utf-8-sig"))
    except (ValueError, RecursionError):
        return None
    body = _located(value, provider)
    if body is None:
        return None
    name = detect(content).format if format_name == "auto" else format_name
    return body if name == provider or (format_name == "auto" and _is_plain(body)) else None


def raw_document(document: Document) -> Body | None:
    """Return the conversation of a document as it stood, or None for a session file."""
    envelope = document.envelope
    if envelope is None:
        return None
    return Body(list(envelope.messages), (envelope.rest or {}).get(envelope.system_key))


def _located(value: object, provider: str) -> Body | None:
    key, system_keys = _KEYS[provider]
    if isinstance(value, list):
        entries = cast("list[object]", value)
        return None if any(map(_is_conversation, entries)) else _body(entries, None)
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


def _is_conversation(value: object) -> bool:
    return (
        isinstance(value, dict)
        and find_conversation(cast("Mapping[str, object]", value)) is not None
    )


def _is_plain(body: Body) -> bool:
    """Say whether the messages are written alike in several dialects: a role and some words."""
    return bool(body.messages) and all(
        message.get("role") in _PLAIN_SPEAKERS
        and isinstance(message.get("content"), str)
        and len(message) == 2
        for message in body.messages
    )
