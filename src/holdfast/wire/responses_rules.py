"""What OpenAI's Responses API refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.transcript import Violation
from holdfast.wire.arguments import is_json
from holdfast.wire.fields import Wire, known_string, records
from holdfast.wire.responses_items import ACTIONS, OUTPUTS, is_content

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.wire.body import Body

__all__ = ["validate"]

_ROLES = frozenset({"user", "assistant", "system", "developer"})
_CALLS = frozenset({"function_call", "custom_tool_call", *ACTIONS})


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every item that the API would refuse, and the rule it breaks."""
    found: list[Violation] = [*_pairing(body.messages), *_successors(body.messages)]
    for index, item in enumerate(body.messages):
        for rule in (_role, _content, _arguments):
            found += rule(index, item)
    return tuple(sorted(found, key=lambda violation: violation.index))


def _kind(item: Wire) -> object:
    return item.get("type", "message")


def _role(index: int, item: Wire) -> Iterator[Violation]:
    kind, role = _kind(item), item.get("role")
    if not isinstance(kind, str):
        yield Violation(index, "unknown-type", "an item needs a type")
    elif kind == "message" and role not in _ROLES:
        yield Violation(index, "unknown-role", f"there is no role {role!r}")


def _content(index: int, item: Wire) -> Iterator[Violation]:
    if _kind(item) != "message":
        return
    content = item.get("content")
    if not isinstance(content, str | list):
        yield Violation(index, "shape", "content is text or a list of parts")
    theirs = ("output_text", "refusal")
    for part in records(item.get("content")):
        kind = part.get("type")
        is_reply = item.get("role") == "assistant"
        if not is_content(kind) or (kind in theirs) is not is_reply:
            problem = f"a message of the {item.get('role')} cannot hold a part of type {kind!r}"
            yield Violation(index, "unknown-type", problem)


def _arguments(index: int, item: Wire) -> Iterator[Violation]:
    if _kind(item) == "function_call" and not is_json(known_string(item, "arguments")):
        name = known_string(item, "name")
        yield Violation(index, "arguments-json", f"the arguments of {name!r} are not JSON text")


def _pairing(items: list[Wire]) -> Iterator[Violation]:
    """Yield calls without an output and outputs without a call.

    An output may stand anywhere after its call. Calls of the last turn of the model are no
    violation: their tools may still be running.
    """
    waiting: dict[str, int] = {}
    answered: set[str] = set()
    for index, item in enumerate(items):
        kind = _kind(item)
        call_id = known_string(item, "call_id")
        if kind in _CALLS and call_id:
            if call_id in waiting:
                yield Violation(index, "pairing", f"call id {call_id!r} is used twice")
            waiting[call_id] = index
        elif kind in OUTPUTS:
            call_id = call_id or known_string(item, "id")
            if waiting.pop(call_id, None) is None:
                problem = "has its result already" if call_id in answered else "does not exist"
                message = f"a result answers call {call_id!r}, which {problem}"
                yield Violation(index, "pairing", message)
            answered.add(call_id)
    last = _last_turn(items)
    for call_id, index in waiting.items():
        if index < last:
            yield Violation(index, "pairing", f"call {call_id!r} has no result")


def _last_turn(items: list[Wire]) -> int:
    """Return where the last items of the model begin, the results after them left aside."""
    at = len(items)
    while at and _kind(items[at - 1]) in OUTPUTS:
        at -= 1
    while at and not _is_heard(items[at - 1]):
        at -= 1
    return at


def _is_heard(item: Wire) -> bool:
    kind = _kind(item)
    return kind in OUTPUTS or (kind == "message" and item.get("role") != "assistant")


def _successors(items: list[Wire]) -> Iterator[Violation]:
    is_followed = False
    for index in range(len(items) - 1, -1, -1):
        if _kind(items[index]) != "reasoning":
            is_followed = not _is_heard(items[index])
        elif not is_followed:
            problem = "a reasoning item is not followed by what it reasoned for"
            yield Violation(index, "reasoning-successor", problem)
