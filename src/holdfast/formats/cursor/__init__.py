"""Reads the transcripts of Cursor's agent.

Files show lines of a role and content blocks, calls without an id, results with one that no call
has, thoughts, and an end of turn. They show no time, no session id and no compaction. Names of
blocks drift (`tool_call`, `tool-result`). That a sub-agent stands in a folder `subagents` below
the session that it works for is what other readers of these files say. What the command line
prints as `stream-json` is read by `cursor.stream`, under the same name.
"""

from __future__ import annotations

from collections import deque
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.content import contents, speaker_of, thought, words
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    MetadataUpdated,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    is_array,
    is_object,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
    usage_in,
    whole,
)
from holdfast.formats.reader import LIKELY, Format, KeyAllocator, SessionReader, Sign
from holdfast.session import Fork, Usage
from holdfast.transcript import Media, Message, Part, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

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
class CursorCall:
    """A tool by its name, and what it was asked."""

    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class CursorResult:
    """The result of a tool call."""

    content: tuple[Text | Media, ...]
    failed: bool


def call_of(entry: JsonObject) -> CursorCall:
    """Return the call that an event is about."""
    name, fields = _tool(entry)
    asked = mapping(fields.get("args"))
    if name == "mcp" and (server := string(asked.get("providerIdentifier"))):
        tool = string(asked.get("toolName")) or string(asked.get("name"))
        return CursorCall(f"mcp__{server}__{tool}", as_json(asked.get("args")))
    if name == "mcp":
        return CursorCall(string(asked.get("name")) or name, as_json(asked.get("args")))
    if name == "function":
        return CursorCall(string(fields.get("name")), as_json(fields.get("arguments")))
    return CursorCall(name, as_json(fields.get("args")))


def outcome_of(entry: JsonObject) -> CursorResult:
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
    return CursorResult(_said(result), failed)


def _tool(entry: JsonObject) -> tuple[str, JsonObject]:
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


_KINDS = frozenset(["assistant", "result", "system", "thinking", "tool_call", "user"])
_INIT = frozenset(["session_id", "permissionMode", "model"])
_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")


def is_streamed(entry: JsonObject) -> bool:
    """Say whether a line was printed; those of a stored transcript have a role and no kind."""
    return string(entry.get("type")) in _KINDS and "role" not in entry


def sign_of(entry: JsonObject) -> Sign | None:
    """Return why a line is taken for an event of such a stream."""
    kind, phase = entry.get("type"), entry.get("subtype")
    if kind == "tool_call" and isinstance(entry.get("tool_call"), dict) and phase:
        return Sign("an event of type tool_call with its tool")
    if kind == "thinking" and string(phase) in ("delta", "completed") and "session_id" in entry:
        return Sign("an event of type thinking in pieces", LIKELY)
    if kind == "system" and phase == "init" and entry.keys() >= _INIT and "tools" not in entry:
        return Sign("the first event of a printed session", LIKELY)
    return None


class _Turn:
    """What the model said and did since the user spoke."""

    def __init__(self) -> None:
        self.thought: str = ""
        self.text: str = ""
        """Words that were not told yet."""
        self.said: str = ""
        """All words since the last call, which a copy may repeat."""
        self.whole: str = ""
        """All words."""
        self.open: set[str] = set()
        """The calls that wait for their result."""
        self.is_half = False
        """Whether the words that were not told may go on."""

    def say(self, text: str, *, is_piece: bool) -> None:
        """Take words of the model, unless they are a copy of what it said before."""
        self.is_half = is_piece
        if is_piece or text not in {self.said, self.whole}:
            self.text += text
            self.said += text
            self.whole += text

    def parts(self) -> list[Part]:
        """Return what was not told yet, and take it as told."""
        parts: list[Part] = [Thinking(self.thought)] if self.thought else []
        if self.text:
            parts.append(Text(self.text))
        self.thought = self.text = ""
        self.is_half = False
        return parts


class CursorStreamReader:
    """Reads a stream event by event."""

    def __init__(self) -> None:
        """Start with no session."""
        self._keys = KeyAllocator()
        self._turn = _Turn()
        self._begun: dict[str, str] = {}
        """The strands of the sessions that were told of, by their ids."""
        self._strand = MAIN
        self._model = ""
        self._spent: dict[str, Usage] = {}
        """What each strand cost so far."""

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one event."""
        entry = mapping(record.value)
        if not is_streamed(entry):
            return
        yield from self._begin(record.line, entry)
        match entry.get("type"):
            case "user":
                yield from self._flush(record)
                self._turn = _Turn()
                said = contents(mapping(entry.get("message")).get("content"))
                yield from self._tell(record, Role.USER, list(said))
            case "assistant":
                content = mapping(entry.get("message")).get("content")
                for block in mappings(content):
                    if block.get("type") == "thinking":
                        self._turn.thought += string(block.get("thinking")) or string(
                            block.get("text")
                        )
                spoken = [each for each in mappings(content) if each.get("type") != "thinking"]
                text = content if isinstance(content, str) else words(spoken)
                # A piece has a time and not yet the name of the request that it answers.
                is_piece = "timestamp_ms" in entry and "model_call_id" not in entry
                self._turn.say(text, is_piece=is_piece)
            case "thinking":
                self._turn.thought += string(entry.get("text"))
            case "tool_call":
                yield from self._call(record, entry)
            case "result":
                text = string(entry.get("result"))
                if entry.get("is_error") is True or entry.get("subtype") == "error":
                    yield Problem(record.line, text or "the run failed", record.file)
                elif not self._turn.whole:
                    self._turn.say(text, is_piece=False)
                yield from self._flush(record)
                if (usage := usage_in(mapping(entry.get("usage")), _USAGE)) is not None:
                    spent = self._spent.get(self._strand, Usage()) + usage
                    self._spent[self._strand] = spent
                    yield MetadataUpdated(strand=self._strand, about=About(usage=spent))
            case _:
                return

    def end(self, record: SourceRecord) -> Iterator[Event]:
        """Yield the last words, unless more lines would change them."""
        turn = self._turn
        if turn.is_half or (turn.thought and not turn.text):
            reason = "the last message has no end and is left out"
            yield Problem(record.line, reason, record.file)
        else:
            yield from self._flush(record)

    def _flush(self, record: SourceRecord) -> Iterator[Event]:
        """Yield what the model said and was not told yet."""
        yield from self._tell(record, Role.ASSISTANT, self._turn.parts())

    def _begin(self, line: int, entry: JsonObject) -> Iterator[Event]:
        own = string(entry.get("session_id"))
        if self._begun and own in {"", *self._begun}:
            self._strand = self._begun.get(own, self._strand)
            return
        self._strand = own if self._begun else MAIN
        self._begun[own] = self._strand
        self._model = string(entry.get("model"))
        about = About(
            id=own,
            model=self._model,
            cwd=string(entry.get("cwd")),
            started=milliseconds(entry.get("timestamp_ms")),
        )
        yield StrandStarted(strand=self._strand, line=line, about=about)

    def _call(self, record: SourceRecord, entry: JsonObject) -> Iterator[Event]:
        own = string(entry.get("call_id")) or f"#{record.line}"
        call = call_of(entry)
        if own not in self._turn.open:
            yield from self._flush(record)
            self._turn.said = ""
            self._turn.open.add(own)
            made = ToolCall(own, call.name, call.arguments)
            yield from self._tell(record, Role.ASSISTANT, [made])
        if entry.get("subtype") == "completed":
            self._turn.open.discard(own)
            outcome = outcome_of(entry)
            result = ToolResult(own, outcome.content, is_error=outcome.failed, name=call.name)
            yield from self._tell(record, Role.TOOL, [result])

    def _tell(self, record: SourceRecord, role: Role, parts: list[Part]) -> Iterator[Event]:
        if parts:
            entry = mapping(record.value)
            is_answer = role is Role.ASSISTANT
            yield MessageEvent(
                strand=self._strand,
                line=record.line,
                key=self._keys.take("", record.line),
                message=Message(role, tuple(parts)),
                native=SourceMetadata(
                    reply=string(entry.get("model_call_id")) if is_answer else "",
                    model=self._model if is_answer else "",
                    at=milliseconds(entry.get("timestamp_ms")),
                ),
            )


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
        """Yield the events of one line."""
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
