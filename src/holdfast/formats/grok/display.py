"""What Grok shows on its screen, which it keeps in `updates.jsonl` as a stream of changes.

It is the only place that knows when something was said, which tool failed, what a turn cost, and
what was said before a compaction or was taken back: the other file holds no more than the model
sees. A message comes in pieces; a turn begins with a run of the user's pieces.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.formats.figures import count, dollars, whole
from holdfast.formats.keys import Keys
from holdfast.formats.loose import as_json, is_object, mapping, mappings, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import contents, words
from holdfast.session import Usage
from holdfast.transcript import Message, Role, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping

    from holdfast.formats.source import Record
    from holdfast.transcript import Part

__all__ = ["Back", "Checkpoint", "Display", "Shown", "Step", "is_update", "update_of"]

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
class Shown:
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
class Checkpoint:
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
class Back:
    """The user went back to where a prompt was not said yet."""

    line: int
    turn: int
    at: int | None


Step: TypeAlias = Shown | Checkpoint | Back


def is_update(entry: Mapping[str, object]) -> bool:
    """Say whether a line is of such a stream and of nothing else."""
    named = isinstance(update_of(entry).get("sessionUpdate"), str)
    return named and (
        string(entry.get("method")) in _METHODS or ("method" not in entry and "sessionId" in entry)
    )


def update_of(entry: Mapping[str, object]) -> Mapping[str, object]:
    """Return the change that a line tells of; older lines have nothing around it."""
    return mapping(_params(entry).get("update"))


class Display:
    """Puts the pieces of one stream together."""

    def __init__(self) -> None:
        """Have seen nothing."""
        self.steps: list[Step] = []
        self.failed: set[str] = set()
        """The calls whose tools failed."""
        self._keys = Keys()
        self._run = ""
        """The kind of the pieces that the last message is made of, while more may come."""
        self._places: dict[str, int] = {}
        """Where calls stand among the steps, and with a mark before them their results."""
        self._turns = _Turns()
        self._paid: dict[str, Usage] = {}

    @property
    def started(self) -> int | None:
        """Return when the first message was shown."""
        return next((step.at for step in self.steps if isinstance(step, Shown)), None)

    @property
    def usage(self) -> Usage | None:
        """Return what all turns cost; a turn that is written twice counts once."""
        return sum(self._paid.values(), Usage()) if self._paid else None

    def take(self, record: Record) -> None:
        """Look at one line."""
        entry = mapping(record.value)
        update = update_of(entry)
        kind, at = string(update.get("sessionUpdate")), _at(entry)
        if kind in _PIECES:
            self._piece(record, update, at)
            return
        self._run = ""
        match kind:
            case "tool_call" | "tool_call_update":
                self._tool(record, update, at)
            case "turn_completed" if is_object(update.get("usage")):
                name = string(update.get("prompt_id")) or f"#{record.line}"
                self._paid[name] = _usage(mapping(update.get("usage")))
            case "rewind_marker" if (
                target := whole(update.get("target_prompt_index"))
            ) is not None:
                self.steps.append(Back(record.line, target, at))
                self._turns.back(target)
            case "compaction_checkpoint":
                prompt = count(update.get("prompt_index_at_compaction"))
                own = string(update.get("checkpoint_id"))
                self.steps.append(Checkpoint(record.line, own, at, prompt))
            case "auto_compact_completed":
                self._measure(update)
            case _:
                return

    def _piece(self, record: Record, update: Mapping[str, object], at: int | None) -> None:
        kind = string(update.get("sessionUpdate"))
        prompt = whole(mapping(update.get("_meta")).get("promptIndex"))
        parts = _parts(kind, mapping(update.get("content")))
        if not parts:
            return
        last = self.steps[-1] if self.steps else None
        is_more = self._run == kind and isinstance(last, Shown)
        if kind == "user_message_chunk" and not (is_more and self._turns.goes_on(prompt)):
            is_more = False
            self._turns.begin(prompt)
        if is_more and isinstance(last, Shown):
            message = replace(last.message, parts=_joined((*last.message.parts, *parts)))
            self.steps[-1] = replace(last, message=message)
        else:
            self._show(record, Message(_PIECES[kind], parts), at, prompt)
        self._run = kind

    def _tool(self, record: Record, update: Mapping[str, object], at: int | None) -> None:
        call = string(update.get("toolCallId"))
        self._call(record, update, at)
        state = string(update.get("status"))
        if state not in {"completed", "failed"} or f"={call}" in self._places:
            return
        if state == "failed":
            self.failed.add(call)
        self._places[f"={call}"] = len(self.steps)
        result = ToolResult(call, (Text(_output(update)),), is_error=state == "failed")
        self._show(record, Message(Role.TOOL, (result,)), at)

    def _call(self, record: Record, update: Mapping[str, object], at: int | None) -> None:
        """Tell a call when it is first heard of; what it was called with may come later."""
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
        if given is None or not isinstance(known, Shown) or known.message.calls[0].arguments:
            return
        made = replace(known.message.calls[0], arguments=as_json(given))
        self.steps[place] = replace(known, message=replace(known.message, parts=(made,)))

    def _show(
        self, record: Record, message: Message, at: int | None, prompt: int | None = None
    ) -> None:
        key = f"{record.file}~{self._keys.take('', record.line)}"
        self.steps.append(Shown(record.line, key, message, at, self._turns.number, prompt))

    def _measure(self, update: Mapping[str, object]) -> None:
        place = next(
            (
                place
                for place in reversed(range(len(self.steps)))
                if _is_checkpoint(self.steps[place])
            ),
            None,
        )
        known = None if place is None else self.steps[place]
        if place is not None and isinstance(known, Checkpoint):
            before = count(update.get("tokens_before")) or None
            after = count(update.get("tokens_after")) or None
            self.steps[place] = replace(known, before=before, after=after)


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


def _is_checkpoint(step: Step) -> bool:
    return isinstance(step, Checkpoint)


def _params(entry: Mapping[str, object]) -> Mapping[str, object]:
    return mapping(entry.get("params")) if "params" in entry else entry


def _at(entry: Mapping[str, object]) -> int | None:
    params = _params(entry)
    inner = mapping(update_of(entry).get("_meta"))
    known = (mapping(params.get("_meta")), inner)
    exact = (moment(each.get("agentTimestampMs")) for each in known)
    return next((each for each in exact if each), None) or moment(entry.get("timestamp"))


def _parts(kind: str, content: Mapping[str, object]) -> tuple[Part, ...]:
    found = contents([{**content, "url": content.get("url") or content.get("uri")}])
    if kind == "agent_thought_chunk":
        return tuple(Thinking(each.text) for each in found if isinstance(each, Text))
    return found


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


def _output(update: Mapping[str, object]) -> str:
    said = [words([each.get("content")]) for each in mappings(update.get("content"))]
    raw = update.get("rawOutput")
    return "\n".join(filter(None, said)) or ("" if raw is None else as_json(raw))


def _usage(fields: Mapping[str, object]) -> Usage:
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
