"""How a transcript hangs together: seams, exchanges, open calls, turns.

Everything here is an index into a transcript, computed in one pass.
"""

from __future__ import annotations

from itertools import accumulate, pairwise
from typing import TYPE_CHECKING

from holdfast.transcript.blocks import (
    given_to_skill,
    is_command,
    is_observation,
    is_output,
    words_typed,
)
from holdfast.transcript.parts import Recalled, Role, Summary, Text, Thinking, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.transcript.parts import Message

__all__ = [
    "exchange_at",
    "is_user_word",
    "newest_reply",
    "newest_user",
    "open_calls",
    "said_in",
    "seams",
    "turns",
]

_NOT_SAID = (Summary, Recalled)


def seams(transcript: Sequence[Message]) -> tuple[int, ...]:
    """Return every index at which the transcript can be split.

    An index is a seam when no tool call before it is answered at or after it: providers
    reject a result without its call, and a call without its result. A message that only
    thinks belongs to the one that follows. Both ends are always seams.
    """
    size = len(transcript)
    opened: dict[str, int] = {}
    # Where spans start and stop that no seam may lie inside, as a difference array.
    spans = [0] * (size + 2)
    for index, message in enumerate(transcript):
        for part in message.parts:
            if isinstance(part, ToolCall):
                opened[part.id] = index
            elif isinstance(part, ToolResult) and part.call_id in opened:
                spans[opened[part.call_id] + 1] += 1
                spans[index + 1] -= 1
        if (
            _only_thinks(message)
            and index + 1 < size
            and transcript[index + 1].role is message.role
        ):
            spans[index + 1] += 1
            spans[index + 2] -= 1
    covered = accumulate(spans)
    return tuple(
        index for index, inside in zip(range(size + 1), covered, strict=False) if not inside
    )


def exchange_at(transcript: Sequence[Message], index: int) -> range:
    """Return the smallest run of messages between two seams that holds the message at `index`."""
    borders = seams(transcript)
    start = max(seam for seam in borders if seam <= index)
    end = min(seam for seam in borders if seam > index)
    return range(start, end)


def open_calls(transcript: Sequence[Message]) -> dict[str, int]:
    """Return the id and message index of every tool call that still waits for its result."""
    waiting: dict[str, int] = {}
    for index, message in enumerate(transcript):
        for part in message.parts:
            if isinstance(part, ToolCall):
                waiting[part.id] = index
            elif isinstance(part, ToolResult):
                waiting.pop(part.call_id, None)
    return waiting


def is_user_word(message: Message) -> bool:
    """Say whether the message holds words of a user: no summary, no memory, no stub."""
    return (
        message.role is Role.USER
        and message.synthetic is None
        and any(not isinstance(part, _NOT_SAID) for part in message.parts)
    )


def said_in(message: Message) -> str:
    """Return what a user said in a message; what a program wrote in a user's name is not theirs.

    Of a command it is what the user gave to it, and of a skill too, whose text is put before that.
    """
    if not is_user_word(message):
        return ""
    text = message.text
    if not text or text.isspace():
        return ""
    if is_observation(text):
        typed = words_typed(text) if is_command(text) else ""
        return "" if typed.startswith("/") else typed
    given = given_to_skill(text)
    return text if given is None else given


def newest_user(transcript: Sequence[Message]) -> int | None:
    """Return the index of the newest message that a user really sent.

    Agents hand over skills and notices in a user's name; one of those is meant only where no user
    said anything. The output of a command that an assistant wrote as text is its user's message.
    """
    said = _newest(transcript, _is_sent)
    return _newest(transcript, is_user_word) if said is None else said


def newest_reply(transcript: Sequence[Message]) -> int | None:
    """Return the index of the newest assistant message with words a person can see."""
    return _newest(
        transcript,
        lambda message: (
            message.role is Role.ASSISTANT
            and any(isinstance(part, Text) and part.text.strip() for part in message.parts)
        ),
    )


def turns(transcript: Sequence[Message]) -> tuple[range, ...]:
    """Return the turns: each a user message and everything that follows from it.

    What stands before the first user message is a turn of its own.
    """
    starts = [index for index, message in enumerate(transcript) if is_user_word(message)]
    if transcript and (not starts or starts[0] > 0):
        starts.insert(0, 0)
    return tuple(range(start, end) for start, end in pairwise([*starts, len(transcript)]))


def _newest(transcript: Sequence[Message], wanted: Callable[[Message], bool]) -> int | None:
    return next(
        (index for index in range(len(transcript) - 1, -1, -1) if wanted(transcript[index])),
        None,
    )


def _is_sent(message: Message) -> bool:
    """Say whether a user sent words, output or something without a word, such as a picture."""
    if not is_user_word(message):
        return False
    text = message.text
    return not text.strip() or is_output(text) or bool(said_in(message))


def _only_thinks(message: Message) -> bool:
    parts = message.parts
    return (
        bool(parts)
        and isinstance(parts[-1], Thinking)
        and all(isinstance(part, Thinking) for part in parts)
    )
