"""Turns as the summarizer reads them: labelled, cut to size, redacted.

Tool output is cut in the middle, because beginnings say what it is and ends say how it went. A
user's words and an assistant's are whole. Nothing unredacted leaves here.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias, assert_never
from zlib import crc32

from holdfast.summary.masking import redact_all
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Part,
    Recalled,
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

_Sizes: TypeAlias = tuple[int, int, int]

_RESULT = (6_000, 4_000, 1_500)
_ARGUMENTS = (1_500, 1_200, 200)
_MARGIN = 4_096
"""Characters read beyond a cut, so that a secret across it is seen whole and goes whole."""


class Piece(NamedTuple):
    """One labelled piece of a turn.

    A named tuple, because tens of thousands are made of a long session.
    """

    label: str
    text: str


class _Told(NamedTuple):
    """A piece before it is cut and redacted; a named tuple for the same reason."""

    label: str
    text: str
    sizes: _Sizes | None = None
    """How it is cut; None for words that stay whole."""
    after: str = ""
    """What follows the text, however it was cut."""


def brief(
    messages: Sequence[Message], redact: Callable[[str], str]
) -> tuple[tuple[Piece, ...], ...]:
    """Return the turns as groups of pieces; between groups the turns may be parted.

    An earlier summary is state, not a turn; thinking is not evidence, and recalled memory is kept
    by whoever recalled it: all three are left out.
    """
    names = {
        part.id: part.name
        for message in messages
        for part in message.parts
        if isinstance(part, ToolCall)
    }
    told = [
        [each for index in range(start, end) for each in _pieces(index, messages[index], names)]
        for start, end in pairwise(seams(messages))
    ]
    masked = iter(
        redact_all(
            (part for group in told for each in group for part in _parts(each.text, each.sizes)),
            redact,
        )
    )
    groups = ([_shown(each, masked) for each in group] for group in told)
    kept = (
        tuple([each for each in group if each.text and not each.text.isspace()]) for group in groups
    )
    return tuple(group for group in kept if group)


def clip(text: str, sizes: _Sizes, redact: Callable[[str], str]) -> str:
    """Return the text redacted, and cut in the middle if it is longer than the first size.

    Args:
        text: The text.
        sizes: How long it may be, and what is kept of its front and of its back.
        redact: Masks secrets; it sees more than is kept, so that no cut halves a secret.
    """
    return _cut(len(text), sizes, [redact(part) for part in _parts(text, sizes)])


def _parts(text: str, sizes: _Sizes | None) -> tuple[str, ...]:
    """Return what of a text has to be redacted: all of it, or both ends with a margin."""
    if sizes is None or len(text) <= sizes[1] + sizes[2] + 2 * _MARGIN:
        return (text,)
    _, front, back = sizes
    return text[: front + _MARGIN], text[-back - _MARGIN :]


def _cut(length: int, sizes: _Sizes, masked: Sequence[str]) -> str:
    """Return what is shown of a text of that length, from its redacted parts."""
    limit, front, back = sizes
    ahead, behind = masked[0], masked[-1]
    if length <= limit:
        return ahead
    if len(masked) == 1:
        start, end = ahead[:front], ahead[max(len(ahead) - back, front) :]
    else:
        start = ahead[: max(min(front, len(ahead) - _MARGIN), 0)]
        end = behind[max(len(behind) - back, _MARGIN) :]
    left_out = length - len(start) - len(end)
    return f"{start}\n[{max(left_out, 0):,} characters left out]\n{end}"


def _shown(told: _Told, masked: Iterator[str]) -> Piece:
    """Return a piece as it is shown, taking its parts from those that were redacted."""
    label, whole, sizes, after = told
    if sizes is None or len(whole) <= sizes[0]:
        text = next(masked)
    else:
        text = _cut(len(whole), sizes, [next(masked) for _ in _parts(whole, sizes)])
    return Piece(label, "\n".join(filter(None, (text, after))) if after else text)


def mark_for(texts: Iterable[str]) -> str:
    """Return a mark for labels that occurs in none of the texts, the same for the same texts."""
    known = list(texts)
    # The length is enough to begin with: what counts is that no text has the mark.
    seed = crc32(f"{len(known)} {sum(map(len, known))}".encode())
    marks = (f"{number & 0xFFFFFFFF:08x}" for number in count(seed))
    return next(mark for mark in marks if not any(mark in text for text in known))


def user_words(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what users said, oldest first; program output in a user's name is not theirs."""
    # Hardly one message in twenty is a user's: the role is asked before anything is called.
    said = [each for each in messages if each.role is Role.USER and is_user_word(each)]
    texts = [message.text for message in said]
    return tuple([text for text in texts if text.strip() and not is_observation(text)])


def _pieces(index: int, message: Message, names: dict[str, str]) -> list[_Told]:
    if message.synthetic is Synthetic.SUMMARY or message.synthetic is Synthetic.NOTE:
        return []
    speaker: str = message.role
    if message.role is Role.USER and is_observation(message.text):
        speaker = "output"
    number = f"{index + 1} "
    found = [_told(number, part, speaker, names) for part in message.parts]
    return [told for told in found if told is not None]


def _told(number: str, part: Part, speaker: str, names: dict[str, str]) -> _Told | None:
    match part:
        case Text(text=text):
            return _Told(number + speaker, text, _RESULT if speaker == "output" else None)
        case ToolCall(name=name, arguments=arguments):
            return _Told(f"{number}assistant calls {_named(name)}", arguments, _ARGUMENTS)
        case ToolResult(is_error=is_error):
            name = _named(part.name or names.get(part.call_id, "tool"))
            label = f"{number}result of {name}{', failed' * is_error}"
            text = part.text
            if text and len(part.content) == 1:
                return _Told(label, text, _RESULT)
            media = "\n".join(f"({each.kind})" for each in part.content if isinstance(each, Media))
            return _Told(label, text, _RESULT, media or "(empty)" * (not text))
        case Media(kind=kind):
            return _Told(number + speaker, f"({kind})")
        case Opaque(readable=readable):
            return _Told(number + speaker, readable)
        case Summary() | Thinking() | Recalled():
            return None
        case _:
            assert_never(part)


@lru_cache(maxsize=1024)
def _named(name: str) -> str:
    return flat(name, 80).replace("]", "")
