"""Divides messages into the items that Codex keeps, one a line."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.formats.loose import mapping
from holdfast.formats.sessions.codex_items import message_of
from holdfast.transcript import NO_EXTRAS, Message, Opaque, Role, Thinking, ToolCall, ToolResult
from holdfast.wire import DIALECTS
from holdfast.wire.responses import is_content

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.transcript import Part

__all__ = ["Piece", "pieces"]

_DIALECT = "responses"
_SPELLING = f"{_DIALECT}:message"


@dataclass(frozen=True, slots=True)
class Piece:
    """One item, and what a reader makes of it."""

    item: Mapping[str, object] | None
    """None for a thought of another provider, which Codex would not send."""
    message: Message
    note: Mapping[str, object] = field(default_factory=dict[str, object])
    """What the item cannot say."""
    id: str = ""
    """The native id of the message that begins with it."""


def pieces(message: Message) -> Iterator[Piece]:
    """Return the items of a message in order."""
    run: list[Part] = []
    carrier = replace(message, form="parts")
    for part in message.parts:
        if not _is_item(part):
            run.append(part)
            continue
        if run:
            yield from _spoken(carrier, run)
            carrier, run = replace(carrier, extras=NO_EXTRAS), []
        yield from _single(message.role, part)
    if run or not message.parts:
        yield from _spoken(carrier, run)


def _is_item(part: Part) -> bool:
    if isinstance(part, Opaque):
        return part.dialect == _DIALECT and not is_content(part.value.get("type"))
    return isinstance(part, Thinking | ToolCall | ToolResult)


def _spoken(carrier: Message, parts: Sequence[Part]) -> Iterator[Piece]:
    """Return words; those of the system are a developer's, where they were not told apart."""
    said = replace(carrier, parts=tuple(parts))
    is_system = carrier.role is Role.SYSTEM and _SPELLING not in carrier.extras
    written = replace(said, role=Role.USER) if is_system else said
    for item in DIALECTS[_DIALECT].encode((written,)).messages:
        # The API takes words without a type; in a rollout every item has one.
        typed = {"type": "message", **item}
        yield from _read({**typed, "role": "developer"} if is_system else typed)


def _single(role: Role, part: Part) -> Iterator[Piece]:
    match part:
        case Thinking(extras=extras):
            own = mapping(extras.get(_DIALECT))
            if own:
                yield Piece(own, Message(Role.ASSISTANT, (part,)))
            else:
                note: dict[str, object] = {"thought": part.signature, "extras": dict(extras)}
                yield Piece(None, Message(Role.ASSISTANT, (part,)), note)
        case Opaque(value=value):
            yield from _read(value)
        case ToolResult(is_error=is_error):
            for item in DIALECTS[_DIALECT].encode((Message(role, (part,)),)).messages:
                for piece in _read(item):
                    (read,) = piece.message.results
                    note = {} if read.is_error == is_error else {"error": is_error}
                    yield replace(piece, message=Message(Role.TOOL, (part,)), note=note)
        case _:
            for item in DIALECTS[_DIALECT].encode((Message(role, (part,)),)).messages:
                yield from _read(item)


def _read(item: Mapping[str, object]) -> Iterator[Piece]:
    message = message_of(item)
    if message is not None:
        yield Piece(item, message)
