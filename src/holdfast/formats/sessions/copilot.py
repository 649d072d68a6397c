"""Reads the event log of Copilot CLI.

Sub-agents speak in the same file and name the tool call that started them. What the model never
saw is passed over: hooks, errors, notices of the program. A log tells how much an answer wrote,
not how much it read, so the tokens that were sent count as none.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Noted, Told
from holdfast.formats.document import Format
from holdfast.formats.loose import as_json, mapping, mappings, string
from holdfast.formats.moments import moment
from holdfast.formats.sessions.figures import count
from holdfast.formats.sessions.keys import Keys
from holdfast.formats.sessions.reader import LIKELY, SessionReader, Sign, contents, summarized
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["COPILOT"]

_SIGNS = {
    "session.start": "sessionId",
    "user.message": "content",
    "assistant.message": "content",
}
"""The events that give a log away, each with what it holds."""
_MORE = ("repository", "repositoryHost", "gitRoot", "headCommit")
_ORIGIN = "copilot"


def _recognize(records: Sequence[Record]) -> Sign | None:
    likely: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        kind, event = string(entry.get("type")), mapping(entry.get("data"))
        if kind in _SIGNS and _SIGNS[kind] in event:
            reason = f"an event of type {kind}"
            if "copilotVersion" in event or event.get("producer") == "copilot-agent":
                return Sign(reason)
            likely = likely or Sign(reason, LIKELY)
    return likely


def _read(records: Iterable[Record]) -> Iterator[Event]:
    reader = _Reader()
    for record in records:
        entry = mapping(record.value)
        yield from reader.take(record, entry, mapping(entry.get("data")))


class _Strand:
    """What the model of one conversation sees, by name."""

    def __init__(self) -> None:
        self.instructions: list[str] = []
        self.since: list[str] | None = None
        """What was told since a compaction began; None while there is none."""
        self.reply = ""
        """The answer that was told last."""
        self.thought = ""
        """What was thought in an event of its own, which the answer may repeat."""

    def take(self, key: str, message: Message) -> None:
        """Show one more message."""
        if message.role is Role.SYSTEM:
            self.instructions.append(key)
        elif self.since is not None:
            self.since.append(key)


class _Reader:
    """Tells a log event by event."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._strands: dict[str, _Strand] = {}
        self._callers: dict[str, str] = {}
        """Which strand made a tool call that may have started a sub-agent."""
        self._agents: dict[str, str] = {}
        """The tool calls that started sub-agents, by the ids of the agents."""

    def take(
        self, record: Record, entry: Mapping[str, object], event: Mapping[str, object]
    ) -> Iterator[Event]:
        """Tell one event."""
        match entry.get("type"):
            case "session.start":
                yield from self._begin(MAIN, record.line, _about(event))
            case "session.resume" | "session.model_change" | "session.title_changed":
                yield from self._note(record, event)
            case "subagent.started":
                yield from self._start(record, entry, event)
            case "session.compaction_start":
                name = self._name(entry, event)
                yield from self._begin(name, record.line, About())
                self._strands[name].since = []
            case "session.compaction_complete":
                yield from self._fold(record, entry, event)
            case _:
                message = _message(string(entry.get("type")), event)
                if message is not None and message.parts:
                    yield from self._tell(record, entry, event, message)

    def _name(self, entry: Mapping[str, object], event: Mapping[str, object]) -> str:
        """Return the strand of an event: the call that started its agent."""
        agent = string(entry.get("agentId"))
        return string(event.get("parentToolCallId")) or self._agents.get(agent, agent)

    def _begin(self, name: str, line: int, about: About) -> Iterator[Event]:
        if name in self._strands:
            return
        if name == MAIN:
            self._strands[name] = _Strand()
            yield Begun(strand=MAIN, line=line, about=about)
            return
        yield from self._begin(MAIN, line, About())
        self._strands[name] = _Strand()
        yield Begun(
            strand=name,
            line=line,
            about=About(title=about.title, model=about.model, more={"call": name}),
            of=self._callers.get(name, MAIN),
            fork=Fork.DELEGATION,
        )

    def _start(
        self, record: Record, entry: Mapping[str, object], event: Mapping[str, object]
    ) -> Iterator[Event]:
        agent = string(entry.get("agentId"))
        call = string(event.get("toolCallId")) or agent
        if call:
            if agent:
                self._agents[agent] = call
            title = string(event.get("agentDisplayName")) or string(event.get("agentName"))
            about = About(title=title, model=string(event.get("model")))
            yield from self._begin(call, record.line, about)

    def _note(self, record: Record, event: Mapping[str, object]) -> Iterator[Event]:
        yield from self._begin(MAIN, record.line, About())
        known = _about(event)
        about = About(
            title=string(event.get("title")),
            model=string(event.get("newModel")) or known.model,
            cwd=known.cwd,
            git_branch=known.git_branch,
        )
        if about != About():
            yield Noted(strand=MAIN, about=about)

    def _tell(
        self,
        record: Record,
        entry: Mapping[str, object],
        event: Mapping[str, object],
        message: Message,
    ) -> Iterator[Event]:
        name = self._name(entry, event)
        yield from self._begin(name, record.line, About())
        strand = self._strands[name]
        message = _without_echo(message, strand.thought)
        id = string(entry.get("id"))  # noqa: A001
        key = self._keys.take(id, record.line)
        strand.take(key, message)
        self._callers.update((call.id, name) for call in message.calls)
        native = Native(id=id, at=moment(entry.get("timestamp")))
        if message.role is Role.ASSISTANT:
            native = _answered(native, event, strand)
        yield Told(strand=name, line=record.line, key=key, message=message, native=native)

    def _fold(
        self, record: Record, entry: Mapping[str, object], event: Mapping[str, object]
    ) -> Iterator[Event]:
        """Tell a compaction: the model goes on with its instructions and what came meanwhile."""
        text = string(event.get("summaryContent"))
        if event.get("success") is False or not text.strip():
            return
        name = self._name(entry, event)
        yield from self._begin(name, record.line, About())
        strand = self._strands[name]
        id, at = string(entry.get("id")), moment(entry.get("timestamp"))  # noqa: A001
        key = self._keys.take(id, record.line)
        summary = summarized(text, _ORIGIN)
        native = Native(id=id, at=at)
        yield Told(strand=name, line=record.line, key=key, message=summary, native=native)
        yield Folded(
            strand=name,
            line=record.line,
            id=key,
            shows=(*strand.instructions, key, *(strand.since or ())),
            at=at,
            trigger=string(event.get("trigger")),
            tokens_before=count(event.get("preCompactionTokens")) or None,
            tokens_after=count(event.get("postCompactionTokens")) or None,
        )
        strand.since = None


def _about(event: Mapping[str, object]) -> About:
    context = mapping(event.get("context"))
    return About(
        id=string(event.get("sessionId")),
        model=string(event.get("selectedModel")),
        cwd=string(context.get("cwd")),
        git_branch=string(context.get("branch")),
        version=string(event.get("copilotVersion")),
        started=moment(event.get("startTime")),
        more={name: context[name] for name in _MORE if isinstance(context.get(name), str)},
    )


def _message(kind: str, event: Mapping[str, object]) -> Message | None:
    match kind:
        case "system.message" | "system.notification":
            return Message(Role.SYSTEM, contents(event.get("content")))
        case "user.message":
            return Message(Role.USER, contents(event.get("content")))
        case "assistant.message":
            return Message(Role.ASSISTANT, tuple(_parts(event)))
        case "assistant.reasoning":
            text = string(event.get("content"))
            return Message(Role.ASSISTANT, (Thinking(text),) if text else ())
        case "tool.execution_complete":
            return Message(Role.TOOL, (_result(event),))
        case _:
            return None


def _parts(event: Mapping[str, object]) -> Iterator[Part]:
    # The opaque form of a thought means something to Copilot's own service only.
    seal = string(event.get("reasoningOpaque")) or string(event.get("encryptedContent"))
    if (thought := string(event.get("reasoningText"))) or seal:
        yield Thinking(thought, seal or None)
    if content := event.get("content"):
        yield from contents(content)
    for call in mappings(event.get("toolRequests")):
        call_id, name = string(call.get("toolCallId")), string(call.get("name"))
        yield ToolCall(call_id, name, as_json(call.get("arguments")))


def _result(event: Mapping[str, object]) -> ToolResult:
    result = mapping(event.get("result"))
    told = result.get("content")
    failure = mapping(event.get("error")).get("message")
    pictures = contents(result.get("contents")) if told is None else ()
    return ToolResult(
        string(event.get("toolCallId")),
        pictures or contents(failure if told is None else told),
        is_error=event.get("success") is False,
    )


def _without_echo(message: Message, thought: str) -> Message:
    """Return an answer without a thought that an event of its own told before."""
    if not thought or len(message.parts) < 2 or not isinstance(message.parts[0], Thinking):
        return message
    echo = message.parts[0].text == thought and message.parts[0].signature is None
    return Message(message.role, message.parts[1:]) if echo else message


def _answered(native: Native, event: Mapping[str, object], strand: _Strand) -> Native:
    """Return what is known of an answer; what it cost is told with the first of its messages."""
    is_thought = "reasoningId" in event
    reply = string(event.get("messageId")) or native.id
    strand.thought = string(event.get("content")) if is_thought else ""
    wrote = 0 if is_thought or reply == strand.reply else count(event.get("outputTokens"))
    strand.reply = reply
    return Native(
        id=native.id,
        at=native.at,
        reply=reply,
        model=string(event.get("model")),
        usage=Usage(1, 0, wrote) if wrote else None,
    )


COPILOT = SessionReader(
    format=Format("copilot", "Copilot CLI events, JSONL", "openai", writable=False),
    recognize=_recognize,
    read=_read,
)
