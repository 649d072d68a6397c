"""How a transcript hangs together, when it is valid, and how it is drawn in a line a message.

Everything here is an index into a transcript, computed in one pass.

What a single provider demands beyond these lives with its codec in the wire layer.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from itertools import accumulate, pairwise
from typing import TYPE_CHECKING, assert_never

from holdfast.transcript.blocks import (
    expands_to_text,
    given_to_skill,
    is_command,
    is_observation,
    is_output,
    output_in,
    shell_blocks,
    words_typed,
)
from holdfast.transcript.parts import (
    Media,
    Opaque,
    Recalled,
    Role,
    Summary,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
)

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.transcript.parts import Message, Part

_PATCH = "diff --git "
_NOT_SAID = frozenset({Summary, Recalled})
_SHORT = 4_000
"""Characters of a text whose words are remembered."""


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
            if type(part) is ToolCall:
                opened[part.id] = index
            elif type(part) is ToolResult and part.call_id in opened:
                spans[opened[part.call_id] + 1] += 1
                spans[index + 1] -= 1
        if (
            _only_thinks(message)
            and index + 1 < size
            and transcript[index + 1].role is message.role
        ):
            spans[index + 1] += 1
            spans[index + 2] -= 1
    covered = accumulate(spans[: size + 1])
    return tuple([index for index, inside in enumerate(covered) if not inside])


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
        and any(type(part) not in _NOT_SAID for part in message.parts)
    )


def said_in(message: Message, *, opens: bool = False) -> str:
    """Return what a user said in a message; what a program wrote in a user's name is not theirs.

    Of a command it is what the user gave to it, and of a skill too, whose text is put before that.
    Reminders and settings that an agent puts around a user's words are left out.

    Args:
        message: The message.
        opens: Whether no assistant has said anything yet. Then it cannot be the output of a
            command, although some agents end a task with the same prompt as an output.
    """
    if not is_user_word(message):
        return ""
    text = message.text
    # The same words are asked for a dozen times in one pass.
    return (_remembered if len(text) <= _SHORT else _said)(text, opens)


def _said(text: str, opens: bool) -> str:  # noqa: FBT001 - a cache takes no keywords for free
    if not text or text.isspace():
        return ""
    if is_observation(text):
        if opens and is_output(text):
            return output_in(text)
        typed = words_typed(text) if is_command(text) else ""
        return "" if typed.startswith("/") else typed
    given = given_to_skill(text)
    if given is not None:
        return given
    typed = words_typed(text)
    return typed if len(typed) < len(text.strip()) else text


_remembered = lru_cache(maxsize=2048)(_said)


def said_at(transcript: Sequence[Message], index: int, *, opens: bool = False) -> str:
    """Return what a user said in the message at the index, as `said_in` does.

    The text of a skill or a command is nobody's words. An agent puts it behind the call of the
    skill, or behind the name of the command; not every text says itself what it is. Nor does a
    patch behind a command that an assistant wrote as text.
    """
    is_nobodys = is_expansion(transcript, index) or _is_printed_patch(transcript, index)
    return "" if is_nobodys else said_in(transcript[index], opens=opens)


def _is_printed_patch(transcript: Sequence[Message], index: int) -> bool:
    if not index or not transcript[index].text.startswith(_PATCH):
        return False
    before = transcript[index - 1]
    return before.role is Role.ASSISTANT and bool(shell_blocks(before.text, unnamed=True))


def is_expansion(transcript: Sequence[Message], index: int) -> bool:
    """Say whether the message at the index is the text of a skill or a command.

    Of a command that was given nothing, its text is all that says what the user wants.
    """
    if not index or transcript[index].role is not Role.USER:
        return False
    before = transcript[index - 1]
    if before.results:
        return expands_to_text(before.results[-1].text, is_result=True)
    is_prompt = before.role is Role.USER and expands_to_text(before.text, is_result=False)
    return is_prompt and bool(said_in(before))


def newest_user(transcript: Sequence[Message]) -> int | None:
    """Return the index of the newest message that a user really sent.

    Agents hand over skills and notices in a user's name; one of those is meant only where no user
    said anything. The output of a command that an assistant wrote as text is its user's message.
    """
    places = range(len(transcript) - 1, -1, -1)
    sent = (at for at in places if _is_sent(transcript[at]) and not is_expansion(transcript, at))
    said = next(sent, None)
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
        and type(parts[-1]) is Thinking
        and all(type(part) is Thinking for part in parts)
    )


@dataclass(frozen=True, slots=True)
class Violation:
    """One broken rule."""

    index: int
    """The message that breaks it."""
    rule: str
    """A stable name, such as `pairing`."""
    message: str
    """A sentence for a person."""


def check(transcript: Sequence[Message]) -> tuple[Violation, ...]:
    """Return what is wrong with the transcript; nothing means it is valid.

    Calls without a result at the very end are not a violation: their tools may be running.
    """
    found: list[Violation] = []
    waiting: dict[str, int] = {}
    seen: set[str] = set()
    for index, message in enumerate(transcript):
        role = message.role
        # An assistant message may go on adding calls to those of its neighbor.
        goes_on = index > 0 and role is transcript[index - 1].role is Role.ASSISTANT
        if waiting and role is not Role.TOOL and not goes_on:
            for call_id, at in waiting.items():
                problem = f"call {call_id!r} has no result right after it"
                found.append(Violation(at, "pairing", problem))
            waiting = {}
        for result in message.results:
            if waiting.pop(result.call_id, None) is None:
                why = "has two results" if result.call_id in seen else "does not exist"
                problem = f"a result answers call {result.call_id!r}, which {why}"
                found.append(Violation(index, "pairing", problem))
        for call in message.calls:
            if call.id in waiting:
                found.append(Violation(index, "pairing", f"call id {call.id!r} is used twice"))
            waiting[call.id] = index
            seen.add(call.id)
    return tuple(found)


def shape(transcript: Sequence[Message], width: int = 60) -> str:
    """Draw the transcript: position, speaker, and the beginning of what was said."""
    digits = max(2, len(str(len(transcript) - 1)))
    return "\n".join(
        f"{index:0{digits}d} {message.role:<9} {one_line(message, width)}".rstrip()
        for index, message in enumerate(transcript)
    )


def one_line(message: Message, width: int = 60) -> str:
    """Return the message as one line of at most `width` characters."""
    line = " | ".join(filter(None, (_sketch(part, width) for part in message.parts)))
    return line if len(line) <= width else line[: max(width - 1, 1)] + "…"


def _sketch(part: Part, width: int) -> str:
    match part:
        case Text(text=text):
            return _flat(text, width)
        case Thinking():
            return "(thinking)"
        case ToolCall(name=name, arguments=arguments):
            return f"-> {name} {_flat(arguments, width)}"
        case ToolResult(is_error=is_error):
            return f"{'error' if is_error else 'result'}: {_flat(part.text, width)}"
        case Media(kind=kind):
            return f"[{kind}]"
        case Summary(text=text):
            return f"[summary] {_flat(text, width)}"
        case Recalled(text=text):
            return f"[recalled] {_flat(text, width)}"
        case Opaque(value=value):
            return f"[{value.get('type', 'opaque')}]"
        case _:
            assert_never(part)


def _flat(text: str, width: int) -> str:
    # Only the beginning can show, so a megabyte is not split into words for one line.
    return " ".join(text[: width * 4].split())
