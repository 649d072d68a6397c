"""What happened in a run of turns, read once: who asked what, what was done, what was answered.

Only the newest calls are read closely. A record has room for a few hundred lines, and reading
every old result would make the cost of a compaction grow with what nobody will see.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.summary.written import written_files
from holdfast.transcript import Role, ToolCall, is_user_word
from holdfast.transcript.blocks import is_observation, is_output, output_in, shell_blocks
from holdfast.transcript.effects import Effect, effect, effect_of_text
from holdfast.transcript.families import Family
from holdfast.transcript.toolkit import Action, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript import Message, ToolResult

__all__ = ["Deed", "Round", "Story", "tell"]

CLOSELY = 600
"""How many of the newest calls are read closely at most."""

_REPLIES = 120_000
_READ_OF_REPLY = 6_000
"""Characters of replies that are kept, and what each counts at most."""


@dataclass(frozen=True, slots=True)
class Deed:
    """An action and how it ended, if it did."""

    action: Action
    ended: Effect | None
    arguments: str = ""

    @property
    def failed(self) -> bool:
        """Say whether the action is known to have failed."""
        return self.ended is not None and self.ended.failed


@dataclass(frozen=True, slots=True)
class Round:
    """What a user said, and the last thing the assistant said to it."""

    words: str
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Story:
    """The turns in short."""

    opening: str
    """The assistant's last words before the first user of these turns spoke."""
    rounds: tuple[Round, ...]
    deeds: tuple[Deed, ...]
    older: Counter[Family]
    """How many calls of each family came before the deeds."""
    replies: tuple[str, ...]
    """The newest of what the assistant said, in order."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A call or a command in a fence, and its answer; such a command always has one."""

    call: ToolCall
    result: ToolResult | None = None
    observed: str | None = None


def tell(messages: Sequence[Message], toolkit: Toolkit, closely: int = CLOSELY) -> Story:
    """Return the story of the messages, with at most `closely` deeds."""
    opening, rounds, replies = _talk(messages)
    start = _start(messages, closely)
    found = list(_found(messages[start:]))
    surplus = max(len(found) - closely, 0)
    names = Counter(call.name for index in range(start) for call in _calls(messages, index))
    names.update(each.call.name for each in found[:surplus])
    older = Counter[Family]()
    for name, times in names.items():
        older[toolkit.family(name)] += times
    deeds = tuple(_deed(each, toolkit) for each in found[surplus:])
    return Story(opening, rounds, deeds, older, replies)


def _talk(messages: Sequence[Message]) -> tuple[str, tuple[Round, ...], tuple[str, ...]]:
    """Return the opening, the rounds and the replies, reading backwards.

    Of old rounds only the last reply is needed, so no other is looked at.
    """
    rounds, replies, answer = list[Round](), list[str](), ""
    left = _REPLIES
    for message in reversed(messages):
        if message.synthetic is not None:
            continue
        if message.role is Role.ASSISTANT:
            text = message.text if left > 0 or not answer else ""
            if text and not text.isspace():
                answer = answer or text
                left -= min(len(text), _READ_OF_REPLY)
                replies += [text] if left > 0 else []
        elif message.role is Role.USER:
            text = message.text
            if text and not text.isspace() and is_user_word(message) and not is_observation(text):
                rounds.append(Round(text, answer))
                answer = ""
    return answer, tuple(reversed(rounds)), tuple(reversed(replies))


def _start(messages: Sequence[Message], closely: int) -> int:
    """Return the message from which on there are at least so many calls."""
    for index in range(len(messages) - 1, -1, -1):
        closely -= len(_calls(messages, index))
        if closely <= 0:
            return index
    return 0


def _calls(messages: Sequence[Message], index: int) -> Sequence[ToolCall]:
    """Return the calls of a message, or the command in its fence that was run.

    A command that no output follows was suggested, not run. Agents that write commands as text
    run one for each message: the last.
    """
    message = messages[index]
    if message.role is not Role.ASSISTANT:
        return ()
    calls = [part for part in message.parts if isinstance(part, ToolCall)]
    if calls or "```" not in (text := message.text) or not _observed(messages, index):
        return calls
    return [ToolCall("", "bash", block) for block in shell_blocks(text)[-1:]]


def _observed(messages: Sequence[Message], index: int) -> str:
    """Return the output that answers the message, if the next message is one."""
    if index + 1 == len(messages) or messages[index + 1].role is not Role.USER:
        return ""
    text = messages[index + 1].text
    return text if is_output(text) else ""


def _found(messages: Sequence[Message]) -> Iterator[_Found]:
    answers = (message for message in messages if message.role is not Role.ASSISTANT)
    results = {result.call_id: result for message in answers for result in message.results}
    for index, message in enumerate(messages):
        for call in _calls(messages, index):
            if message.calls:
                yield _Found(call, results.get(call.id))
            else:
                yield _Found(call, observed=_observed(messages, index))


def _deed(found: _Found, toolkit: Toolkit) -> Deed:
    if found.observed is not None:
        command = found.call.arguments
        ended = effect_of_text(found.observed)
        action = Action(Family.SHELL, "bash", command, files=written_files(command))
        return Deed(action, replace(ended, text=output_in(ended.text)))
    action = toolkit.action(found.call)
    if action.family is Family.SHELL and not action.files:
        action = replace(action, files=written_files(action.target))
    ended = None if found.result is None else effect(found.result, action.family)
    return Deed(action, ended, found.call.arguments)
