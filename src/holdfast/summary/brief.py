"""Turns as the summarizer reads them: labelled, cut to size, redacted.

Tool output is cut in the middle, because beginnings say what it is and ends say how it went. A
user's words and an assistant's are whole. Nothing unredacted leaves here.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import count, pairwise
from typing import TYPE_CHECKING, assert_never
from zlib import crc32

from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Role,
    Summary,
    Synthetic,
    Text,
    Thinking,
    ToolCall,
    ToolResult,
    is_user_word,
    seams,
)
from holdfast.transcript.blocks import is_observation
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Piece", "brief", "clip", "mark_for", "user_words"]

_RESULT = (6_000, 4_000, 1_500)
_ARGUMENTS = (1_500, 1_200, 200)
_MARGIN = 4_096
"""Characters read beyond a cut, so that a secret across it is seen whole and goes whole."""


@dataclass(frozen=True, slots=True)
class Piece:
    """One labelled piece of a turn."""

    label: str
    text: str


def brief(
    messages: Sequence[Message], redact: Callable[[str], str]
) -> tuple[tuple[Piece, ...], ...]:
    """Return the turns as groups of pieces; between groups the turns may be parted.

    An earlier summary is state, not a turn, and thinking is not evidence: both are left out.
    """
    names = {call.id: call.name for message in messages for call in message.calls}
    groups: list[tuple[Piece, ...]] = []
    for start, end in pairwise(seams(messages)):
        span = range(start, end)
        pieces = (_pieces(index, messages[index], names, redact) for index in span)
        if group := tuple(piece for each in pieces for piece in each):
            groups.append(group)
    return tuple(groups)


def clip(text: str, sizes: tuple[int, int, int], redact: Callable[[str], str]) -> str:
    """Return the text redacted, and cut in the middle if it is longer than the first size.

    Args:
        text: The text.
        sizes: How long it may be, and what is kept of its front and of its back.
        redact: Masks secrets; it sees more than is kept, so that no cut halves a secret.
    """
    limit, front, back = sizes
    if len(text) <= limit:
        return redact(text)
    if len(text) <= front + back + 2 * _MARGIN:
        whole = redact(text)
        start, end = whole[:front], whole[max(len(whole) - back, front) :]
    else:
        ahead = redact(text[: front + _MARGIN])
        behind = redact(text[-back - _MARGIN :])
        start = ahead[: max(min(front, len(ahead) - _MARGIN), 0)]
        end = behind[max(len(behind) - back, _MARGIN) :]
    left_out = len(text) - len(start) - len(end)
    return f"{start}\n[{max(left_out, 0):,} characters left out]\n{end}"


def mark_for(texts: Iterable[str]) -> str:
    """Return a mark for labels that occurs in none of the texts, the same for the same texts."""
    joined = "\n".join(texts)
    seed = crc32(joined.encode("utf-8", "surrogatepass"))
    marks = (f"{number & 0xFFFFFFFF:08x}" for number in count(seed))
    return next(mark for mark in marks if mark not in joined)


def user_words(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what users said, oldest first; program output in a user's name is not theirs."""
    texts = (message.text for message in messages if is_user_word(message))
    return tuple(text for text in texts if text.strip() and not is_observation(text))


def _pieces(
    index: int, message: Message, names: dict[str, str], redact: Callable[[str], str]
) -> Iterator[Piece]:
    if message.synthetic in {Synthetic.SUMMARY, Synthetic.NOTE}:
        return
    speaker = message.role.value
    if message.role is Role.USER and is_observation(message.text):
        speaker = "output"
    for part in message.parts:
        label, text = _told(part, speaker, names, redact)
        if text.strip():
            yield Piece(f"{index + 1} {label}", text)


def _told(
    part: Part, speaker: str, names: dict[str, str], redact: Callable[[str], str]
) -> tuple[str, str]:
    match part:
        case Text(text=text):
            return speaker, clip(text, _RESULT, redact) if speaker == "output" else redact(text)
        case ToolCall(name=name, arguments=arguments):
            return f"assistant calls {_named(name)}", clip(arguments, _ARGUMENTS, redact)
        case ToolResult(is_error=is_error):
            name = _named(part.name or names.get(part.call_id, "tool"))
            return f"result of {name}{', failed' * is_error}", _result(part, redact)
        case Media(kind=kind):
            return speaker, f"({kind})"
        case Opaque(readable=readable):
            return speaker, redact(readable)
        case Summary() | Thinking():
            return speaker, ""
        case _:
            assert_never(part)


def _result(result: ToolResult, redact: Callable[[str], str]) -> str:
    media = [f"({part.kind})" for part in result.content if isinstance(part, Media)]
    return "\n".join(filter(None, [clip(result.text, _RESULT, redact), *media])) or "(empty)"


def _named(name: str) -> str:
    return flat(name, 80).replace("]", "")
