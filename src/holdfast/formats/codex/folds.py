"""Reads compactions of Codex: which messages the model sees afterwards, and which are new.

A compaction names no message. It repeats in full what the model goes on with, and what it repeats
is found again by its words; the oldest ones repeat nothing and keep the prompts. What we write
ourselves names the messages in a note.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.errors import DecodeError
from holdfast.formats.chronicle import MAIN, Folded, Rewound
from holdfast.formats.codex.items import message_of
from holdfast.formats.document import Problem
from holdfast.formats.figures import count
from holdfast.formats.loose import is_array, mapping, mappings, sequence, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import summarized
from holdfast.transcript import Message, Role

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.codex.window import Window
    from holdfast.formats.source import Record

__all__ = ["Fold", "Given", "replacement"]


@dataclass(frozen=True, slots=True)
class Given:
    """A message that first stands in a compaction."""

    message: Message
    id: str = ""


@dataclass(frozen=True, slots=True)
class Fold:
    """A line that changes what the model sees."""

    record: Record
    note: Mapping[str, object]

    @staticmethod
    def of(record: Record) -> Fold:
        """Return the compaction of a line."""
        note = mapping(mapping(record.value).get("holdfast"))
        return Fold(record, mapping(note.get("fold")))

    def event(self, shows: tuple[str, ...]) -> Folded | Rewound:
        """Return the event, from what the model sees after it."""
        entry, note, line = mapping(self.record.value), self.note, self.record.line
        at = moment(entry.get("timestamp"))
        if note.get("rewound") is True:
            return Rewound(strand=MAIN, line=line, shows=shows, at=at)
        window = string(mapping(entry.get("payload")).get("window_id"))
        return Folded(
            strand=MAIN,
            line=line,
            id=string(note.get("id")) or window or f"#{line}",
            shows=shows,
            at=at,
            trigger=string(note.get("trigger")),
            tokens_before=count(note.get("before")) or None,
            tokens_after=count(note.get("after")) or None,
        )


def replacement(
    payload: Mapping[str, object], fold: Fold, heard: Mapping[int, Sequence[str]], window: Window
) -> Iterator[str | Given | Problem]:
    """Return what the model sees after a compaction, in its order.

    Args:
        payload: what Codex wrote.
        fold: the line it stood on.
        heard: the names of messages, by what they say.
        window: what the model saw before.
    """
    items = payload.get("replacement_history")
    said = string(payload.get("message"))
    if "shows" in fold.note:
        yield from _noted(mappings(items), fold)
    elif is_array(items):
        yield from window.instructions
        yield from _found(_read(mappings(items), said, fold), heard)
    elif said.strip():
        yield from window.without_answers()
        yield Given(summarized(said, "codex"))


def _noted(items: Sequence[Mapping[str, object]], fold: Fold) -> Iterator[str | Given | Problem]:
    place = fold.note.get("summary")
    summary = items[place : place + 1] if isinstance(place, int) and place >= 0 else ()
    for key in sequence(fold.note.get("shows")):
        if isinstance(key, str):
            yield key
        else:
            yield from _read(summary, "", fold)


def _read(
    items: Sequence[Mapping[str, object]], said: str, fold: Fold
) -> Sequence[Given | Problem]:
    """Return the messages of a compaction, one of them its summary where it has one in words."""
    found: list[Given | Problem] = []
    for item in items:
        try:
            message = message_of(item)
        except DecodeError as error:
            reason = f"replacement_history: {error.path}: {error.problem}"
            found.append(Problem(fold.record.line, reason, fold.record.file))
            continue
        if message is not None and message.parts:
            found.append(Given(message, string(item.get("id"))))
    given = [each for each in found if isinstance(each, Given)]
    if said.strip() and all(each.message.summary is None for each in given):
        _place_summary(found, said)
    return found


def _place_summary(found: list[Given | Problem], said: str) -> None:
    """Read the last message with the words of the summary as the summary."""
    for place in range(len(found) - 1, -1, -1):
        each = found[place]
        if not isinstance(each, Given) or each.message.role is not Role.USER:
            continue
        if each.message.text.strip().endswith(said.strip()):
            found[place] = replace(each, message=summarized(said, "codex"))
            return
    found.append(Given(summarized(said, "codex")))


def _found(
    given: Sequence[Given | Problem], heard: Mapping[int, Sequence[str]]
) -> Iterator[str | Given | Problem]:
    """Return the names of messages that were told before; of equal ones, the newest."""
    words = [_words(each) for each in given]
    counts = Counter(words)
    known = {each: iter(heard.get(each, ())[-count:]) for each, count in counts.items() if each}
    for each, said in zip(given, words, strict=True):
        yield next(known.get(said, iter(())), each)


def _words(given: Given | Problem) -> int:
    if isinstance(given, Problem) or given.message.role not in (Role.USER, Role.SYSTEM):
        return 0
    return 0 if given.message.summary is not None else hash(given.message.text.strip())
