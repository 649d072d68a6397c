"""What an agent did that OpenHands runs over the Agent Client Protocol.

Every change of a call is an event of its own. A call is told when what it asks for is known, its
result when it is over; what stands in between is for the screen.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.loose import as_json, is_object, mapping, mappings, string
from holdfast.formats.session_reader import words
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["Errands"]

_OVER = frozenset(["completed", "failed"])


class Errands:
    """Knows which calls were told, and which of them were answered."""

    def __init__(self) -> None:
        """Know no call."""
        self._asked: set[str] = set()
        self._answered: set[str] = set()

    def messages(self, event: Mapping[str, object]) -> Iterator[Message]:
        """Return what is new in a change of a call."""
        call = string(event.get("tool_call_id"))
        is_over = string(event.get("status")) in _OVER
        name = string(event.get("tool_kind")) or "tool"
        if call not in self._asked and (is_over or event.get("raw_input")):
            self._asked.add(call)
            yield Message(Role.ASSISTANT, (ToolCall(call, name, _arguments(event)),))
        if call not in self._answered and is_over:
            self._answered.add(call)
            failed = event.get("is_error") is True or event.get("status") == "failed"
            content = (Text(_output(event)),)
            yield Message(Role.TOOL, (ToolResult(call, content, is_error=failed, name=name),))


def _arguments(event: Mapping[str, object]) -> str:
    asked = event.get("raw_input")
    if is_object(asked) and asked:
        return as_json(asked)
    return as_json({"input": asked} if asked else {"title": string(event.get("title"))})


def _output(event: Mapping[str, object]) -> str:
    found: list[str] = []
    for block in mappings(event.get("content")):
        inside = mapping(block.get("content")) or block
        changed = string(inside.get("new_text")) or string(inside.get("newText"))
        found.append(string(inside.get("text")) or changed or words([inside]))
    text = "\n".join(filter(None, found))
    output = event.get("raw_output")
    if text or not output:
        return text
    return output if isinstance(output, str) else as_json(output)
