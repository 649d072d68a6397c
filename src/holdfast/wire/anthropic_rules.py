"""What Anthropic's messages API refuses.

Neighbors of one role are not refused: the API joins them, and so do these rules before they
look at calls and results.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.transcript import Violation
from holdfast.wire.fields import Wire, known_string, records
from holdfast.wire.identity import is_plain
from holdfast.wire.pairing import Step, check_pairing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.wire.body import Body

__all__ = ["validate"]

_BREAKPOINTS = 4
_ROLES = frozenset({"user", "assistant", "system"})
_USER = frozenset(["text", "image", "document", "search_result", "tool_result", "container_upload"])
_ASSISTANT = frozenset(
    ["text", "thinking", "redacted_thinking", "tool_use", "compaction", "container_upload"]
)
_SERVER = ("server_tool_use", "mcp_tool_use", "_tool_result", "fallback", "_state", "tool_listing")


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every message that the API would refuse, and the rule it breaks."""
    found: list[Violation] = [*_first_role(body), *_breakpoints(body), *_trailing_space(body)]
    for index, message in enumerate(body.messages):
        for rule in (_role, _types, _empty, _thinking, _calls):
            found += rule(index, message)
    turns = list(_joined(body.messages))
    found += check_pairing(_steps(turns))
    found += _ordering(turns)
    found += _unique(body.messages)
    return tuple(sorted(found, key=lambda violation: violation.index))


def _role(index: int, message: Wire) -> Iterator[Violation]:
    role = message.get("role")
    if role not in _ROLES:
        yield Violation(index, "unknown-role", f"there is no role {role!r}")


def _first_role(body: Body) -> Iterator[Violation]:
    speakers = [message.get("role") for message in body.messages]
    if speakers and speakers[0] == "assistant":
        yield Violation(0, "first-role", "the first message must be the user's")


def _types(index: int, message: Wire) -> Iterator[Violation]:
    content, role = message.get("content"), message.get("role")
    if not isinstance(content, str | list):
        yield Violation(index, "shape", "content is text or a list of blocks")
    allowed = _ASSISTANT if role == "assistant" else _USER
    for block in records(message.get("content")):
        kind = block.get("type")
        if not isinstance(kind, str) or (kind not in allowed and not kind.endswith(_SERVER)):
            problem = f"a message of the {role} cannot hold a block of type {kind!r}"
            yield Violation(index, "unknown-type", problem)


def _empty(index: int, message: Wire) -> Iterator[Violation]:
    content = message.get("content")
    if isinstance(content, str) and not content.strip():
        yield Violation(index, "empty-text", "the content is empty")
    if isinstance(content, list) and not content:
        yield Violation(index, "empty-text", "the content has no block")
    for block in records(message.get("content")):
        if block.get("type") == "text" and not known_string(block, "text").strip():
            yield Violation(index, "empty-text", "a text block is empty")


def _thinking(index: int, message: Wire) -> Iterator[Violation]:
    for block in records(message.get("content")):
        if block.get("type") == "thinking" and not known_string(block, "signature"):
            yield Violation(index, "thinking-signature", "a thinking block has no signature")


def _calls(index: int, message: Wire) -> Iterator[Violation]:
    for block in records(message.get("content")):
        if block.get("type") == "tool_use" and not isinstance(block.get("input"), dict):
            name = known_string(block, "name")
            yield Violation(index, "arguments-json", f"the input of {name!r} is not an object")
        for key, kind in (("id", "tool_use"), ("tool_use_id", "tool_result")):
            call_id = known_string(block, key)
            if block.get("type") == kind and not is_plain(call_id):
                problem = f"the id {call_id!r} is not made of letters, digits, _ and -"
                yield Violation(index, "shape", problem)


def _breakpoints(body: Body) -> Iterator[Violation]:
    count = _marked(body.system)
    for index, message in enumerate(body.messages):
        count += _marked(message.get("content"))
        if count > _BREAKPOINTS:
            problem = f"there are more than {_BREAKPOINTS} cache breakpoints up to here"
            yield Violation(index, "cache-breakpoints", problem)
            return


def _marked(content: object) -> int:
    blocks = records(content)
    nested = sum(_marked(block.get("content")) for block in blocks)
    return nested + sum(1 for block in blocks if block.get("cache_control"))


def _trailing_space(body: Body) -> Iterator[Violation]:
    last = body.messages[-1] if body.messages else {}
    if last.get("role") != "assistant":
        return
    content = last.get("content")
    blocks = records(content)
    ends = blocks[-1] if blocks else {}
    text = content if isinstance(content, str) else known_string(ends, "text")
    if text != text.rstrip():
        problem = "the last message is the assistant's and ends with space"
        yield Violation(len(body.messages) - 1, "trailing-whitespace", problem)


def _joined(messages: list[Wire]) -> Iterator[tuple[int, str, list[Wire]]]:
    """Yield each turn: the index of its last message, its role and its blocks."""
    spoken = [
        (index, message)
        for index, message in enumerate(messages)
        if message.get("role") != "system"
    ]
    for role, run in groupby(spoken, key=lambda entry: known_string(entry[1], "role")):
        turn = list(run)
        blocks = [block for _, message in turn for block in records(message.get("content"))]
        yield turn[-1][0], role, blocks


def _steps(turns: list[tuple[int, str, list[Wire]]]) -> Iterator[Step]:
    for index, role, blocks in turns:
        kind, key = ("tool_use", "id") if role == "assistant" else ("tool_result", "tool_use_id")
        ids = tuple(known_string(block, key) for block in blocks if block.get("type") == kind)
        yield Step(index, calls=ids) if role == "assistant" else Step(index, results=ids)


def _ordering(turns: list[tuple[int, str, list[Wire]]]) -> Iterator[Violation]:
    for index, role, blocks in turns:
        places = [block.get("type") == "tool_result" for block in blocks]
        if role == "user" and places != sorted(places, reverse=True):
            yield Violation(index, "ordering", "tool results must stand before other blocks")


def _unique(messages: list[Wire]) -> Iterator[Violation]:
    seen: set[str] = set()
    for index, message in enumerate(messages):
        for block in records(message.get("content")):
            call_id = known_string(block, "id")
            if block.get("type") != "tool_use":
                continue
            if call_id in seen:
                yield Violation(index, "pairing", f"call id {call_id!r} is used twice")
            seen.add(call_id)
