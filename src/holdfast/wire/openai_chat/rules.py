"""What OpenAI's chat API refuses."""

from __future__ import annotations

from itertools import count
from typing import TYPE_CHECKING

from holdfast.transcript import Violation
from holdfast.wire.common import CallStep, Wire, check_pairing, known_string, own, records
from holdfast.wire.json_text import is_json
from holdfast.wire.openai_chat.codec import ROLES

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.wire.common import Body

_PARTS = {
    "system": frozenset({"text"}),
    "developer": frozenset({"text"}),
    "user": frozenset({"text", "image_url", "input_audio", "file"}),
    "assistant": frozenset({"text", "refusal"}),
    # Images in tool messages are refused by OpenAI itself and taken by most that speak alike.
    "tool": frozenset({"text", "image_url"}),
    "function": frozenset({"text"}),
}
_SAYING = ("tool_calls", "function_call", "refusal", "audio")


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every message that the API would refuse, and the rule it breaks."""
    found: list[Violation] = []
    for index, message in enumerate(body.messages):
        role = message.get("role")
        if role not in ROLES or not isinstance(message.get("content"), str):
            found += _check_content(index, message)
        if role == "tool" or message.get("tool_calls"):
            found += _check_calls(index, message)
    found += check_pairing(map(_step, count(), body.messages))
    return tuple(sorted(found, key=lambda violation: violation.index))


def _step(index: int, message: Wire) -> CallStep:
    if message.get("role") == "tool":
        return CallStep(index, results=(known_string(message, "tool_call_id"),))
    calls = records(message.get("tool_calls"))
    return CallStep(index, tuple([known_string(call, "id") for call in calls]))


def _check_content(index: int, message: Wire) -> Iterator[Violation]:
    content, role = message.get("content"), message.get("role")
    if role not in ROLES:
        yield Violation(index, "unknown-role", f"there is no role {role!r}")
    match content:
        case str():
            return
        case None:
            if role != "assistant" or not any(message.get(field) for field in _SAYING):
                yield Violation(index, "empty-text", "the message has no content")
        case [] if not message.get("tool_calls"):
            yield Violation(index, "empty-text", "the content is an empty list")
        case list():
            allowed = _PARTS.get(role) if isinstance(role, str) else None
            for part in records(message["content"]):
                kind = part.get("type")
                if allowed is not None and kind not in allowed:
                    problem = f"a {role} message cannot hold a part of type {kind!r}"
                    yield Violation(index, "unknown-type", problem)
        case _:
            yield Violation(index, "shape", "content is text, a list of parts, or null")


def _check_calls(index: int, message: Wire) -> Iterator[Violation]:
    for call in records(message.get("tool_calls")):
        if not known_string(call, "id"):
            yield Violation(index, "shape", "a tool call has no id")
        if call.get("type") == "custom":
            continue
        function = own(call, "function")
        name, arguments = known_string(function, "name"), function.get("arguments")
        if not name:
            yield Violation(index, "shape", "a tool call has no function name")
        if not isinstance(arguments, str) or not is_json(arguments):
            yield Violation(index, "arguments-json", f"the arguments of {name!r} are not JSON text")
    if message.get("role") == "tool" and not known_string(message, "tool_call_id"):
        yield Violation(index, "shape", "a tool message has no tool_call_id")
