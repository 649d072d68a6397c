"""What Anthropic's messages API refuses.

Neighbors of one role are not refused: the API joins them, and so do these rules before they
look at calls and results.
"""

from __future__ import annotations

from itertools import groupby
from typing import TYPE_CHECKING

from holdfast.transcript import Violation
from holdfast.wire.common import CallStep, Wire, check_pairing, is_plain, known_string, records

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.wire.common import Body

_BREAKPOINTS = 4

_ROLES = frozenset({"user", "assistant", "system"})

_USER = frozenset(["text", "image", "document", "search_result", "tool_result", "container_upload"])

_ASSISTANT = frozenset(
    ["text", "thinking", "redacted_thinking", "tool_use", "compaction", "container_upload"]
)

_SERVER = ("server_tool_use", "mcp_tool_use", "_tool_result", "fallback", "_state", "tool_listing")


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every message that the API would refuse, and the rule it breaks."""
    messages = body.messages
    found: list[Violation] = []
    if messages and messages[0].get("role") == "assistant":
        found.append(Violation(0, "first-role", "the first message must be the user's"))
    found += _breakpoints(body)
    found += _trailing_space(messages)
    for index, message in enumerate(messages):
        found += _check_message(index, message)
        for block in records(message.get("content")):
            found += _check_block(index, block)
    found += _check_exchanges(messages)
    return tuple(sorted(found, key=lambda violation: violation.index))


def _check_message(index: int, message: Wire) -> Iterator[Violation]:
    role, content = message.get("role"), message.get("content")
    if role not in _ROLES:
        yield Violation(index, "unknown-role", f"there is no role {role!r}")
    if not isinstance(content, str | list):
        yield Violation(index, "shape", "content is text or a list of blocks")
    allowed = _ASSISTANT if role == "assistant" else _USER
    for block in records(message.get("content")):
        kind = block.get("type")
        if not isinstance(kind, str) or (kind not in allowed and not kind.endswith(_SERVER)):
            problem = f"a message of the {role} cannot hold a block of type {kind!r}"
            yield Violation(index, "unknown-type", problem)
    if isinstance(content, str) and not content.strip():
        yield Violation(index, "empty-text", "the content is empty")
    if isinstance(content, list) and not content:
        yield Violation(index, "empty-text", "the content has no block")


def _check_block(index: int, block: Wire) -> Iterator[Violation]:
    kind = block.get("type")
    if kind == "text" and not known_string(block, "text").strip():
        yield Violation(index, "empty-text", "a text block is empty")
    if kind == "thinking" and not known_string(block, "signature"):
        yield Violation(index, "thinking-signature", "a thinking block has no signature")
    if kind == "tool_use" and not isinstance(block.get("input"), dict):
        name = known_string(block, "name")
        yield Violation(index, "arguments-json", f"the input of {name!r} is not an object")
    key = "id" if kind == "tool_use" else "tool_use_id"
    call_id = known_string(block, key)
    if kind in ("tool_use", "tool_result") and not is_plain(call_id):
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


def _trailing_space(messages: list[Wire]) -> Iterator[Violation]:
    last = messages[-1] if messages else {}
    if last.get("role") != "assistant":
        return
    content = last.get("content")
    blocks = records(content)
    ends = blocks[-1] if blocks else {}
    text = content if isinstance(content, str) else known_string(ends, "text")
    if text != text.rstrip():
        problem = "the last message is the assistant's and ends with space"
        yield Violation(len(messages) - 1, "trailing-whitespace", problem)


def _check_exchanges(messages: list[Wire]) -> Iterator[Violation]:
    """Yield what is wrong with calls and results, neighbors of one role taken as one turn."""
    spoken = [
        (index, message)
        for index, message in enumerate(messages)
        if message.get("role") != "system"
    ]
    steps: list[CallStep] = []
    unordered: list[Violation] = []
    for role, run in groupby(spoken, key=lambda entry: known_string(entry[1], "role")):
        turn = list(run)
        index = turn[-1][0]
        blocks = [block for _, message in turn for block in records(message.get("content"))]
        kind, key = ("tool_use", "id") if role == "assistant" else ("tool_result", "tool_use_id")
        ids = tuple(known_string(block, key) for block in blocks if block.get("type") == kind)
        is_call = role == "assistant"
        steps.append(CallStep(index, calls=ids) if is_call else CallStep(index, results=ids))
        places = [block.get("type") == "tool_result" for block in blocks]
        if role == "user" and places != sorted(places, reverse=True):
            problem = "tool results must stand before other blocks"
            unordered.append(Violation(index, "ordering", problem))
    yield from check_pairing(steps)
    yield from unordered
    seen: set[str] = set()
    for index, message in enumerate(messages):
        for block in records(message.get("content")):
            if block.get("type") != "tool_use":
                continue
            call_id = known_string(block, "id")
            if call_id in seen:
                yield Violation(index, "pairing", f"call id {call_id!r} is used twice")
            seen.add(call_id)
