"""Who asked what and who answered it: asks with their replies, and what the newest was said to.

A reply that is held against another ask, or an approval against another proposal, is worse than
none. Where the words that belong together are not at hand, nothing is said.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.summary.cues import is_acknowledgement
from holdfast.transcript import Role, is_user_word
from holdfast.transcript.blocks import is_observation

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.summary.story import Story
    from holdfast.transcript import Message

__all__ = ["NO_REPLY", "Context", "Exchange", "context_of", "exchanges", "first_reply"]

NO_REPLY = "(no reply before the next message)"


@dataclass(frozen=True, slots=True)
class Exchange:
    """What a user said, in one message or in several in a row, and the reply to it."""

    asks: tuple[str, ...]
    reply: str = ""


@dataclass(frozen=True, slots=True)
class Context:
    """What a user's words were said to: the assistant's last words, and the user's own before."""

    reply: str = ""
    words: str = ""


def exchanges(story: Story, task: str, after: Sequence[Message]) -> tuple[Exchange, ...]:
    """Return the asks of the story with their replies, oldest first, without the task itself.

    Messages in a row have one reply together. The last ones may be answered after the folded
    turns, but not by what is said to a later message there.
    """
    found: list[Exchange] = []
    asks: tuple[str, ...] = ()
    rounds, newest = story.rounds, story.rounds[-1:]
    answer = first_reply(after)
    if newest and newest[0].words == task:
        # What is said to the task is no reply to the asks right before it.
        rounds = rounds[:-1]
        answer = NO_REPLY if newest[0].reply or answer else ""
    for each in rounds:
        asks += () if each.words == task or is_acknowledgement(each.words) else (each.words,)
        if each.reply and asks:
            found.append(Exchange(tuple(dict.fromkeys(asks)), each.reply))
        asks = () if each.reply else asks
    return (*found, Exchange(asks, answer)) if asks else tuple(found)


def first_reply(messages: Iterable[Message]) -> str:
    """Return the assistant's words before a user speaks; where a user was first, that."""
    overtaken = False
    for message in messages:
        text = message.text if message.synthetic is None else ""
        if not text or text.isspace():
            continue
        if message.role is Role.ASSISTANT:
            return NO_REPLY if overtaken else text
        overtaken = overtaken or _is_said(message, text)
    return ""


def context_of(task: str, story: Story, after: Sequence[Message]) -> Context:
    """Return what the newest words were said to, or nothing where that is not known."""
    context, found = Context(), None
    for message in after:
        text = message.text if message.synthetic is None else ""
        if not text or text.isspace():
            continue
        if message.role is Role.ASSISTANT:
            context = Context(text, context.words)
        elif _is_said(message, text):
            found = context if text == task else found
            context = Context(context.reply, text)
    if found is not None:
        return found
    if not story.rounds or story.rounds[-1].words != task:
        return Context()
    earlier = story.rounds[:-1]
    replies = (story.opening, *(each.reply for each in earlier))
    reply = next(filter(None, reversed(replies)), "")
    return Context(reply, earlier[-1].words if earlier else "")


def _is_said(message: Message, text: str) -> bool:
    return message.role is Role.USER and is_user_word(message) and not is_observation(text)
