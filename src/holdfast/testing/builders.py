"""Small builders, so that a transcript in a test reads like a conversation."""

from __future__ import annotations

from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult


def system(text: str) -> Message:
    """Return a system prompt."""
    return Message(Role.SYSTEM, (Text(text),))


def user(text: str, *, pinned: bool = False) -> Message:
    """Return a message that a user sent."""
    return Message(Role.USER, (Text(text),), pinned=pinned)


def assistant(text: str = "", *calls: ToolCall) -> Message:
    """Return a message of the model, with or without words and calls."""
    words = (Text(text),) if text else ()
    return Message(Role.ASSISTANT, (*words, *calls))


def call(id_: str, name: str = "bash", arguments: str = "{}") -> ToolCall:
    """Return a tool call."""
    return ToolCall(id_, name, arguments)


def tool(call_id: str, text: str = "ok", *, is_error: bool = False) -> Message:
    """Return the message that answers one call."""
    return Message(Role.TOOL, (ToolResult(call_id, (Text(text),), is_error=is_error),))


def step(id_: str, command: str = "ls", output: str = "ok") -> tuple[Message, Message]:
    """Return one exchange: a shell call and its result."""
    return assistant("", call(id_, "bash", f'{{"command": "{command}"}}')), tool(id_, output)
