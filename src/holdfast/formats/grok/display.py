"""The lines of Grok's two files as messages: `chat_history.jsonl` and `updates.jsonl`.

The first has an item a line, and holds no more than the model sees. The second is a stream of
changes of the screen. It is the only place that knows when something was said, which tool failed,
what a turn cost, and what was said before a compaction or was taken back. A message comes in
pieces there; a turn begins with a run of the user's pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from holdfast.formats.content import contents, decoded, summarized, words
from holdfast.formats.json_access import (
    as_json,
    count,
    dollars,
    is_object,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
    whole,
)
from holdfast.formats.reader import KeyAllocator
from holdfast.session import Usage
from holdfast.transcript import Message, Part, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

ANSWERS = frozenset(["reasoning", "assistant", "backend_tool_call"])
"""The items that a model makes: those that stand together are one answer."""


def item_message(entry: JsonObject) -> Message | str | None:
    """Return the message of an item, why it cannot be read, or None where it says nothing."""
    match entry.get("type"):
        case "system":
            return Message(Role.SYSTEM, contents(entry.get("content")))
        case "user":
            # What a user said, or the summary that a compaction says in the user's
            # name.
            message = Message(Role.USER, contents(entry.get("content")))
            found = summarized(message.text, "grok")
            known = found.summary
            is_summary = (
                known is not None and known.text != message.text and len(message.parts) == 1
            )
            return found if is_summary else message
        case "assistant":
            said = contents(entry.get("content"))
            calls: list[ToolCall] = []
            for call in mappings(entry.get("tool_calls")):
                arguments = as_json(call.get("arguments"))
                calls.append(ToolCall(string(call.get("id")), string(call.get("name")), arguments))
            return Message(Role.ASSISTANT, (*_thoughts(entry), *said, *calls))
        case "tool_result":
            # An image is a part of its own; some versions wrote its address alone.
            pictures = [
                {"url": each} if isinstance(each, str) else each
                for each in sequence(entry.get("images"))
            ]
            said = contents(entry.get("content")) or (Text(""),)
            result = ToolResult(string(entry.get("tool_call_id")), (*said, *contents(pictures)))
            return Message(Role.TOOL, (result,))
        case "reasoning":
            return _item(entry)
        case "backend_tool_call":
            call = mapping(entry.get("kind"))
            kind = f"{string(call.get('tool_type'))}_call"
            return _item({"type": kind, **{k: v for k, v in call.items() if k != "tool_type"}})
        case kind if entry.get("content"):
            return f"a line of type {kind!r} is not known"
        case _:
            return None


def _item(item: JsonObject) -> Message | str | None:
    """Read what Responses has an item for, so that nothing of it is lost."""
    found = decoded("responses", item)
    return found if isinstance(found, str) else next(iter(found), None)


def _thoughts(entry: JsonObject) -> Iterator[Thinking]:
    """Return the thought of an answer, which older versions wrote into it."""
    thought = mapping(entry.get("reasoning"))
    text, sealed = string(thought.get("text")), string(thought.get("encrypted"))
    if not text and not sealed:
        return
    item = {"type": "reasoning", "id": string(thought.get("id")), "encrypted_content": sealed}
    found = _item({**item, "summary": [{"type": "summary_text", "text": text}]})
    if isinstance(found, Message) and sealed:
        yield from (part for part in found.parts if isinstance(part, Thinking))
    else:
        yield Thinking(text)


_METHODS = frozenset(["session/update", "_x.ai/session/update"])
_TICKS = 1e10
"""How many of Grok's units are a dollar."""
_TOKENS = ("inputTokens", "outputTokens", "cachedReadTokens", "cacheCreationTokens")
_PIECES = {
    "user_message_chunk": Role.USER,
    "agent_message_chunk": Role.ASSISTANT,
    "agent_thought_chunk": Role.ASSISTANT,
}


@dataclass(frozen=True, slots=True)
class ScreenMessage:
    """One message as the screen shows it."""

    line: int
    key: str
    message: Message
    at: int | None
    turn: int
    """Which prompt it belongs to, counted from 0; less before the first."""
    prompt: int | None = None
    """For the user's own: the number that Grok gave the prompt."""


@dataclass(frozen=True, slots=True)
class CompactionStep:
    """The history was replaced by a compacted one."""

    line: int
    id: str
    at: int | None
    prompt: int
    """The number of the next prompt."""
    before: int | None = None
    after: int | None = None
    """How many tokens there were."""


@dataclass(frozen=True, slots=True)
class RewindStep:
    """The user went back to where a prompt was not said yet."""

    line: int
    turn: int
    at: int | None


ScreenStep: TypeAlias = ScreenMessage | CompactionStep | RewindStep


def is_update(entry: JsonObject) -> bool:
    """Say whether a line is of such a stream and of nothing else."""
    named = isinstance(update_of(entry).get("sessionUpdate"), str)
    return named and (
        string(entry.get("method")) in _METHODS or ("method" not in entry and "sessionId" in entry)
    )


def update_of(entry: JsonObject) -> JsonObject:
    """Return the change that a line tells of; older lines have nothing around it."""
    return mapping(_params(entry).get("update"))


class ScreenLog:
    """Assembles the messages of a screen log from their pieces."""

    def __init__(self) -> None:
        """Start empty."""
        self.steps: list[ScreenStep] = []
        self.failed: set[str] = set()
        """The calls whose tools failed."""
        self._keys = KeyAllocator()
        self._run = ""
        """The kind of the pieces that the last message is made of, while more may come."""
        self._places: dict[str, int] = {}
        """Where calls stand among the steps, and with a mark before them their results."""
        self._turns = _Turns()
        self._paid: dict[str, Usage] = {}

    @property
    def started(self) -> int | None:
        """Return when the first message was shown."""
        return next((step.at for step in self.steps if isinstance(step, ScreenMessage)), None)

    @property
    def usage(self) -> Usage | None:
        """Return what all turns cost; a turn that is written twice counts once."""
        return sum(self._paid.values(), Usage()) if self._paid else None

    def take(self, record: SourceRecord) -> None:
        """Look at one line."""
        entry = mapping(record.value)
        update = update_of(entry)
        kind = string(update.get("sessionUpdate"))
        noted = (mapping(_params(entry).get("_meta")), mapping(update.get("_meta")))
        exact = (milliseconds(each.get("agentTimestampMs")) for each in noted)
        at = next((each for each in exact if each), None) or milliseconds(entry.get("timestamp"))
        if kind in _PIECES:
            self._piece(record, update, at)
            return
        self._run = ""
        match kind:
            case "tool_call" | "tool_call_update":
                call = string(update.get("toolCallId"))
                self._call(record, update, at)
                state = string(update.get("status"))
                if state not in {"completed", "failed"} or f"={call}" in self._places:
                    return
                if state == "failed":
                    self.failed.add(call)
                self._places[f"={call}"] = len(self.steps)
                said = [words([each.get("content")]) for each in mappings(update.get("content"))]
                raw = update.get("rawOutput")
                output = "\n".join(filter(None, said)) or ("" if raw is None else as_json(raw))
                result = ToolResult(call, (Text(output),), is_error=state == "failed")
                self._show(record, Message(Role.TOOL, (result,)), at)
            case "turn_completed" if is_object(update.get("usage")):
                name = string(update.get("prompt_id")) or f"#{record.line}"
                self._paid[name] = _usage(mapping(update.get("usage")))
            case "rewind_marker" if (
                target := whole(update.get("target_prompt_index"))
            ) is not None:
                self.steps.append(RewindStep(record.line, target, at))
                self._turns.back(target)
            case "compaction_checkpoint":
                prompt = count(update.get("prompt_index_at_compaction"))
                own = string(update.get("checkpoint_id"))
                self.steps.append(CompactionStep(record.line, own, at, prompt))
            case "auto_compact_completed":
                self._measure(update)
            case _:
                return

    def _piece(self, record: SourceRecord, update: JsonObject, at: int | None) -> None:
        kind = string(update.get("sessionUpdate"))
        prompt = whole(mapping(update.get("_meta")).get("promptIndex"))
        content = mapping(update.get("content"))
        found = contents([{**content, "url": content.get("url") or content.get("uri")}])
        if kind == "agent_thought_chunk":
            parts = tuple(Thinking(each.text) for each in found if isinstance(each, Text))
        else:
            parts = found
        if not parts:
            return
        last = self.steps[-1] if self.steps else None
        is_more = self._run == kind and isinstance(last, ScreenMessage)
        if kind == "user_message_chunk" and not (is_more and self._turns.goes_on(prompt)):
            is_more = False
            self._turns.begin(prompt)
        if is_more and isinstance(last, ScreenMessage):
            message = structs.replace(last.message, parts=_joined((*last.message.parts, *parts)))
            self.steps[-1] = replace(last, message=message)
        else:
            self._show(record, Message(_PIECES[kind], parts), at, prompt)
        self._run = kind

    def _call(self, record: SourceRecord, update: JsonObject, at: int | None) -> None:
        """Show a call when it is first heard of; its arguments may come later."""
        call = string(update.get("toolCallId"))
        tool = mapping(mapping(update.get("_meta")).get("x.ai/tool"))
        given = update.get("rawInput")
        place = self._places.get(call)
        if place is None:
            name = string(tool.get("name")) or string(update.get("title"))
            made = ToolCall(call, name, "" if given is None else as_json(given))
            self._places[call] = len(self.steps)
            self._show(record, Message(Role.ASSISTANT, (made,)), at)
            return
        known = self.steps[place]
        if (
            given is None
            or not isinstance(known, ScreenMessage)
            or known.message.calls[0].arguments
        ):
            return
        made = structs.replace(known.message.calls[0], arguments=as_json(given))
        self.steps[place] = replace(known, message=structs.replace(known.message, parts=(made,)))

    def _show(
        self, record: SourceRecord, message: Message, at: int | None, prompt: int | None = None
    ) -> None:
        key = f"{record.file}~{self._keys.take('', record.line)}"
        self.steps.append(ScreenMessage(record.line, key, message, at, self._turns.number, prompt))

    def _measure(self, update: JsonObject) -> None:
        for place in reversed(range(len(self.steps))):
            known = self.steps[place]
            if isinstance(known, CompactionStep):
                before = count(update.get("tokens_before")) or None
                after = count(update.get("tokens_after")) or None
                self.steps[place] = replace(known, before=before, after=after)
                return


class _Turns:
    """Counts prompts as Grok does: once it numbers them, only those with a number."""

    def __init__(self) -> None:
        self.number = -1
        self._is_numbered = False
        self._prompt: int | None = None

    def goes_on(self, prompt: int | None) -> bool:
        """Say whether a piece belongs to the prompt before it."""
        return prompt == self._prompt

    def begin(self, prompt: int | None) -> None:
        """Begin with a run of the user's pieces, which may be a new turn."""
        self._prompt = prompt
        self._is_numbered = self._is_numbered or prompt is not None
        if prompt is not None or not self._is_numbered:
            self.number += 1

    def back(self, turn: int) -> None:
        """Go back to where a turn had not begun."""
        self.number = min(self.number, turn - 1)


def _params(entry: JsonObject) -> JsonObject:
    return mapping(entry.get("params")) if "params" in entry else entry


def _joined(parts: Iterable[Part]) -> tuple[Part, ...]:
    """Return parts with the pieces of one text, or of one thought, put together."""
    joined: list[Part] = []
    for part in parts:
        last = joined[-1] if joined else None
        if isinstance(part, Text) and isinstance(last, Text):
            joined[-1] = Text(last.text + part.text)
        elif isinstance(part, Thinking) and isinstance(last, Thinking):
            joined[-1] = Thinking(last.text + part.text)
        else:
            joined.append(part)
    return tuple(joined)


def _usage(fields: JsonObject) -> Usage:
    """Return what a turn cost: what a cache gave or took is among what was sent."""
    if "inputTokens" not in fields:
        models = mapping(fields.get("modelUsage")).values()
        return sum(
            (_usage(mapping(each)) for each in models if "inputTokens" in mapping(each)), Usage()
        )
    sent, received, cached, stored = (count(fields.get(name)) for name in _TOKENS)
    ticks = fields.get("costUsdTicks")
    cost = (
        dollars(ticks / _TICKS) if isinstance(ticks, int) and not isinstance(ticks, bool) else 0.0
    )
    calls = count(fields.get("modelCalls")) or 1
    return Usage(calls, max(sent - cached - stored, 0), received, cached, stored, cost)
