"""Lines worth quoting in the newest messages: commands with their exit codes, errors, counts."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.facts.cues import constraints, decisions, verdicts
from holdfast.facts.rules import Fact, Kind
from holdfast.facts.sources import clipped
from holdfast.transcript.blocks import is_observation
from holdfast.transcript.effects import effect, error_line
from holdfast.transcript.families import Family
from holdfast.transcript.parts import Role
from holdfast.transcript.toolkit import Toolkit, flat

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript.parts import Message, ToolCall, ToolResult

__all__ = ["Quote", "quotes"]

_NEWEST = 200
"""How many messages are searched for lines: older ones are in the record already."""
_END = 3_000
"""Characters at the end of an output: that is where test runners count."""
_COMMAND_WIDTH = 160
_TOOLS = Toolkit()


@dataclass(frozen=True, slots=True)
class Quote:
    """A fact that is a whole line, and the message it stands in."""

    fact: Fact
    index: int


def quotes(messages: Sequence[Message]) -> Iterator[Quote]:
    """Yield the lines worth quoting of the newest messages, in order."""
    start = max(0, len(messages) - _NEWEST)
    calls: dict[str, ToolCall] = {}
    families: dict[str, Family] = {}
    for index in range(start, len(messages)):
        message = messages[index]
        for call in message.calls:
            calls[call.id] = call
        for result in message.results:
            call = calls.get(result.call_id)
            if call is None:
                continue
            if call.name not in families:
                families[call.name] = _TOOLS.family(call.name)
            for fact in _of_result(call, result, families[call.name]):
                yield Quote(fact, index)
        for fact in _of_words(message):
            yield Quote(fact, index)


def _of_words(message: Message) -> Iterator[Fact]:
    text = clipped(message.text)
    if message.role is Role.ASSISTANT:
        yield from decisions(text)
    elif message.role is Role.USER and message.synthetic is None and not is_observation(text):
        yield from constraints(text)


def _of_result(call: ToolCall, result: ToolResult, family: Family) -> Iterator[Fact]:
    """Yield what a result says; only a shell's command and count are worth reading closely."""
    if family is not Family.SHELL and not result.is_error:
        return
    ended = effect(result, family)
    if family is Family.SHELL and (target := _TOOLS.action(call).target):
        code = "" if ended.exit_code is None else f" (exit {ended.exit_code})"
        yield Fact(Kind.COMMAND, flat(target, _COMMAND_WIDTH) + code)
        yield from verdicts(ended.text[-_END:])
    if ended.failed and (line := error_line(ended.text)):
        yield Fact(Kind.ERROR, flat(line, _COMMAND_WIDTH))
