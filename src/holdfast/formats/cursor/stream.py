"""Reads what Cursor's command line prints as `stream-json`: one event a line.

Words come whole between two calls, or piece by piece; then the whole follows as a copy, which is
not told again. So is the last line, whose words repeat all that was said in a turn; it also says
what the turn cost. Thoughts come in pieces always. A call is an object with one key that names the
tool (`readToolCall`), or a function with a name. A result is an object with one key that says how
it ended; what is under it depends on the tool.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.formats.content import contents, words
from holdfast.formats.document import Problem
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    MetadataUpdated,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    is_array,
    is_object,
    mapping,
    mappings,
    moment,
    sequence,
    string,
    usage_in,
    whole,
)
from holdfast.formats.reader import LIKELY, KeyAllocator, Sign
from holdfast.session import Usage
from holdfast.transcript import Media, Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord
    from holdfast.transcript import Part

__all__ = ["CursorStreamReader", "is_streamed", "sign_of"]

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
    """What came of a call."""

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
        """Know no session yet."""
        self._keys = KeyAllocator()
        self._turn = _Turn()
        self._begun: dict[str, str] = {}
        """The strands of the sessions that were told of, by their ids."""
        self._strand = MAIN
        self._model = ""
        self._spent: dict[str, Usage] = {}
        """What each strand cost so far."""

    def take(self, record: SourceRecord) -> Iterator[Event]:
        """Tell what one event says."""
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
        """Tell the last words, unless they are half of something, which more lines would change."""
        turn = self._turn
        if turn.is_half or (turn.thought and not turn.text):
            reason = "the last message has no end and is left out"
            yield Problem(record.line, reason, record.file)
        else:
            yield from self._flush(record)

    def _flush(self, record: SourceRecord) -> Iterator[Event]:
        """Tell what the model said and was not told yet."""
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
            started=moment(entry.get("timestamp_ms")),
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
                    at=moment(entry.get("timestamp_ms")),
                ),
            )
