"""Turns as the summarizer reads them: labelled, cut to size, redacted, in chunks that fit.

Tool output is cut in the middle, because beginnings say what it is and ends say how it went, and
the older it is, the shorter. A user's words and an assistant's are whole. Nothing unredacted
leaves here.

Chunks fit the summarizer's window by arithmetic before anything is sent: a model with a small
window must never lose turns. They part at seams; a piece too large for any request is itself
parted.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cache, lru_cache
from itertools import count, pairwise
from math import ceil, floor
from typing import TYPE_CHECKING, NamedTuple, TypeAlias
from zlib import crc32

from holdfast.redaction.redactor import redact_all
from holdfast.transcript import (
    Media,
    Message,
    Opaque,
    Role,
    Synthetic,
    Text,
    ToolCall,
    ToolResult,
    is_expansion,
    said_at,
    seams,
)
from holdfast.transcript.blocks import is_observation
from holdfast.transcript.toolkit import flat

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator, Sequence

Sizes: TypeAlias = tuple[int, int, int]

_RESULT = (6_000, 4_000, 1_500)
_ARGUMENTS = (1_500, 1_200, 200)
_FRESH, _HALVINGS = 40, 2
"""Messages after which these sizes are halved, and how often that is done at most: what came of
an old output was said in words since."""
_WIDTH, _ENOUGH = 240, 40
"""Characters of a topic, and bytes from which on words name one."""
_MARGIN = 4_096
"""Characters read beyond a cut, so that a secret across it is seen whole and goes whole."""

SAFETY = 1.25
"""The counter may be this much too low and the request still fits."""

_ANSWER = 1.3
"""An answer may be this much longer than its target before it is cut off."""

_TURNS = (3 / 8, 1 / 4, 1 / 8)
"""Shares of the window that turns get at least; a smaller one only where no record fits else."""


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
            telling.add(index)
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
        self._sizes: list[Sizes | None] = []
        """How each piece is cut; None for words that stay whole."""
        self._messages = messages
        self._last = len(messages) - 1
        self._after: dict[int, str] = {}
        """What follows a piece, however it is cut."""
        self._names = {
            part.id: part.name
            for message in messages
            for part in message.parts
            if isinstance(part, ToolCall)
        }

    def add(self, index: int) -> None:
        """Label the parts of a message."""
        message = self._messages[index]
        if message.synthetic is Synthetic.SUMMARY or message.synthetic is Synthetic.NOTE:
            return
        speaker: str = message.role
        is_user = message.role is Role.USER
        if is_user and (is_observation(message.text) or is_expansion(self._messages, index)):
            speaker = "output"
        number = f"{index + 1} "
        age = min((self._last - index) // _FRESH, _HALVINGS)
        # Ordered by frequency and without patterns: this runs for every part that is folded.
        for part in message.parts:
            if isinstance(part, ToolResult):
                self._add_result(number, part, age)
            elif isinstance(part, ToolCall):
                label = f"{number}assistant calls {_named(part.name)}"
                self._add(label, part.arguments, _aged(_ARGUMENTS, age))
            elif isinstance(part, Text):
                sizes = _aged(_RESULT, age) if speaker == "output" else None
                self._add(number + speaker, part.text, sizes)
            elif isinstance(part, Media):
                self._add(number + speaker, f"({part.kind})", None)
            elif isinstance(part, Opaque):
                self._add(number + speaker, part.readable, None)

    def shown(self, redact: Callable[[str], str]) -> list[Piece]:
        """Return the pieces redacted and cut."""
        told = [(each.text, sizes) for each, sizes in zip(self.pieces, self._sizes, strict=True)]
        texts = shortened(told, redact)
        found: list[Piece] = []
        for at, (piece, text) in enumerate(zip(self.pieces, texts, strict=True)):
            if at in self._after:
                text = "\n".join(filter(None, (text, self._after[at])))
            found.append(piece if text is piece.text else Piece(piece.label, text))
        return found

    def _add_result(self, number: str, result: ToolResult, age: int) -> None:
        name = _named(result.name or self._names.get(result.call_id, "tool"))
        text = result.text
        if not text or len(result.content) != 1:
            media = [f"({each.kind})" for each in result.content if isinstance(each, Media)]
            if after := "\n".join(media) or "(empty)" * (not text):
                self._after[len(self.pieces)] = after
        label = f"{number}result of {name}{', failed' * result.is_error}"
        self._add(label, text, _aged(_RESULT, age))

    def _add(self, label: str, text: str, sizes: Sizes | None) -> None:
        self.pieces.append(Piece(label, text))
        self._sizes.append(sizes)


@cache
def _aged(sizes: Sizes, age: int) -> Sizes:
    """Return the sizes halved as often as the age says."""
    limit, front, back = (size >> age for size in sizes)
    return limit, front, back


def shortened(
    texts: Sequence[tuple[str, Sizes | None]],
    redact: Callable[[str], str],
    mark: str = "\n[{:,} characters left out]\n",
) -> list[str]:
    """Return texts redacted, then cut in the middle: a secret is known by its surroundings.

    Each that is longer than its size keeps a front and a back, with the mark in between.
    """
    masked = iter(redact_all([part for each in texts for part in _parts(*each)], redact))
    found: list[str] = []
    for text, size in texts:
        ahead = next(masked)
        if size is None or len(text) <= size[0]:
            found.append(ahead)
            continue
        _, front, back = size
        # What a mask made shorter must not bring the end of a margin to light.
        unread = _MARGIN if len(text) > _read_whole(size) else 0
        start = ahead[: max(min(front, len(ahead) - unread), 0)]
        behind = next(masked) if unread and back else ahead
        end = behind[max(len(behind) - back, unread or front) :]
        left_out = max(len(text) - len(start) - len(end), 0)
        found.append(f"{start}{mark.format(left_out)}{end}" if back else start)
    return found


def _parts(text: str, sizes: Sizes | None) -> tuple[str, ...]:
    """Return what of a text has to be redacted: all of it, or both ends with a margin."""
    if sizes is None or len(text) <= _read_whole(sizes):
        return (text,)
    _, front, back = sizes
    return (text[: front + _MARGIN], text[-back - _MARGIN :])[: 1 + (back > 0)]


def _read_whole(sizes: Sizes) -> int:
    return sizes[1] + sizes[2] + 2 * _MARGIN


def mark_for(texts: Iterable[str]) -> str:
    """Return a mark for labels that occurs in none of the texts, the same for the same texts."""
    known = list(texts)
    # The length is enough to begin with: what counts is that no text has the mark.
    seed = crc32(f"{len(known)} {sum(map(len, known))}".encode())
    marks = (f"{number & 0xFFFFFFFF:08x}" for number in count(seed))
    return next(mark for mark in marks if not any(mark in text for text in known))


def user_words(messages: Sequence[Message], *, opens: bool = False) -> tuple[str, ...]:
    """Return what users said, oldest first.

    Args:
        messages: The messages.
        opens: Whether the conversation begins with them.
    """
    spoken: list[str] = []
    # Hardly one message in twenty is a user's: the role is asked before anything is called.
    for index, message in enumerate(messages):
        if message.role is Role.USER:
            spoken.append(said_at(messages, index, opens=opens))
        elif message.role is Role.ASSISTANT:
            opens = False
    return tuple(filter(None, spoken))


@lru_cache(maxsize=1024)
def _named(name: str) -> str:
    return flat(name, 80).replace("]", "")


def derive_focus(messages: Sequence[Message], redact: Callable[[str], str]) -> str:
    """Return a topic from the newest user turn that names one, in the user's own words.

    "Yes" and "go on" name none: what is said in so few words concerns what was asked before.
    """
    for index in range(len(messages) - 1, -1, -1):
        words = said_at(messages, index)
        # Bytes rather than characters: forty characters of Chinese are a whole request.
        if len(words.encode("utf-8", "surrogatepass")) >= _ENOUGH:
            return flat(words, _WIDTH, redact)
    return ""


@dataclass(frozen=True, slots=True)
class Room:
    """How a window is shared."""

    budget: int
    """Tokens of the record, the previous one and the one to be written."""
    material: int
    """Tokens of turns in one request."""


def allot(window: int, wanted: int, overhead: int, least: int) -> Room | None:
    """Share a window between instructions, previous record, turns and answer.

    The record shrinks from what is wanted where it has to; below `least` tokens there is no sense
    in asking. The overhead is what the instructions weigh.
    """
    for share in _TURNS:
        turns = max(int(window * share), 32)
        free = window - SAFETY * (overhead + turns) - 1
        budget = min(wanted, floor(free / (_ANSWER + SAFETY)))
        if budget >= least:
            material = floor((window - answer_tokens(budget)) / SAFETY) - overhead - budget
            return Room(budget, material)
    return None


def answer_tokens(budget: int) -> int:
    """Return how long the answer to a request for `budget` tokens may get."""
    return ceil(budget * _ANSWER)


def fits(tokens: int, budget: int, window: int) -> bool:
    """Say whether a prompt of `tokens` tokens and its answer fit the window."""
    return tokens * SAFETY + answer_tokens(budget) <= window


def chunks(
    groups: Sequence[Sequence[Piece]], mark: str, room: int, count: Callable[[str], int]
) -> tuple[str, ...]:
    """Return the turns as texts of at most `room` tokens each, in order, nothing left out."""
    found: list[str] = []
    texts: list[str] = []
    used = 0
    for unit, weight in _units(groups, mark, room, count):
        if texts and used + weight > room:
            found.append("\n\n".join(texts))
            texts, used = [], 0
        texts += unit
        used += weight
    return (*found, "\n\n".join(texts)) if texts else tuple(found)


def _units(
    groups: Sequence[Sequence[Piece]], mark: str, room: int, count: Callable[[str], int]
) -> Iterator[tuple[list[str], int]]:
    """Yield what must not be parted, as small as the room demands: groups, pieces, parts.

    Labels are weighed apart from words, because words were mostly weighed before.
    """
    labels: dict[tuple[int, str], int] = {}
    """The tokens of labels, weighed once for all that differ in the number of their turn alone."""

    def weigh(label: str) -> int:
        number, _, words = label.partition(" ")
        alike = (len(number), words)
        if alike not in labels:
            labels[alike] = count(f"[{mark} {label}]\n")
        return labels[alike]

    for group in groups:
        texts = [f"[{mark} {label}]\n{text}" for label, text in group]
        weights = [weigh(label) + count(text) + 2 for label, text in group]
        weight = sum(weights)
        if weight <= room:
            yield texts, weight
            continue
        for piece, text, weight in zip(group, texts, weights, strict=True):
            if weight <= room:
                yield [text], weight
            else:
                yield from _parts_of(piece, mark, room, count)


def _parts_of(
    piece: Piece, mark: str, room: int, count: Callable[[str], int]
) -> Iterator[tuple[list[str], int]]:
    label = f"[{mark} {piece.label}, part %d]\n"
    free = room - count(label % 999_999) - 4
    for number, text in enumerate(_slices(piece.text, free, count), 1):
        part = label % number + text
        yield [part], count(part) + 2


def _slices(text: str, tokens: int, count: Callable[[str], int]) -> Iterator[str]:
    """Yield consecutive slices of at most `tokens` tokens, or one character each at worst."""
    start, length = 0, max(tokens * 2, 1)
    while start < len(text):
        piece = text[start : start + length]
        while len(piece) > 1 and (weight := count(piece)) > tokens:
            length = max(min(len(piece) - 1, int(len(piece) * tokens / weight * 0.95)), 1)
            piece = text[start : start + length]
        end = _word_end(piece) if start + len(piece) < len(text) else len(piece)
        yield piece[:end]
        start += end
        # Dense text made the slices short; lighter text after it may fill them again.
        length = min(length * 2, max(tokens * 8, 1))


def _word_end(piece: str) -> int:
    """Return where to part a text: after a line or a word, if one ends in its second half."""
    for separator in ("\n", " "):
        end = piece.rfind(separator)
        if end > len(piece) // 2:
            return end + 1
    return len(piece)


def halves(text: str) -> tuple[str, str]:
    """Return the text in two, for a counter that does not add up."""
    middle = len(text) // 2
    return text[:middle], text[middle:]
