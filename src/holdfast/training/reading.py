"""Reads a stored session as messages, and decides what becomes of those that nobody said.

Compactions write summaries, stubs and notes, and shorten what was said. The log has everything as
it was, so that leaving synthetic text out need not leave a hole where it stood for one message.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from itertools import zip_longest
from typing import TYPE_CHECKING, assert_never

from msgspec.structs import replace

from holdfast.errors import UnknownSession
from holdfast.formats.json_access import is_object
from holdfast.session import Cause, Kind, line_to
from holdfast.session.lineage_reader import read_segment, segments_to, window_entries
from holdfast.transcript import Recalled, Role, Summary, Synthetic, ToolResult
from holdfast.wire.provenance import LABEL, label_of, labelled

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.ports import Store
    from holdfast.session import Entry, View
    from holdfast.session.lineage_reader import LogSegment
    from holdfast.transcript import Message, Transcript

_ENTRY = "training:entry"
"""Where a message keeps the id of its entry in the log; no dialect writes it."""
_LASTING = frozenset({"synthetic", "partial", "origin", "method", "model"})
"""What of a label is about the message itself and not about the file that it stood in."""


class SyntheticChoice(StrEnum):
    """What is done with messages that nobody said."""

    DROP = "drop"
    MASK = "mask"
    KEEP = "keep"


@dataclass(frozen=True, slots=True)
class Conversing:
    """The messages of a session in order, and how much was left out because nobody said it."""

    messages: tuple[Message, ...]
    dropped: int = 0


def entry_of(message: Message) -> int | None:
    """Return the id of the entry that a message is, or stands for."""
    found = message.extras.get(_ENTRY)
    return found if isinstance(found, int) else None


def read_window(store: Store, id_: str, choice: SyntheticChoice) -> Conversing:
    """Read what the model sees now."""
    return _chosen(store, window_entries(store, id_), choice)


def read_log(store: Store, id_: str, choice: SyntheticChoice) -> Conversing:
    """Read everything that was said, whole and back to the beginning of the conversation.

    Turns that the user took back are not part of it. Nothing of it is a compaction's of ours, but
    agents that sessions were imported from tell their summaries in the log.
    """
    way = segments_to(store, id_)
    gone = {place for segment in way for place in _taken_back(store, segment)}
    said = (
        replace(entry, message=store.whole(entry.id), shortened=False) if entry.shortened else entry
        for segment in way
        for entry in read_segment(store, segment)
        if entry.kind is Kind.SAID and (entry.session, entry.position) not in gone
    )
    return _chosen(store, said, choice)


def labelled_entries(store: Store, entries: Iterable[Entry]) -> Transcript:
    """Return the messages of entries as they are, those that nobody said with a label."""
    authors = _Authors(store)
    return tuple(map(authors.labelled, entries))


def _chosen(store: Store, entries: Iterator[Entry], choice: SyntheticChoice) -> Conversing:
    messages: list[Message] = []
    dropped = 0
    authors = _Authors(store)
    for entry in entries:
        match choice:
            case SyntheticChoice.DROP:
                message = _as_said(store, entry)
                dropped += message is None or _width(entry.message) < len(entry.message.parts)
            case SyntheticChoice.MASK | SyntheticChoice.KEEP:
                message = authors.labelled(entry)
            case _:
                assert_never(choice)
        if message is not None:
            kept = {LABEL: label} if (label := label_of(message)) else {}
            frame = {"summary": found} if (found := message.extras.get("summary")) else {}
            known = {**kept, **frame, _ENTRY: entry.stands_for or entry.id}
            messages.append(replace(message, extras=known))
    return Conversing(tuple(messages), dropped)


def _as_said(store: Store, entry: Entry) -> Message | None:
    """Return what somebody said of an entry, unshortened; None where nobody said any of it."""
    if entry.message.synthetic is not None:
        return None
    message = _restored(store, entry)
    parts = tuple(part for part in message.parts if not isinstance(part, Summary | Recalled))
    if message.parts and not parts:
        return None
    return _with_label(replace(message, parts=parts), **_still_true(message))


def _restored(store: Store, entry: Entry) -> Message:
    """Return the message that a shortened one stands for; itself where that is not to be had."""
    message = store.whole(entry.id) if entry.shortened else entry.message
    if entry.stands_for is None:
        return message
    try:
        original = store.whole(entry.stands_for)
    except UnknownSession:
        # The session that it was said in has been deleted.
        return _with_label(message, synthetic="stub")
    match message.role:
        case Role.SYSTEM:
            return original
        case Role.TOOL:
            # A compaction may have taken the results of one message apart.
            ids = {result.call_id for result in message.results}
            parts = tuple(
                part
                for part in original.parts
                if not isinstance(part, ToolResult) or part.call_id in ids
            )
            return replace(original, parts=parts)
        case Role.ASSISTANT:
            same = [call.id for call in original.calls] == [call.id for call in message.calls]
            return original if same else message
        case Role.USER:
            # Neighbors were joined where there are more parts than in the one it is known by.
            return original if _width(original) == _width(message) else message
        case _:
            assert_never(message.role)


def _with_label(message: Message, **fields: object) -> Message:
    """Return the message with this label in place of the one it has."""
    rest = {key: value for key, value in message.extras.items() if key != LABEL}
    return labelled(replace(message, extras=rest), **fields)


def _still_true(message: Message) -> dict[str, object]:
    """Return what an earlier export said of a message that was imported from it."""
    return {key: value for key, value in label_of(message).items() if key in _LASTING}


def _width(message: Message) -> int:
    """Return how many parts of a message are not synthetic."""
    return sum(not isinstance(part, Summary | Recalled) for part in message.parts)


class _Authors:
    """Labels what is synthetic, with who wrote it as far as the store knows."""

    def __init__(self, store: Store) -> None:
        self._store = store
        self._methods: dict[str, dict[str, dict[str, object]]] = {}
        """What is known of each summary, by its words and by the session it was written in."""

    def labelled(self, entry: Entry) -> Message:
        message, reason = entry.message, entry.synthetic
        if reason is None:
            return _with_label(message, **_still_true(message))
        has_words = message.synthetic is None and _width(message) > 0
        known = _still_true(message)
        if (summary := message.summary) is not None:
            written = self._methods_of(entry.session).get(summary.text, {})
            known |= {**written, "origin": summary.origin}
        known["synthetic"] = str(reason)
        known["partial"] = has_words and reason is not Synthetic.STUB
        return _with_label(message, **known)

    def _methods_of(self, id_: str) -> dict[str, dict[str, object]]:
        if id_ not in self._methods:
            try:
                records = self._store.compactions(id_)
            except UnknownSession:
                records = ()
            self._methods[id_] = {
                record.summary: {"method": told.get("origin"), "model": told.get("model")}
                for record in records
                if is_object(told := record.report.get("summary"))
            }
        return self._methods[id_]


def _taken_back(store: Store, segment: LogSegment) -> Iterator[tuple[str, int]]:
    """Return the places of what the user took back by rewinds that still hold."""
    if segment.left:
        return
    line = line_to(store.views(segment.session), store.head(segment.session).view)
    for at, before in zip_longest(line, line[1:]):
        if at.cause is Cause.REWIND and at.upto <= segment.reach:
            yield from _left_out_by(store, at, before)


def _left_out_by(store: Store, rewind: View, before: View | None) -> Iterator[tuple[str, int]]:
    shown = {
        place for span in rewind.spans for place in _places(span.session, span.first, span.last)
    }
    spans = before.spans if before is not None else ()
    first = before.upto + 1 if before is not None else 1
    for span in spans:
        for place in _places(span.session, span.first, span.last):
            if place not in shown:
                # It, and what it stood for in the window.
                yield place
                session, position = place
                for entry in store.entries(session, position, position):
                    if entry.stands_for is not None:
                        original = store.entry(entry.stands_for)
                        yield original.session, original.position
    for place in _places(rewind.session, first, rewind.upto):
        if place not in shown:
            yield place


def _places(session: str, first: int, last: int) -> Iterator[tuple[str, int]]:
    return ((session, position) for position in range(first, last + 1))
