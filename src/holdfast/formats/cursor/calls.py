"""What a tool of Cursor's agent was asked and what came of it, as its stream prints both.

A call is an object with one key that names the tool (`readToolCall`), or a function with a name. A
result is an object with one key that says how it ended; what is under it depends on the tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.figures import whole
from holdfast.formats.loose import as_json, is_array, is_object, mapping, sequence, string
from holdfast.formats.session_reader import contents
from holdfast.transcript import Media, Text

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Call", "Outcome", "call_of", "outcome_of"]

_SUFFIX = "ToolCall"
_GOOD = frozenset(
    [
        "approved",
        "async",
        "complete",
        "discardSuccess",
        "registered",
        "saveSuccess",
        "startSuccess",
        "stillRunning",
        "success",
    ]
)
"""How a call ends that did not fail."""
_BAD = frozenset(
    [
        "error",
        "failure",
        "fileBusy",
        "invalidFile",
        "needsConfirmation",
        "noSpace",
        "notFile",
        "notFound",
        "rejected",
        "sandboxUnsupported",
        "timeout",
    ]
)
_BAD_ENDS = ("Denied", "Error", "NotFound")


@dataclass(frozen=True, slots=True)
class Call:
    """A tool by its name, and what it was asked."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class Outcome:
    """What came of a call."""

    content: tuple[Text | Media, ...]
    failed: bool


def call_of(entry: Mapping[str, object]) -> Call:
    """Return the call that an event is about."""
    name, fields = _tool(entry)
    asked = mapping(fields.get("args"))
    if name == "mcp" and (server := string(asked.get("providerIdentifier"))):
        tool = string(asked.get("toolName")) or string(asked.get("name"))
        return Call(f"mcp__{server}__{tool}", as_json(asked.get("args")))
    if name == "mcp":
        return Call(string(asked.get("name")) or name, as_json(asked.get("args")))
    if name == "function":
        return Call(string(fields.get("name")), as_json(fields.get("arguments")))
    return Call(name, as_json(fields.get("args")))


def outcome_of(entry: Mapping[str, object]) -> Outcome:
    """Return what came of the call that an event is about."""
    _, fields = _tool(entry)
    result = fields.get("result")
    failed = False
    for ending, told in mapping(result).items():
        is_bad = ending in _BAD or ending.endswith(_BAD_ENDS)
        if (ending in _GOOD or is_bad) and (is_object(told) or isinstance(told, str)):
            result, failed = told, is_bad
            break
    body = mapping(result)
    failed = failed or bool(whole(body.get("exitCode"))) or body.get("isError") is True
    return Outcome(_said(result), failed)


def _tool(entry: Mapping[str, object]) -> tuple[str, Mapping[str, object]]:
    made = mapping(entry.get("tool_call"))
    for key, fields in made.items():
        if is_object(fields) and (key.endswith(_SUFFIX) or key == "function"):
            return key.removesuffix(_SUFFIX), fields
    return string(made.get("name")), made


def _said(result: object) -> tuple[Text | Media, ...]:
    if result is None or isinstance(result, str):
        return (Text(result or ""),)
    body = mapping(result)
    if "stdout" in body or "stderr" in body:
        streams = (string(body.get(name)) for name in ("stdout", "stderr"))
        printed = string(body.get("interleavedOutput"))
        return (Text(printed or "\n".join(text for text in streams if text)),)
    content = body.get("content")
    if is_array(content) and (found := contents([_block(each) for each in sequence(content)])):
        return found
    return (Text(content if isinstance(content, str) else as_json(result)),)


def _block(value: object) -> object:
    """Return a block of content, which stands under the name of its kind."""
    block = mapping(value)
    for name in ("text", "image"):
        if is_object(inner := block.get(name)):
            return inner
    return value
