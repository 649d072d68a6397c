"""What happened in a run of turns, read once: who asked what, what was done, what was answered.

Only the newest calls are read closely. A record has room for a few hundred lines, and reading
every old result would make the cost of a compaction grow with what nobody will see.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.transcript import Role, ToolCall, is_user_word
from holdfast.transcript.blocks import is_observation, shell_blocks
from holdfast.transcript.effects import Effect, effect, effect_of_text
from holdfast.transcript.families import Family
from holdfast.transcript.toolkit import Action, Toolkit

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.transcript import Message, ToolResult

__all__ = ["Deed", "Round", "Story", "tell"]

CLOSELY = 600
"""How many of the newest calls are read closely."""

_SPEAKERS = frozenset({Role.USER, Role.ASSISTANT})


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
    """Everything the assistant said, in order."""


@dataclass(frozen=True, slots=True)
class _Found:
    """A call or a command in a fence, and its answer when it has one."""

    call: ToolCall
    result: ToolResult | None = None
    observed: str | None = None


def tell(messages: Sequence[Message], toolkit: Toolkit) -> Story:
    """Return the story of the messages."""
    opening, rounds, replies = _talk(messages)
    found = list(_found(messages))
    families = {name: toolkit.family(name) for name in {each.call.name for each in found}}
    older = Counter(families[each.call.name] for each in found[:-CLOSELY])
    deeds = tuple(_deed(each, toolkit) for each in found[-CLOSELY:])
    return Story(opening, rounds, deeds, older, replies)


def _talk(messages: Sequence[Message]) -> tuple[str, tuple[Round, ...], tuple[str, ...]]:
    opening, rounds, replies = "", list[Round](), list[str]()
    for message in messages:
        if message.role not in _SPEAKERS or message.synthetic is not None:
            continue
        text = message.text
        if not text.strip():
            continue
        if message.role is Role.ASSISTANT:
            replies.append(text)
            if rounds:
                rounds[-1] = Round(rounds[-1].words, text)
            else:
                opening = text
        elif is_user_word(message) and not is_observation(text):
            rounds.append(Round(text))
    return opening, tuple(rounds), tuple(replies)


def _found(messages: Sequence[Message]) -> Iterator[_Found]:
    answers = (message for message in messages if message.role is not Role.ASSISTANT)
    results = {result.call_id: result for message in answers for result in message.results}
    waiting: list[ToolCall] = []
    for message in messages:
        if waiting and message.role is Role.USER:
            observed = message.text if is_observation(message.text) else None
            yield from (_Found(call, observed=observed) for call in waiting)
            waiting = []
        if message.role is not Role.ASSISTANT:
            continue
        calls = message.calls
        yield from (_Found(call, results.get(call.id)) for call in calls)
        if not calls and "```" in message.text:
            waiting = [ToolCall("", "bash", block) for block in shell_blocks(message.text)]
    yield from (_Found(call) for call in waiting)


def _deed(found: _Found, toolkit: Toolkit) -> Deed:
    if not found.call.id and found.call.name == "bash":
        action = Action(Family.SHELL, "bash", found.call.arguments)
        ended = None if found.observed is None else effect_of_text(found.observed)
        return Deed(action, ended)
    action = toolkit.action(found.call)
    ended = None if found.result is None else effect(found.result, action.family)
    return Deed(action, ended, found.call.arguments)
