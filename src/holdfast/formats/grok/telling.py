"""Tells one session of Grok out of its two files: what the model sees, and what the screen showed.

The first is told. The second adds when something was said, pictures that only the screen had and
tools that failed; and it is the only one that still has what was said before a compaction, or was
taken back. Where neither happened, nothing else is told of it.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import Folded, Native, Rewound, Told
from holdfast.formats.document import Problem
from holdfast.formats.figures import whole
from holdfast.formats.grok.display import Back, Checkpoint, Display, Shown
from holdfast.formats.grok.items import ANSWERS, item_message
from holdfast.formats.keys import Keys
from holdfast.formats.loose import mapping, mappings, string
from holdfast.formats.source import Record
from holdfast.transcript import Media, Message, Role, Thinking, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.grok.display import Step

__all__ = ["Pages", "tell_pages"]

_MORE = ("prompt_index", "synthetic_reason")
_KEPT = -1
"""The turn of what no way back takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Pages:
    """The files of one session."""

    strand: str
    chat: Sequence[Record]
    """What the model sees, one item a line."""
    display: Display
    kept: Mapping[str, Record] = field(default_factory=dict[str, Record])
    """What compactions left, each by its name."""


def tell_pages(pages: Pages) -> Iterator[Event]:
    """Tell a session that has begun."""
    desk = _Desk(pages)
    steps = pages.display.steps
    dead = _dead(steps)
    last = max((n for n, step in enumerate(steps) if isinstance(step, Checkpoint)), default=-1)
    changed = last >= 0 or any(isinstance(step, Back) for step in steps)
    for place, step in enumerate(steps) if changed or not pages.chat else ():
        is_newest = place == last and bool(pages.chat)
        match step:
            case Checkpoint():
                yield from desk.fold(step, is_newest=is_newest)
            case Back():
                yield from desk.back(step)
            case Shown() if place < last or place in dead or not pages.chat:
                yield from desk.show(step)
            case Shown():
                yield from desk.reach(step)
    yield from desk.finish()


def _dead(steps: Sequence[Step]) -> set[int]:
    """Return the places of what was taken back."""
    live: list[int] = []
    dead: set[int] = set()
    for place, step in enumerate(steps):
        if isinstance(step, Shown):
            live.append(place)
        elif isinstance(step, Back):
            gone = {n for n in live if _turn(steps[n]) >= step.turn}
            dead |= gone
            live = [n for n in live if n not in gone]
    return dead


def _turn(step: Step) -> int:
    return step.turn if isinstance(step, Shown) else -1


class _Desk:
    """Tells a session piece by piece, and knows what its model sees."""

    def __init__(self, pages: Pages) -> None:
        self._pages = pages
        self._keys = Keys()
        self._next = 0
        """The first line of what the model sees that was not told yet."""
        self._reply = ""
        self._window: list[tuple[int, str]] = []
        """What the model sees, each with the turn that it belongs to."""
        self._hints = _Hints(pages.display)

    def show(self, step: Shown) -> Iterator[Event]:
        """Tell a message that only the screen still has."""
        self._window.append((step.turn, step.key))
        native = Native(at=step.at)
        yield Told(
            strand=self._pages.strand,
            line=step.line,
            key=step.key,
            message=step.message,
            native=native,
        )

    def reach(self, step: Shown) -> Iterator[Event]:
        """Tell what the model sees up to a prompt and what belongs to it."""
        if step.prompt is not None:
            yield from self._until(step.prompt + 1)

    def back(self, step: Back) -> Iterator[Event]:
        """Take back what was said since a prompt."""
        self._window = [each for each in self._window if each[0] < step.turn]
        shows = tuple(key for _, key in self._window)
        yield Rewound(strand=self._pages.strand, line=step.line, shows=shows, at=step.at)

    def fold(self, step: Checkpoint, *, is_newest: bool) -> Iterator[Event]:
        """Tell what a compaction left: the newest left how the other file begins."""
        self._window = []
        kept = self._pages.kept.get(step.id, Record(step.line, {}))
        items = mappings(mapping(kept.value).get("compacted_history"))
        if not is_newest:
            for item in items:
                key = f"{kept.file}~{self._keys.take('', kept.line)}"
                yield from self._item(Record(kept.line, item, kept.file), key)
        elif items:
            yield from self._lines(min(len(items), len(self._pages.chat)))
        else:
            yield from self._until(step.prompt)
        if self._window:
            yield Folded(
                strand=self._pages.strand,
                line=step.line,
                id=f"{step.id or step.line}/fold",
                shows=tuple(key for _, key in self._window),
                at=step.at,
                tokens_before=step.before,
                tokens_after=step.after,
            )

    def finish(self) -> Iterator[Event]:
        """Tell the rest of what the model sees."""
        yield from self._lines(len(self._pages.chat))

    def _until(self, prompt: int) -> Iterator[Event]:
        chat = self._pages.chat
        numbers = ((n, _number(chat[n])) for n in range(self._next, len(chat)))
        past = (n for n, number in numbers if number is not None and number >= prompt)
        yield from self._lines(next(past, len(chat)))

    def _lines(self, end: int) -> Iterator[Event]:
        for record in self._pages.chat[self._next : end]:
            key = f"{self._pages.strand}{self._keys.take('', record.line)}"
            yield from self._item(record, key)
        self._next = max(self._next, end)

    def _item(self, record: Record, key: str) -> Iterator[Event]:
        entry = mapping(record.value)
        # A thought, an answer and what ran at the provider are one until somebody else speaks.
        self._reply = (self._reply or key) if string(entry.get("type")) in ANSWERS else ""
        message = item_message(entry)
        if isinstance(message, str):
            yield Problem(record.line, message, record.file)
        elif message is not None and message.parts:
            # Whatever the model still sees in the end was never taken back.
            self._window.append((_KEPT, key))
            yield Told(
                strand=self._pages.strand,
                line=record.line,
                key=key,
                message=self._hints.completed(entry, message),
                native=Native(
                    id=string(entry.get("id")),
                    reply=self._reply,
                    model=string(entry.get("model_id")),
                    at=self._hints.time_of(entry, message),
                    more={
                        name: entry[name]
                        for name in _MORE
                        if isinstance(entry.get(name), int | str)
                    },
                ),
            )


def _said(message: Message) -> list[str]:
    """Return names for what an answer says, which the screen may have shown as well."""
    if message.role is not Role.ASSISTANT:
        return []
    thoughts = [part.text for part in message.parts if isinstance(part, Thinking)]
    names = [f"thought {text.strip()}" for text in thoughts]
    return [*names, f"words {message.text.strip()}"] if message.text else names


def _number(record: Record) -> int | None:
    return whole(mapping(record.value).get("prompt_index"))


class _Hints:
    """What the screen knows about messages that the model sees."""

    def __init__(self, display: Display) -> None:
        self._failed = display.failed
        self._prompts: dict[int, Shown] = {}
        self._times: dict[str, int | None] = {}
        """By what was said, or by the call that it is about."""
        for step in display.steps:
            if isinstance(step, Shown):
                self._remember(step)

    def _remember(self, step: Shown) -> None:
        if step.prompt is not None:
            self._prompts[step.prompt] = step
        for call in step.message.calls:
            self._times[f"call {call.id}"] = step.at
        for result in step.message.results:
            self._times[f"result {result.call_id}"] = step.at
        for name in _said(step.message):
            self._times[name] = step.at

    def time_of(self, entry: Mapping[str, object], message: Message) -> int | None:
        """Return when a message was said, where the screen tells."""
        number = whole(entry.get("prompt_index"))
        if number is not None and message.role is Role.USER:
            return self._prompts[number].at if number in self._prompts else None
        names = [f"result {each.call_id}" for each in message.results]
        names += [f"call {each.id}" for each in message.calls]
        names += _said(message)
        return next((self._times[name] for name in names if name in self._times), None)

    def completed(self, entry: Mapping[str, object], message: Message) -> Message:
        """Return a message with what only the screen shows: pictures, and that a tool failed."""
        number = whole(entry.get("prompt_index"))
        shown = None if number is None else self._prompts.get(number)
        if shown is not None and message.role is Role.USER:
            has_pictures = any(isinstance(part, Media) for part in message.parts)
            seen = tuple(part for part in shown.message.parts if isinstance(part, Media))
            return message if has_pictures else replace(message, parts=(*message.parts, *seen))
        if not any(each.call_id in self._failed for each in message.results):
            return message
        parts = tuple(
            replace(part, is_error=True) if isinstance(part, ToolResult) else part
            for part in message.parts
        )
        return replace(message, parts=parts)
