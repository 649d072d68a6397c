"""Lines worth quoting in the newest messages: commands with their exit codes, errors, counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.facts.cues import constraints, decisions, verdicts
from holdfast.facts.rules import Fact, Kind
from holdfast.facts.sources import Voice, clipped
from holdfast.transcript.blocks import is_observation
from holdfast.transcript.effects import effect, error_line
from holdfast.transcript.families import Family
from holdfast.transcript.parts import Role
from holdfast.transcript.toolkit import Toolkit, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript.parts import Message, ToolCall, ToolResult

__all__ = ["Quote", "quotes"]

_NEWEST = 400
"""How many messages are searched for lines: older ones are in the record already."""
_END = 3_000
"""Characters at the end of an output: that is where test runners count."""
_COMMAND_WIDTH = 160
_TOOLS = Toolkit()


@dataclass(frozen=True, slots=True)
class Quote:
    """A fact that is a whole line, with who wrote it and in which message."""

    fact: Fact
    voice: Voice
    index: int


def quotes(messages: Sequence[Message]) -> Iterator[Quote]:
    """Yield the lines worth quoting of the newest messages, in order."""
    start = max(0, len(messages) - _NEWEST)
    calls: dict[str, ToolCall] = {}
    for index in range(start, len(messages)):
        message = messages[index]
        for call in message.calls:
            calls[call.id] = call
        for result in message.results:
            for fact in _of_result(calls.get(result.call_id), result):
                yield Quote(fact, _voice_of(fact), index)
        for fact in _of_words(message):
            yield Quote(fact, Voice.ASKED if message.role is Role.USER else Voice.SAID, index)


def _of_words(message: Message) -> Iterator[Fact]:
    text = clipped(message.text)
    if message.role is Role.ASSISTANT:
        yield from decisions(text)
    elif message.role is Role.USER and message.synthetic is None and not is_observation(text):
        yield from constraints(text)


def _of_result(call: ToolCall | None, result: ToolResult) -> Iterator[Fact]:
    if call is None:
        return
    action = _TOOLS.action(call)
    ended = effect(result, action.family)
    if action.family is Family.SHELL and action.target:
        code = "" if ended.exit_code is None else f" (exit {ended.exit_code})"
        yield Fact(Kind.COMMAND, flat(action.target, _COMMAND_WIDTH) + code)
        yield from verdicts(ended.text[-_END:])
    if ended.failed and (line := error_line(ended.text)):
        yield Fact(Kind.ERROR, flat(line, _COMMAND_WIDTH))


def _voice_of(fact: Fact) -> Voice:
    return Voice.CALLED if fact.kind is Kind.COMMAND else Voice.PRINTED
