"""Reads the transcripts of Cursor's agent.

Files show lines of a role and content blocks, calls without an id, results with one that no call
has, thoughts, and an end of turn. They show no time, no session id and no compaction. Names of
blocks drift (`tool_call`, `tool-result`). That a sub-agent stands in a folder `subagents` below
the session that it works for is what other readers of these files say. What the command line
prints as `stream-json` is read by `cursor.stream`, under the same name.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

from holdfast.formats.content import contents, speaker_of, thought
from holdfast.formats.cursor.stream import CursorStreamReader, is_streamed, sign_of
from holdfast.formats.document import Format, Problem
from holdfast.formats.events import MAIN, About, MessageEvent, SourceMetadata, StrandStarted
from holdfast.formats.json_access import as_json, is_array, is_object, mapping, sequence, string
from holdfast.formats.reader import LIKELY, KeyAllocator, SessionReader, Sign
from holdfast.session import Fork
from holdfast.transcript import Message, Role, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord
    from holdfast.transcript import Part

__all__ = ["CURSOR"]

_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}
_CALLS = frozenset(["tool_use", "tool-use", "tool_call", "tool-call"])
_RESULTS = frozenset(["tool_result", "tool-result"])


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Cursor; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if (printed := sign_of(entry)) is not None:
            return printed
        message = mapping(entry.get("message"))
        if (
            "type" not in entry
            and string(entry.get("role")) in _ROLES
            and is_array(message.get("content"))
        ):
            return Sign("a line with a role beside a message of blocks", LIKELY)
    return None


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Cursor."""
    desk, stream = _Reader(), CursorStreamReader()
    printed: SourceRecord | None = None
    for record in records:
        # A file is one or the other: what it begins with says which.
        if desk.is_new and (printed is not None or is_streamed(mapping(record.value))):
            printed = record
            yield from stream.take(record)
            continue
        if desk.is_new:
            # What the path of a transcript says about it, where it is known.
            *folders, name = record.file.replace("\\", "/").split("/")
            own = name.removesuffix(".jsonl")
            match folders:
                case [*_, parent, "subagents"]:
                    about = About(id=own, parent=parent, fork=Fork.DELEGATION)
                case [*_, folder] if folder == own:
                    about = About(id=own)
                case _:
                    about = About()
            yield StrandStarted(strand=MAIN, line=record.line, about=about)
        yield from desk.take(record)
    if printed is not None:
        yield from stream.end(printed)


class _Reader:
    """Reads one line after the other, and knows which calls wait for a result."""

    def __init__(self) -> None:
        self.is_new = True
        self._keys = KeyAllocator()
        self._named: set[str] = set()
        self._nameless: deque[str] = deque()
        """The ids that calls without one were given, oldest first, while they wait."""

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Tell what one line says."""
        self.is_new = False
        entry = mapping(record.value)
        role = _ROLES.get(string(entry.get("role")))
        if role is None:
            return
        parts: list[Part] = []
        content = mapping(entry.get("message")).get("content")
        blocks = [content] if isinstance(content, str) else sequence(content)
        for place, block in enumerate(blocks):
            part = self._part(block, f"#{record.line}.{place}")
            if isinstance(part, str):
                yield Problem(record.line, part, record.file)
            else:
                parts += part
        line = record.line
        model = string(entry.get("model"))
        results = tuple(part for part in parts if isinstance(part, ToolResult))
        others = tuple(part for part in parts if not isinstance(part, ToolResult))
        role = speaker_of(others, role)
        if others and role is Role.USER:
            # A call that got no result until the user speaks again never gets one.
            self._nameless.clear()
        for speaker, said in ((Role.TOOL, results), (role, others)):
            if said:
                native = SourceMetadata(model=model if speaker is Role.ASSISTANT else "")
                yield MessageEvent(
                    strand=MAIN,
                    line=line,
                    key=self._keys.take("", line),
                    message=Message(speaker, said),
                    native=native,
                )

    def _part(self, block: object, place: str) -> Sequence[Part] | str:
        if not is_object(block):
            return contents([block])
        kind = string(block.get("type"))
        if kind == "thinking":
            return [thought(string(block.get("thinking")), string(block.get("signature")))]
        if kind in _CALLS:
            own = string(block.get("id"))
            if own:
                self._named.add(own)
            else:
                self._nameless.append(place)
            call = ToolCall(own or place, string(block.get("name")), as_json(block.get("input")))
            return [call]
        if kind in _RESULTS:
            answered = string(block.get("tool_use_id"))
            if answered not in self._named and self._nameless:
                answered = self._nameless.popleft()
            result = ToolResult(
                answered,
                contents(block.get("content")),
                is_error=block.get("is_error") is True,
                name=string(block.get("name")),
            )
            return [result]
        found = contents([block])
        return found if found or kind == "text" else f"a block of type {kind!r} is not known"


CURSOR = SessionReader(
    format=Format("cursor", "Cursor agent transcript, JSONL", "anthropic", writable=False),
    recognize=recognize,
    read=read,
)
