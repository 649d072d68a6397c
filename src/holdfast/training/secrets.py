"""Masks secrets in everything that a training file says, and keeps arguments valid JSON."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, cast

from holdfast.transcript import Media, Recalled, Summary, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from holdfast.redaction import Redactor
    from holdfast.transcript import Content, Message, Part

__all__ = ["SecretMask"]

_MASKED = "***"


@dataclass(slots=True)
class SecretMask:
    """Masks what a redactor finds, and counts the texts that it was found in."""

    redactor: Redactor | None
    """None leaves everything as it is."""
    count: int = field(default=0, init=False)

    def message(self, message: Message) -> Message:
        """Return a message without secrets."""
        if self.redactor is None:
            return message
        parts = tuple(self._part(part) for part in message.parts)
        return message if parts == message.parts else replace(message, parts=parts)

    def text(self, text: str) -> str:
        """Return a text without secrets."""
        if self.redactor is None or not text:
            return text
        masked = self.redactor.redact(text)
        self.count += masked != text
        return masked

    def value(self, value: object) -> object:
        """Return a JSON value without secrets, names of fields left as they are."""
        if isinstance(value, str):
            return self.text(value)
        if isinstance(value, list):
            return [self.value(each) for each in cast("list[object]", value)]
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            return {name: self.value(each) for name, each in fields.items()}
        return value

    def _part(self, part: Part) -> Part:
        match part:
            case Text(text) | Thinking(text) | Summary(text) | Recalled(text):
                masked = self.text(text)
                return part if masked == text else replace(part, text=masked)
            case ToolCall(arguments=arguments):
                masked = self._arguments(arguments)
                return part if masked == arguments else replace(part, arguments=masked)
            case ToolResult():
                content = tuple(cast("Content", self._part(piece)) for piece in part.content)
                return part if content == part.content else replace(part, content=content)
            case Media(url=url):
                return replace(part, url=self.text(url)) if url else part
            case _:
                return part

    def _arguments(self, arguments: str) -> str:
        masked = self.text(arguments)
        if masked == arguments or _is_object(masked):
            return masked
        return json.dumps(self._field("", json.loads(arguments)), ensure_ascii=False)

    def _field(self, name: str, value: object) -> object:
        """Return a value that has a name, which may be what shows that it is a secret."""
        if isinstance(value, dict):
            fields = cast("dict[str, object]", value)
            return {key: self._field(key, each) for key, each in fields.items()}
        if isinstance(value, list):
            return [self._field(name, each) for each in cast("list[object]", value)]
        redactor = cast("Redactor", self.redactor)
        shown = json.dumps({name: value}, ensure_ascii=False)
        masked = redactor.redact(shown)
        if masked == shown:
            return redactor.redact(value) if isinstance(value, str) else value
        try:
            return cast("dict[str, object]", json.loads(masked)).get(name, _MASKED)
        except ValueError:
            return _MASKED


def _is_object(text: str) -> bool:
    try:
        return isinstance(json.loads(text), dict)
    except ValueError:
        return False
