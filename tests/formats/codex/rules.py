"""What every rollout satisfies that Codex can resume; what we write for it has to as well.

Read as a list: the first line names the session; every line has a time and a payload of its kind;
items have the shape that Codex parses; a result follows its call, once; the screen repeats what
items say; turns open and close one after the other; a compaction holds whole items.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.codex.items import CONVERSATION
from holdfast.formats.events import Problem
from holdfast.formats.json_access import (
    JsonObject,
    is_array,
    mapping,
    mappings,
    milliseconds,
    string,
)

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.source import SourceRecord

_KINDS = frozenset(["compacted", "event_msg", "response_item", "session_meta", "turn_context"])
_META = ("id", "timestamp", "cwd", "originator", "cli_version")
_CONTEXT = ("cwd", "model", "approval_policy", "summary")
_TEXTS = {
    "custom_tool_call": ("call_id", "name", "input"),
    "custom_tool_call_output": ("call_id",),
    "function_call": ("call_id", "name", "arguments"),
    "function_call_output": ("call_id",),
}
_OUTPUTS = frozenset(["custom_tool_call_output", "function_call_output"])
_CONTENT = {
    "assistant": frozenset(["output_text"]),
    "developer": frozenset(["input_text", "input_image"]),
    "system": frozenset(["input_text"]),
    "user": frozenset(["input_text", "input_image"]),
}
_UUID_LENGTH = 36
_NEAR = 4
"""How many items back the screen may repeat what one of them said."""


def violations(records: Iterable[SourceRecord]) -> Iterator[Problem]:
    """Return what in a rollout Codex would not have written so."""
    inspector = _Checker()
    for record in records:
        for reason in inspector.take(mapping(record.value)):
            yield Problem(record.line, reason, record.file)


class _Checker:
    """Looks at a file line by line."""

    def __init__(self) -> None:
        self._has_begun = False
        self._calls: dict[str, str] = {}
        """The calls that wait for a result, with the kind of item that answers them."""
        self._turn = ""
        self._said: list[str] = []
        """What the newest items said."""
        self._announced: list[str] = []
        """What the screen said that the next item of the model would say."""

    def take(self, entry: JsonObject) -> Iterator[str]:
        """Return what is wrong with a line."""
        kind, payload = string(entry.get("type")), mapping(entry.get("payload"))
        if milliseconds(entry.get("timestamp")) is None:
            yield "the line has no time"
        if kind not in _KINDS or not payload:
            yield f"a line of type {kind!r} without a payload of that kind"
        if not self._has_begun and kind != "session_meta":
            yield "the file does not begin with session_meta"
        self._has_begun = True
        match kind:
            case "session_meta":
                yield from _missing(payload, _META)
                if len(string(payload.get("id"))) != _UUID_LENGTH:
                    yield "the id of the session is no UUID"
            case "turn_context":
                yield from _missing(payload, _CONTEXT)
                if not mapping(payload.get("sandbox_policy")):
                    yield "a turn without a sandbox policy"
            case "response_item":
                yield from self._item(payload)
            case "compacted":
                yield from _missing(payload, ("message",), blank=True)
                items = payload.get("replacement_history")
                if items is None:
                    return
                if not is_array(items) or len(mappings(items)) != len(items):
                    yield "replacement_history is no list of items"
                for item in mappings(items):
                    yield from _shape(item)
            case _:
                yield from self._event(payload)

    def _item(self, item: JsonObject) -> Iterator[str]:
        yield from _shape(item)
        kind, call = string(item.get("type")), string(item.get("call_id"))
        if kind == "message":
            texts = [string(part.get("text")) for part in mappings(item.get("content"))]
            if self._announced and item.get("role") == "assistant":
                if self._announced != list(filter(None, texts)):
                    yield "the screen said something else than the item after it"
                self._announced = []
            self._said = [*self._said, "".join(texts)][-_NEAR:]
        elif kind in ("function_call", "custom_tool_call"):
            if call in self._calls:
                yield f"the call {call!r} is made twice"
            self._calls[call] = f"{kind}_output"
        elif kind in _OUTPUTS and self._calls.pop(call, "") != kind:
            yield f"no call waits for the result of {call!r}"

    def _event(self, event: JsonObject) -> Iterator[str]:
        match event.get("type"):
            case "task_started":
                if self._turn:
                    yield "a turn begins before the last one ended"
                self._turn = string(event.get("turn_id"))
            case "task_complete" | "turn_aborted":
                if event.get("turn_id") != self._turn:
                    yield "a turn ends that is not open"
                self._turn = ""
            case "user_message":
                if string(event.get("message")) not in self._said:
                    yield "the screen shows a prompt that no item holds"
            case "agent_message":
                self._announced.append(string(event.get("message")))
            case "token_count" if event.get("info") is not None:
                counts = mapping(event.get("info"))
                for name in ("total_token_usage", "last_token_usage"):
                    if "total_tokens" not in mapping(counts.get(name)):
                        yield f"the costs have no {name}"
            case _:
                return


def _missing(payload: JsonObject, names: Iterable[str], *, blank: bool = False) -> Iterator[str]:
    for name in names:
        value = payload.get(name)
        if not isinstance(value, str) or not (value or blank):
            yield f"{name} is missing"


def _shape(item: JsonObject) -> Iterator[str]:
    """Return what Codex could not parse in an item."""
    kind = string(item.get("type"))
    if kind not in CONVERSATION:
        yield f"{kind!r} is no kind of item"
    yield from _missing(item, _TEXTS.get(kind, ()), blank=True)
    if kind in _OUTPUTS and not isinstance(item.get("output"), str | list):
        yield "a result is neither text nor a list"
    elif kind == "message":
        allowed = _CONTENT.get(string(item.get("role")), frozenset())
        if not is_array(item.get("content")):
            yield "the content of a message is no list"
        for part in mappings(item.get("content")):
            if string(part.get("type")) not in allowed:
                yield f"{part.get('type')!r} in a message of {item.get('role')!r}"
