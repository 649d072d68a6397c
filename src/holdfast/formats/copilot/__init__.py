"""Reads the event log of Copilot CLI.

Sub-agents speak in the same file and name the tool call that started them. What the model never
saw is passed over: hooks, errors, notices of the program. An answer tells how much it wrote, not
how much was sent for it; that is counted for the session, when a run of the program ends. A call
that no answer holds, only its execution, is yielded before its result.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.content import summarized
from holdfast.formats.copilot.content import (
    Assets,
    ConversationState,
    about_of,
    message_of,
    request_of,
)
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    MetadataUpdated,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import count, is_object, mapping, milliseconds, string, usage_in
from holdfast.formats.reader import LIKELY, Format, KeyAllocator, SessionReader, Sign
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Role, Text, ToolCall

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_USAGE = ("inputTokens", "outputTokens", "cacheReadTokens", "cacheWriteTokens")
_DETAILS = ("input", "output", "cache_read", "cache_write")
_MAIN = "main"
"""What newer releases call the agent that the user speaks with."""


class UsageTotals:
    """Adds up what the conversations of a log cost."""

    def __init__(self) -> None:
        """Start with no cost."""
        self._spent: dict[str, Usage] = {}
        self._is_live = False
        """Whether the log tells what each request cost."""
        self._elsewhere = 0
        """How much sub-agents wrote in this run, as their answers say."""

    def note_subagent_output(self, strand: str, usage: Usage | None) -> None:
        """Note the tokens that a sub-agent wrote: the total of the run counts them too."""
        if usage is not None and strand != MAIN:
            self._elsewhere += usage.output_tokens

    def request(self, strand: str, event: JsonObject) -> Iterator[tuple[str, Usage]]:
        """Add one request, and yield the new total of its conversation."""
        if (usage := usage_in(event, _USAGE)) is not None:
            self._is_live = True
            yield self._add(strand, _apart(usage))

    def run(self, event: JsonObject, agents: Mapping[str, str]) -> Iterator[tuple[str, Usage]]:
        """Add a run that is over, and yield the new totals of its conversations.

        It yields none where the log has counted each request: the run says the same once more.
        """
        elsewhere, self._elsewhere = self._elsewhere, 0
        apart = mapping(event.get("agentMetrics"))
        if self._is_live:
            return
        if apart:
            for agent, metrics in apart.items():
                strand = MAIN if agent == _MAIN else agents.get(agent, MAIN)
                usage = _of_models(mapping(metrics).get("modelMetrics"))
                if usage != Usage():
                    yield self._add(strand, usage)
            return
        usage = _of_models(event.get("modelMetrics"))
        if usage in (Usage(), Usage(usage.calls)):
            details = event.get("tokenDetails")
            calls = usage.calls
            kinds = mapping(details)
            counts = [count(mapping(kinds.get(kind)).get("tokenCount")) for kind in _DETAILS]
            usage = Usage(calls, *counts) if any(counts) else Usage(calls)
        usage = replace(usage, output_tokens=max(0, usage.output_tokens - elsewhere))
        if usage != Usage():
            yield self._add(MAIN, usage)

    def _add(self, strand: str, usage: Usage) -> tuple[str, Usage]:
        self._spent[strand] = self._spent.get(strand, Usage()) + usage
        return strand, self._spent[strand]


def _of_models(metrics: object) -> Usage:
    whole = Usage()
    for metric in mapping(metrics).values():
        fields = mapping(metric)
        requests = fields.get("requests")
        calls = count(mapping(requests).get("count") if is_object(requests) else requests)
        usage = usage_in(mapping(fields.get("usage")), _USAGE) or Usage()
        whole += replace(_apart(usage), calls=calls)
    return whole


def _apart(usage: Usage) -> Usage:
    """Return a usage in which what was sent does not count what came from a cache."""
    cached = usage.cache_read_tokens + usage.cache_write_tokens
    return replace(usage, input_tokens=max(0, usage.input_tokens - cached))


_SIGNS = {"session.start": "sessionId", "user.message": "content", "assistant.message": "content"}
"""The events that give a log away, each with what it holds."""
_ORIGIN = "copilot"
_CHANGES = (
    "session.compaction_start",
    "session.compaction_complete",
    "session.context_cleared",
    "session.snapshot_rewind",
)
_COUNTS = ("assistant.usage", "session.usage_record", "session.shutdown")


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Copilot CLI; None when they are not."""
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


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Copilot CLI."""
    reader = _Reader()
    for record in records:
        entry = mapping(record.value)
        yield from reader.take(record, entry, mapping(entry.get("data")))


class _Reader:
    """Yields the events of a log event by event."""

    def __init__(self) -> None:
        self._keys = KeyAllocator()
        self._strands: dict[str, ConversationState] = {}
        self._callers: dict[str, str] = {}
        """Which strand made a tool call that may have started a sub-agent."""
        self._agents: dict[str, str] = {}
        """The tool calls that started sub-agents, by the ids of the agents."""
        self._assets = Assets()
        self._started: dict[str, ToolCall] = {}
        """The calls that began and that no answer asked for."""
        self._totals = UsageTotals()

    def take(self, record: SourceRecord, entry: JsonObject, event: JsonObject) -> Iterator[Event]:
        """Yield the events of one event."""
        match entry.get("type"):
            case "session.start":
                yield from self._begin(MAIN, record.line, about_of(event))
            case "session.resume" | "session.model_change" | "session.title_changed":
                yield from self._note(record, event)
            case "session.context_changed":
                yield from self._note(record, {"context": event})
            case "subagent.started":
                agent = string(entry.get("agentId"))
                call = string(event.get("toolCallId")) or agent
                if call:
                    if agent:
                        self._agents[agent] = call
                    title = string(event.get("agentDisplayName")) or string(event.get("agentName"))
                    about = About(title=title, model=string(event.get("model")))
                    yield from self._begin(call, record.line, about)
            case kind if kind in _CHANGES:
                # Follow what changes the window otherwise than by one more
                # message.
                match entry.get("type"):
                    case "session.compaction_start":
                        name = self._name(entry, event)
                        yield from self._begin(name, record.line, About())
                        self._strands[name].since = []
                    case "session.compaction_complete":
                        yield from self._fold(record, entry, event)
                    case _:
                        yield from self._rewind(record, entry, event)
            case kind if kind in _COUNTS:
                yield from self._account(record, entry, event)
            case "session.binary_asset":
                self._assets.take(event)
            case "tool.execution_start" | "tool.user_requested":
                call = request_of(event)
                if call.id and call.id not in self._callers:
                    self._started[call.id] = call
            case _:
                message = message_of(string(entry.get("type")), event, self._assets)
                if message is not None and message.parts:
                    for result in message.results:
                        call = self._started.pop(result.call_id, None)
                        if call is not None and call.id not in self._callers:
                            asked = Message(Role.ASSISTANT, (call,))
                            unnamed = {**entry, "id": ""}
                            yield from self._tell(record, unnamed, event, asked)
                    yield from self._tell(record, entry, event, message)

    def _account(
        self, record: SourceRecord, entry: JsonObject, event: JsonObject
    ) -> Iterator[Event]:
        name = self._name(entry, event)
        match entry.get("type"):
            case "session.shutdown":
                spent = self._totals.run(event, self._agents)
            case "session.usage_record":
                spent = self._totals.request(name, mapping(event.get("usage")))
            case _:
                spent = self._totals.request(name, event)
        for name, usage in spent:
            yield from self._begin(name, record.line, About())
            yield MetadataUpdated(strand=name, about=About(usage=usage))

    def _name(self, entry: JsonObject, event: JsonObject) -> str:
        """Return the strand of an event: the call that started its agent."""
        agent = string(entry.get("agentId"))
        return string(event.get("parentToolCallId")) or self._agents.get(agent, agent)

    def _begin(self, name: str, line: int, about: About) -> Iterator[Event]:
        if name in self._strands:
            return
        if name == MAIN:
            self._strands[name] = ConversationState()
            yield StrandStarted(strand=MAIN, line=line, about=about)
            return
        yield from self._begin(MAIN, line, About())
        self._strands[name] = ConversationState()
        yield StrandStarted(
            strand=name,
            line=line,
            about=About(title=about.title, model=about.model, more={"call": name}),
            of=self._callers.get(name, MAIN),
            fork=Fork.DELEGATION,
        )

    def _note(self, record: SourceRecord, event: JsonObject) -> Iterator[Event]:
        yield from self._begin(MAIN, record.line, About())
        known = about_of(event)
        about = About(
            title=string(event.get("title")),
            model=string(event.get("newModel")) or known.model,
            cwd=known.cwd,
            git_branch=known.git_branch,
        )
        if about != About():
            yield MetadataUpdated(strand=MAIN, about=about)

    def _tell(
        self, record: SourceRecord, entry: JsonObject, event: JsonObject, message: Message
    ) -> Iterator[Event]:
        name = self._name(entry, event)
        yield from self._begin(name, record.line, About())
        strand = self._strands[name]
        message = strand.fresh(message, event)
        if not message.parts or strand.is_known(message):
            return
        id = string(entry.get("id"))  # noqa: A001
        key = self._keys.take(id, record.line)
        shows = strand.take(key, message)
        self._callers.update((call.id, name) for call in message.calls)
        native = SourceMetadata(id=id, at=milliseconds(entry.get("timestamp")))
        if message.role is Role.ASSISTANT:
            native = strand.answered(native, event)
            self._totals.note_subagent_output(name, native.usage)
        yield MessageEvent(strand=name, line=record.line, key=key, message=message, native=native)
        if shows is not None:
            yield RewindEvent(strand=name, line=record.line, shows=shows, at=native.at)

    def _fold(self, record: SourceRecord, entry: JsonObject, event: JsonObject) -> Iterator[Event]:
        """Yield a compaction: the model goes on with its instructions and what came meanwhile."""
        text = string(event.get("summaryContent"))
        if event.get("success") is False or not text.strip():
            return
        name = self._name(entry, event)
        yield from self._begin(name, record.line, About())
        strand = self._strands[name]
        id, at = string(entry.get("id")), milliseconds(entry.get("timestamp"))  # noqa: A001
        key = self._keys.take(id, record.line)
        summary = summarized(text, _ORIGIN)
        native = SourceMetadata(id=id, at=at)
        yield MessageEvent(strand=name, line=record.line, key=key, message=summary, native=native)
        yield CompactionEvent(
            strand=name,
            line=record.line,
            id=key,
            shows=strand.fold(key),
            at=at,
            trigger=string(event.get("trigger")),
            tokens_before=count(event.get("preCompactionTokens")) or None,
            tokens_after=count(event.get("postCompactionTokens")) or None,
        )

    def _rewind(
        self, record: SourceRecord, entry: JsonObject, event: JsonObject
    ) -> Iterator[Event]:
        """Yield the rewind of a conversation that was cleared, or taken back from one event on."""
        name = self._name(entry, event)
        yield from self._begin(name, record.line, About())
        strand = self._strands[name]
        if entry.get("type") == "session.context_cleared":
            shows: tuple[str, ...] | None = strand.clear()
        else:
            shows = strand.rewind(string(event.get("upToEventId")))
        if shows is None:
            return
        at = milliseconds(entry.get("timestamp"))
        yield RewindEvent(strand=name, line=record.line, shows=shows, at=at)
        if first := string(event.get("initialMessage")):
            message = Message(Role.USER, (Text(first),))
            yield from self._tell(record, entry, event, message)


COPILOT = SessionReader(
    format=Format("copilot", "Copilot CLI events, JSONL", "openai", writable=False),
    recognize=recognize,
    read=read,
)
