"""What users asked for and what became of it: under way, put off, done, dropped.

A reply answers what it follows. What it puts off stays open until a later reply says that it is
done, or a user drops it. What another request interrupted is under way until a reply concludes
both. All of this goes on where an earlier record left off.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Literal

from holdfast.summary.cues import ANSWERS, DEFERS, DONE, DROPS, LEFT, is_question
from holdfast.summary.sentences import clip_words, units
from holdfast.summary.story import narrates
from holdfast.summary.tracing import marks, overlap, stems
from holdfast.summary.wording import words_in

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.summary.record import Record
    from holdfast.summary.turns import Turn
    from holdfast.summary.wording import Wording

__all__ = ["BEGUN", "Asked", "is_concluded", "open_asks"]

BEGUN = "Asked before, not concluded: "
"""How an entry begins that tells an ask which another one interrupted."""
_SHORT_REPLY = 400
_SHOWN = 200
_MOST = 40
"""How many asks are held open at a time, the newest."""
_ALIKE = 0.5
_WHOLLY = 10
"""What it counts when an ask has all that a sentence is about."""


@dataclass(frozen=True, slots=True)
class Asked:
    """An ask that is open, and the section of the record that tells of it."""

    text: str
    section: Literal["in_progress", "pending", "remaining"]
    message: int = -1
    """The message it stands in; -1 where an earlier record told of it."""


def open_asks(turns: Sequence[Turn], before: Record) -> list[Asked]:
    """Return what is open after the turns, oldest first, the newest ask of all included."""
    found: list[Asked] = [
        *(Asked(entry, "remaining") for entry in before.remaining),
        *(Asked(entry, "pending") for entry in before.pending),
        *(
            Asked(entry.removeprefix(BEGUN), "in_progress")
            for entry in before.in_progress
            if entry.startswith(BEGUN)
        ),
    ]
    for turn in turns:
        for unit in (unit for words in turn.asks for unit in units(words)):
            if _has(DROPS, unit):
                is_bare = not stems(DROPS.pattern.sub(" ", unit))
                gone = found[-1:] if is_bare else _named(unit, DROPS, found)
                found = [each for each in found if each not in gone]
        new = [_asked(words, turn.place) for words in turn.asks if marks(words)]
        known = {each.text for each in new}
        found = [each for each in found if each.message >= 0 or each.text not in known]
        found = _replied(turn, [*found, *new])[-_MOST:]
    return found


def _asked(words: str, place: int) -> Asked:
    # Bytes rather than characters: a request in Chinese takes a third of them.
    width = _SHOWN * len(words) // len(words.encode("utf-8", "surrogatepass"))
    return Asked(f'"{clip_words(words, width)}"', "in_progress", place)


def _replied(turn: Turn, found: list[Asked]) -> list[Asked]:
    """Return what is still open after the words that concluded a turn."""
    if turn.reply is None or turn.interrupted:
        return found
    left: list[Asked] = []
    said = units(turn.reply.text)
    for unit in said:
        # What an earlier record left as work is in its words, which are the assistant's own.
        found = [
            each
            for each in found
            if each.section != "remaining" or overlap(each.text, unit) < _ALIKE
        ]
        if _has(LEFT, unit):
            left += _named(unit, LEFT, found)
        elif cue := next((cue for cue in (ANSWERS, DONE) if _has(cue, unit)), None):
            gone = _named(unit, cue, found)
            found = [each for each in found if each not in gone]
    if _puts_off(turn):
        left += [each for each in found if each.message == turn.place]
    elif said and not narrates(said[-1]):
        found = [each for each in found if each.section != "in_progress" or each in left]
    return [replace(each, section="pending") if each in left else each for each in found]


def _named(unit: str, cue: Wording, found: Sequence[Asked]) -> list[Asked]:
    """Return the asks that a sentence is about: those that have most of what tells it apart."""
    told = marks(unit)
    about = stems(cue.pattern.sub(" ", unit.partition(":")[0].partition("\uff1a")[0]))
    about = frozenset(each for each in about if not each.isdecimal())
    scores = [
        len(told & marks(each.text)) + _WHOLLY * bool(about and about <= stems(each.text))
        for each in found
    ]
    best = max(scores, default=0)
    return [each for each, score in zip(found, scores, strict=True) if score == best > 0]


def _has(cue: Wording, text: str) -> bool:
    return cue.stands_in(text, words_in(text))


def is_concluded(turn: Turn) -> bool:
    """Say whether the assistant ended the turn with an answer rather than a question or a plan."""
    if turn.reply is None:
        return False
    said = units(turn.reply.text)
    return (
        bool(said) and not narrates(said[-1]) and not is_question(said[-1]) and not _puts_off(turn)
    )


def _puts_off(turn: Turn) -> bool:
    """Say whether the reply is short and only promises."""
    if turn.reply is None or len(turn.reply.text) > _SHORT_REPLY:
        return False
    return _has(DEFERS, turn.reply.text) and not _has(DONE, turn.reply.text)
