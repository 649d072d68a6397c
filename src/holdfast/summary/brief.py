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
    from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence

Sizes: TypeAlias = tuple[int, int, int]

_RESULTS: tuple[Sizes, ...] = ((6_000, 4_000, 1_500), (3_000, 2_000, 750), (1_500, 1_000, 375))
_ARGUMENTS: tuple[Sizes, ...] = ((1_500, 1_200, 200), (750, 600, 100), (375, 300, 50))
"""What is kept whole, and how much of the front and the back of what is longer: fresh, older and
oldest, for what came of an old output was said in words since."""
_FRESH = 40
"""Messages after which the next sizes count."""
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
    sizes: Sizes | None = None
    """How the text is to be cut; None for words that stay whole, and for what is cut."""
    after: str = ""
    """What is to follow the text, however it is cut."""


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
    labelled: list[Piece] = []
    ends = [0]
    for start, end in pairwise(seams(messages)):
        for index in range(start, end):
            labelled += _labelled(messages, index, names)
        ends.append(len(labelled))
    texts = shortened([(each.text, each.sizes) for each in labelled], redact)
    shown = [
        Piece(each.label, "\n".join(filter(None, (text, each.after))) if each.after else text)
        for each, text in zip(labelled, texts, strict=True)
    ]
    groups = (
        tuple([each for each in shown[start:end] if each.text and not each.text.isspace()])
        for start, end in pairwise(ends)
    )
    return tuple(group for group in groups if group)


def _labelled(messages: Sequence[Message], index: int, names: Mapping[str, str]) -> Iterator[Piece]:
    message = messages[index]
    if message.synthetic is Synthetic.SUMMARY or message.synthetic is Synthetic.NOTE:
        return
    is_output = message.role is Role.USER and (
        is_observation(message.text) or is_expansion(messages, index)
    )
    number = f"{index + 1} "
    speaker = number + ("output" if is_output else message.role)
    age = min((len(messages) - 1 - index) // _FRESH, len(_RESULTS) - 1)
    # Ordered by frequency and without patterns: this runs for every part that is folded.
    for part in message.parts:
        if isinstance(part, ToolResult):
            name = _named(part.name or names.get(part.call_id, "tool"))
            label = f"{number}result of {name}{', failed' * part.is_error}"
            media = [f"({each.kind})" for each in part.content if isinstance(each, Media)]
            after = "\n".join(media) or "(empty)" * (not part.text)
            yield Piece(label, part.text, _RESULTS[age], after)
        elif isinstance(part, ToolCall):
            label = f"{number}assistant calls {_named(part.name)}"
            yield Piece(label, part.arguments, _ARGUMENTS[age])
        elif isinstance(part, Text):
            yield Piece(speaker, part.text, _RESULTS[age] if is_output else None)
        elif isinstance(part, Media):
            yield Piece(speaker, f"({part.kind})")
        elif isinstance(part, Opaque):
            yield Piece(speaker, part.readable)


@lru_cache(maxsize=1024)
def _named(name: str) -> str:
    return flat(name, 80).replace("]", "")


def shortened(
    texts: Sequence[tuple[str, Sizes | None]],
    redact: Callable[[str], str],
    mark: str = "\n[{:,} characters left out]\n",
) -> list[str]:
    """Return texts redacted, then cut in the middle: a secret is known by its surroundings.

    Each that is longer than its size keeps a front and a back, with the mark in between.
    """
    parts: list[str] = []
    for text, sizes in texts:
        if sizes is None or len(text) <= _read_whole(sizes):
            parts.append(text)
        else:
            _, front, back = sizes
            parts += (text[: front + _MARGIN], text[-back - _MARGIN :])[: 1 + (back > 0)]
    masked = iter(redact_all(parts, redact))
    found: list[str] = []
    for text, sizes in texts:
        ahead = next(masked)
        if sizes is None or len(text) <= sizes[0]:
            found.append(ahead)
            continue
        _, front, back = sizes
        # What a mask made shorter must not bring the end of a margin to light.
        unread = _MARGIN if len(text) > _read_whole(sizes) else 0
        start = ahead[: max(min(front, len(ahead) - unread), 0)]
        behind = next(masked) if unread and back else ahead
        end = behind[max(len(behind) - back, unread or front) :]
        left_out = max(len(text) - len(start) - len(end), 0)
        found.append(f"{start}{mark.format(left_out)}{end}" if back else start)
    return found


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
    """Return what users said, oldest first; `opens` says that the conversation begins here."""
    answered = (at for at, each in enumerate(messages) if each.role is Role.ASSISTANT)
    first = next(answered, len(messages)) if opens else 0
    # Hardly one message in twenty is a user's: the role is asked before anything is called.
    said = (
        said_at(messages, at, opens=at < first)
        for at, message in enumerate(messages)
        if message.role is Role.USER
    )
    return tuple(filter(None, said))


def derive_focus(messages: Sequence[Message], redact: Callable[[str], str]) -> str:
    """Return a topic from the newest user turn that names one, in the user's own words.

    "Yes" and "go on" name none: what is said in so few words concerns what was asked before.
    """
    said = (said_at(messages, index) for index in reversed(range(len(messages))))
    # Bytes rather than characters: forty characters of Chinese are a whole request.
    telling = (words for words in said if len(words.encode("utf-8", "surrogatepass")) >= _ENOUGH)
    return flat(next(telling, ""), _WIDTH, redact)


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

    @cache
    def weigh(digits: int, label: str) -> int:
        # Labels that differ in the number of their turn alone weigh the same.
        return count(f"[{mark} {10 ** (digits - 1)} {label}]\n")

    for group in groups:
        texts = [f"[{mark} {label}]\n{text}" for label, text, *_ in group]
        labels = (each.label.partition(" ") for each in group)
        weights = [
            weigh(len(number), label) + count(each.text) + 2
            for each, (number, _, label) in zip(group, labels, strict=True)
        ]
        weight = sum(weights)
        if weight <= room:
            yield texts, weight
            continue
        for (label, words, *_), text, weight in zip(group, texts, weights, strict=True):
            if weight <= room:
                yield [text], weight
                continue
            free = room - count(f"[{mark} {label}, part 999999]\n") - 4
            for number, piece in enumerate(_slices(words, free, count), 1):
                part = f"[{mark} {label}, part {number}]\n{piece}"
                yield [part], count(part) + 2


def _slices(text: str, tokens: int, count: Callable[[str], int]) -> Iterator[str]:
    """Yield consecutive slices of at most `tokens` tokens, or one character each at worst."""
    start, length = 0, max(tokens * 2, 1)
    while start < len(text):
        piece = text[start : start + length]
        while len(piece) > 1 and (weight := count(piece)) > tokens:
            length = max(min(len(piece) - 1, int(len(piece) * tokens / weight * 0.95)), 1)
            piece = text[start : start + length]
        end = len(piece)
        if start + end < len(text):
            # After a line or a word, if one ends in the second half.
            ends = (piece.rfind(separator) + 1 for separator in "\n ")
            end = next((each for each in ends if each > end // 2 + 1), end)
        yield piece[:end]
        start += end
        # Dense text made the slices short; lighter text after it may fill them again.
        length = min(length * 2, max(tokens * 8, 1))
