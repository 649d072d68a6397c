"""Turns as the summarizer reads them: labelled, cut to size, redacted.

Tool output is cut in the middle, because beginnings say what it is and ends say how it went. A
user's words and an assistant's are whole. Nothing unredacted leaves here.
"""

from __future__ import annotations

from functools import lru_cache
from itertools import count, pairwise
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from zlib import crc32

from holdfast.summary.masking import redact_all
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Synthetic,
    Text,
    ToolCall,
    ToolResult,
    said_in,
    seams,
)
from holdfast.transcript.blocks import is_observation
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

__all__ = ["Piece", "brief", "derive_focus", "mark_for", "user_words"]

_Sizes: TypeAlias = tuple[int, int, int]

_RESULT = (6_000, 4_000, 1_500)
_ARGUMENTS = (1_500, 1_200, 200)
_WIDTH, _ENOUGH = 240, 40
"""Characters of a topic, and bytes from which on words name one."""
_MARGIN = 4_096
"""Characters read beyond a cut, so that a secret across it is seen whole and goes whole."""


class Piece(NamedTuple):
    """One labelled piece of a turn.

    A named tuple, because tens of thousands are made of a long session.
    """

    label: str
    text: str


def brief(
    messages: Sequence[Message], redact: Callable[[str], str]
) -> tuple[tuple[Piece, ...], ...]:
    """Return the turns as groups of pieces; between groups the turns may be parted.

    An earlier summary is state, not a turn; thinking is not evidence, and recalled memory is kept
    by whoever recalled it: all three are left out.
    """
    telling = _Telling(messages)
    ends = [0]
    for start, end in pairwise(seams(messages)):
        for index in range(start, end):
            telling.add(index, messages[index])
        ends.append(len(telling.pieces))
    shown = telling.shown(redact)
    groups = (
        tuple([each for each in shown[start:end] if each.text and not each.text.isspace()])
        for start, end in pairwise(ends)
    )
    return tuple(group for group in groups if group)


class _Telling:
    """Pieces on their way: labelled, then redacted and cut.

    Beside each piece stands how it is cut. Most pieces come out of redaction as they went in, and
    then they are the same value before and after it.
    """

    def __init__(self, messages: Sequence[Message]) -> None:
        self.pieces: list[Piece] = []
        self._sizes: list[_Sizes | None] = []
        """How each piece is cut; None for words that stay whole."""
        self._after: dict[int, str] = {}
        """What follows a piece, however it is cut."""
        self._names = {
            part.id: part.name
            for message in messages
            for part in message.parts
            if isinstance(part, ToolCall)
        }

    def add(self, index: int, message: Message) -> None:
        """Label the parts of a message."""
        if message.synthetic is Synthetic.SUMMARY or message.synthetic is Synthetic.NOTE:
            return
        speaker: str = message.role
        if message.role is Role.USER and is_observation(message.text):
            speaker = "output"
        number = f"{index + 1} "
        # Ordered by frequency and without patterns: this runs for every part that is folded.
        for part in message.parts:
            if isinstance(part, ToolResult):
                self._add_result(number, part)
            elif isinstance(part, ToolCall):
                label = f"{number}assistant calls {_named(part.name)}"
                self._add(label, part.arguments, _ARGUMENTS)
            elif isinstance(part, Text):
                self._add(number + speaker, part.text, _RESULT if speaker == "output" else None)
            elif isinstance(part, Media):
                self._add(number + speaker, f"({part.kind})", None)
            elif isinstance(part, Opaque):
                self._add(number + speaker, part.readable, None)

    def shown(self, redact: Callable[[str], str]) -> list[Piece]:
        """Return the pieces redacted and cut."""
        told = zip(self.pieces, self._sizes, strict=True)
        parts = [part for piece, sizes in told for part in _parts(piece.text, sizes)]
        masked = iter(redact_all(parts, redact))
        told = enumerate(zip(self.pieces, self._sizes, strict=True))
        return [self._shown(at, piece, sizes, masked) for at, (piece, sizes) in told]

    def _shown(self, at: int, piece: Piece, sizes: _Sizes | None, masked: Iterator[str]) -> Piece:
        whole = piece.text
        if sizes is None or len(whole) <= sizes[0]:
            text = next(masked)
        else:
            text = _cut(len(whole), sizes, [next(masked) for _ in _parts(whole, sizes)])
        if at in self._after:
            text = "\n".join(filter(None, (text, self._after[at])))
        return piece if text is whole else Piece(piece.label, text)

    def _add_result(self, number: str, result: ToolResult) -> None:
        name = _named(result.name or self._names.get(result.call_id, "tool"))
        text = result.text
        if not text or len(result.content) != 1:
            media = [f"({each.kind})" for each in result.content if isinstance(each, Media)]
            if after := "\n".join(media) or "(empty)" * (not text):
                self._after[len(self.pieces)] = after
        self._add(f"{number}result of {name}{', failed' * result.is_error}", text, _RESULT)

    def _add(self, label: str, text: str, sizes: _Sizes | None) -> None:
        self.pieces.append(Piece(label, text))
        self._sizes.append(sizes)


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


def mark_for(texts: Iterable[str]) -> str:
    """Return a mark for labels that occurs in none of the texts, the same for the same texts."""
    known = list(texts)
    # The length is enough to begin with: what counts is that no text has the mark.
    seed = crc32(f"{len(known)} {sum(map(len, known))}".encode())
    marks = (f"{number & 0xFFFFFFFF:08x}" for number in count(seed))
    return next(mark for mark in marks if not any(mark in text for text in known))


def user_words(messages: Sequence[Message]) -> tuple[str, ...]:
    """Return what users said, oldest first."""
    # Hardly one message in twenty is a user's: the role is asked before anything is called.
    user = Role.USER
    return tuple(filter(None, [said_in(each) for each in messages if each.role is user]))


@lru_cache(maxsize=1024)
def _named(name: str) -> str:
    return flat(name, 80).replace("]", "")


def derive_focus(messages: Sequence[Message]) -> str:
    """Return a topic from the newest user turn that names one, in the user's own words.

    "Yes" and "go on" name none: what is said in so few words concerns what was asked before.
    """
    for words in reversed(user_words(messages)):
        # Bytes rather than characters: forty characters of Chinese are a whole request.
        if len(words.encode("utf-8", "surrogatepass")) >= _ENOUGH:
            return flat(words, _WIDTH)
    return ""
