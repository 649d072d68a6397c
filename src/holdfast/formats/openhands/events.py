"""Reads the event log of the OpenHands SDK, where every event names its kind.

On disk a conversation is a folder: `base_state.json` with what is known of it, and one file an
event under `events`, whose names sort by time. Logs of one event a line are read as well. The
layout of the folder is known from the SDK's source, the events from a file.

Not told: changes of state, pauses, requests, and tokens; the model sees none of them. What it all
cost is known of the conversation, from its newest statistics.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.content import contents, summarized, thoughts, words
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    is_object,
    kind_of,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
)
from holdfast.formats.openhands import printed, total_of
from holdfast.formats.reader import LIKELY, Format, KeyAllocator, SessionReader, Sign, everywhere
from holdfast.formats.replay import merged
from holdfast.formats.window_tracking import WindowTracker
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_OVER = frozenset(["completed", "failed"])


class AcpToolCalls:
    """Tracks the calls of an ACP agent: which were yielded, and which were answered."""

    def __init__(self) -> None:
        """Start with no call."""
        self._asked: set[str] = set()
        self._answered: set[str] = set()

    def messages(self, event: JsonObject) -> Iterator[Message]:
        """Return what is new in a change of a call."""
        call = string(event.get("tool_call_id"))
        is_over = string(event.get("status")) in _OVER
        name = string(event.get("tool_kind")) or "tool"
        if call not in self._asked and (is_over or event.get("raw_input")):
            self._asked.add(call)
            asked = event.get("raw_input")
            if is_object(asked) and asked:
                arguments = as_json(asked)
            else:
                arguments = as_json(
                    {"input": asked} if asked else {"title": string(event.get("title"))}
                )
            yield Message(Role.ASSISTANT, (ToolCall(call, name, arguments),))
        if call not in self._answered and is_over:
            self._answered.add(call)
            failed = event.get("is_error") is True or event.get("status") == "failed"
            found: list[str] = []
            for block in mappings(event.get("content")):
                inside = mapping(block.get("content")) or block
                changed = string(inside.get("new_text")) or string(inside.get("newText"))
                found.append(string(inside.get("text")) or changed or words([inside]))
            text = "\n".join(filter(None, found))
            output = event.get("raw_output")
            if output and not text:
                text = output if isinstance(output, str) else as_json(output)
            content = (Text(text),)
            yield Message(Role.TOOL, (ToolResult(call, content, is_error=failed, name=name),))


_SIGNS = frozenset(
    [
        "ACPToolCallEvent",
        "ActionEvent",
        "AgentErrorEvent",
        "Condensation",
        "ConversationStateUpdateEvent",
        "MessageEvent",
        "ObservationEvent",
        "SystemPromptEvent",
    ]
)
_ROLES = {"user": Role.USER, "assistant": Role.ASSISTANT, "system": Role.SYSTEM}


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from OpenHands; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if string(entry.get("kind")) in _SIGNS and "source" in entry:
            return Sign(f"an event of kind {entry['kind']}")
        if _is_state(entry):
            return Sign("the state of an OpenHands conversation", LIKELY)
    return None


def _is_state(entry: JsonObject) -> bool:
    return {"id", "agent", "workspace", "execution_status"} <= entry.keys()


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of OpenHands."""
    desks: dict[str, _ConversationReader] = {}
    keys = KeyAllocator()
    for record in records:
        if not is_object(record.value):
            reason = f"expected an event, found {kind_of(record.value)}"
            yield Problem(record.line, reason, record.file)
            continue
        # The folder of a conversation, or the file that holds all of it.
        file = record.file
        folder, _, name = file.replace("\\", "/").rpartition("/")
        if name == "base_state.json":
            strand = folder
        else:
            strand = folder.removesuffix("/events") if name.startswith("event-") else file
        if strand not in desks:
            desks[strand] = _ConversationReader(strand, keys)
        yield from desks[strand].take(record.value, record.line)


class _ConversationReader:
    """Yields the events of one conversation."""

    def __init__(self, strand: str, keys: KeyAllocator) -> None:
        self._strand = strand or MAIN
        self._keys = keys
        self._view = WindowTracker[str]()
        self._model = ""
        self._replies: set[str] = set()
        """The answers that a part was told of."""
        self._is_begun = False
        self._errands = AcpToolCalls()

    def take(self, event: JsonObject, line: int) -> Iterator[Event]:
        """Yield the events of one event."""
        about = _about(event)
        self._model = about.model or self._model
        if not self._is_begun:
            self._is_begun = True
            started = milliseconds(event.get("timestamp"))
            known = About(id=self._strand.rpartition("/")[2], started=started)
            yield StrandStarted(strand=self._strand, line=line, about=merged(known, about))
        elif about != About():
            yield MetadataUpdated(strand=self._strand, about=about)
        if event.get("kind") == "Condensation":
            ids = sequence(event.get("forgotten_event_ids"))
            gone = {each for each in ids if isinstance(each, str) and each}
            self._view.keep(lambda each: each not in gone)
            key = string(event.get("id"))
            if text := string(event.get("summary")):
                summary = self._tell(event, summarized(text, "openhands"), line)
                yield summary
                key = summary.key
                name = f"{string(event.get('id'))}-summary"
                self._view.put(event.get("summary_offset"), name, key)
            else:
                key = self._keys.take(key, line)
            at = milliseconds(event.get("timestamp"))
            shows, fold = self._view.shows, f"{key}/fold"
            yield CompactionEvent(strand=self._strand, line=line, id=fold, shows=shows, at=at)
            return
        if event.get("kind") == "ACPToolCallEvent":
            for done in self._errands.messages(event):
                told = self._tell(event, done, line)
                self._view.add(string(event.get("id")), told.key)
                yield told
            return
        message = _message(event)
        if message is not None and message.parts:
            if string(event.get("llm_response_id")) in self._replies and message.calls:
                # Parallel calls repeat nothing of the answer but its id.
                message = Message(Role.ASSISTANT, message.calls)
            told = self._tell(event, message, line)
            self._view.add(string(event.get("id")), told.key)
            yield told

    def _tell(self, event: JsonObject, message: Message, line: int) -> MessageEvent:
        name, reply = string(event.get("id")), string(event.get("llm_response_id"))
        is_answer = message.role is Role.ASSISTANT
        native = SourceMetadata(
            id=name,
            reply=reply if is_answer else "",
            model=self._model if is_answer else "",
            at=milliseconds(event.get("timestamp")),
        )
        if is_answer and reply:
            self._replies.add(reply)
        key = self._keys.take(name, line)
        return MessageEvent(strand=self._strand, line=line, key=key, message=message, native=native)


def _about(event: JsonObject) -> About:
    """Return what an event says of the conversation as a whole."""
    if event.get("key") == "stats":
        return About(usage=_usage(mapping(event.get("value"))))
    if not _is_state(event):
        return About()
    agent, workspace = mapping(event.get("agent")), mapping(event.get("workspace"))
    return About(
        id=string(event.get("id")),
        model=string(mapping(agent.get("llm")).get("model")),
        cwd=string(workspace.get("working_dir")),
        title=string(mapping(event.get("tags")).get("title")),
        usage=_usage(mapping(event.get("stats"))),
    )


def _usage(stats: JsonObject) -> Usage | None:
    """Return what everything cost, by every model that took part."""
    several = mapping(stats.get("usage_to_metrics")).values()
    whole = sum((total_of(mapping(each)) for each in several), Usage())
    return None if whole == Usage() else whole


def _message(event: JsonObject) -> Message | None:
    match event.get("kind"):
        case "SystemPromptEvent":
            prompt = [event.get("system_prompt"), event.get("dynamic_context")]
            return Message(Role.SYSTEM, contents(prompt))
        case "MessageEvent":
            told = mapping(event.get("llm_message"))
            if told.get("role") == "tool":
                # A result that stands in a message of its own.
                call_id, name = string(told.get("tool_call_id")), string(told.get("name"))
                return Message(
                    Role.TOOL, (ToolResult(call_id, contents(told.get("content")), name=name),)
                )
            role = _ROLES.get(string(told.get("role")), Role.USER)
            added = contents(event.get("extended_content"))
            return Message(role, (*thoughts(told), *contents(told.get("content")), *added))
        case "ActionEvent":
            given, action = mapping(event.get("tool_call")), mapping(event.get("action"))
            plain = {key: value for key, value in action.items() if key != "kind"}
            arguments = string(given.get("arguments")) or as_json(plain)
            call_id, name = string(event.get("tool_call_id")), string(event.get("tool_name"))
            call = ToolCall(call_id, name, arguments)
            said = contents(event.get("thought"))
            return Message(Role.ASSISTANT, (*thoughts(event), *said, call))
        case "CondensationSummaryEvent" if event.get("summary"):
            return summarized(string(event.get("summary")), "openhands")
        case _:
            observation = mapping(event.get("observation"))
            match event.get("kind"):
                case "ObservationEvent":
                    content = printed(observation.get("content"), observation)
                    failed = observation.get("is_error") is True
                case "AgentErrorEvent":
                    content, failed = contents(event.get("error")), True
                case "UserRejectObservation":
                    content, failed = contents(event.get("rejection_reason")), True
                case _:
                    return None
            call_id, name = string(event.get("tool_call_id")), string(event.get("tool_name"))
            result = ToolResult(call_id, content, is_error=failed, name=name)
            return Message(Role.TOOL, (result,))


OPENHANDS_EVENTS = SessionReader(
    format=Format("openhands-events", "OpenHands SDK event log, JSONL", "openai", writable=False),
    recognize=recognize,
    read=read,
    spread=everywhere,
)
