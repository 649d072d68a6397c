"""Commands that shape the conversation itself, or tell how it stands."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.chat.words import costs, memory_line
from holdfast.cli.lines import Line, Span
from holdfast.compaction.report import feedback
from holdfast.transcript import is_user_word
from holdfast.views.words import counted, crop

if TYPE_CHECKING:
    from holdfast.cli.chat.room import Room
    from holdfast.conversation import Status

__all__ = [
    "compress",
    "goal",
    "pin",
    "redo",
    "rewind",
    "status",
    "title",
    "undo",
    "usage",
]

_LABEL = 14
_SHOWN = 60


def compress(room: Room, focus: str) -> list[Line]:
    """Fold the window now, and say what came of it."""
    price = room.chats.forecast(room.chat)
    if price is not None and (price.cost or price.saving):
        room.show([(Span(str(price), "dim"),)])
    first, *rest = feedback(room.chat.compress(focus))
    return [(Span(first, "bold green"),), *((Span(each),) for each in rest)]


def undo(room: Room, _: str) -> list[Line]:
    """Take the newest compaction or rewind back."""
    if not room.chat.undo():
        return _plain("there is nothing to undo")
    return _plain(f"undone: {_size(room)}; /redo brings it back")


def redo(room: Room, _: str) -> list[Line]:
    """Bring back what an undo took away."""
    return _plain(f"redone: {_size(room)}" if room.chat.redo() else "there is nothing to redo")


def rewind(room: Room, turns: str) -> list[Line]:
    """Take the last turns out of the window."""
    if turns and not turns.isdecimal():
        return _plain(f"{turns!r} is no number of turns")
    removed = room.chat.rewind(int(turns or 1))
    if not removed:
        return _plain("nothing was taken out of the window")
    gone = counted(len(removed), "message")
    return _plain(f"{gone} taken out of the window; /undo brings them back")


def pin(room: Room, _: str) -> list[Line]:
    """Pin what the user said last."""
    window = room.chats.store.window(room.chat.id)
    for entry in reversed(window.entries):
        if is_user_word(entry.message):
            room.chat.pin(entry.stands_for or entry.id)
            return _plain(f"pinned: {crop(entry.message.text, _SHOWN)}")
    return _plain("you have not said anything yet")


def goal(room: Room, text: str) -> list[Line]:
    """Show, set or drop the goal."""
    if text:
        room.chat.goal = "" if text == "-" else text
    return _plain(f"goal: {room.chat.goal}" if room.chat.goal else "there is no goal")


def title(room: Room, text: str) -> list[Line]:
    """Show or set the title."""
    if text:
        room.chat.title = text
    return _plain(f"title: {room.chat.title or '(none yet)'}")


def status(room: Room, _: str) -> list[Line]:
    """Tell how the conversation stands."""
    now = room.chat.status()
    lines = [
        _labeled("session", now.session),
        _labeled("title", now.title or "(none yet)"),
        _labeled("goal", now.goal or "(none)"),
        _labeled("model", f"{now.model}, {now.context_length:,} tokens"),
        _labeled("window", f"{counted(now.messages, 'message')}, about {now.tokens:,} tokens"),
        _labeled("folds at", f"{now.threshold:,} tokens ({now.share:.0%} reached)"),
        _labeled("stored", f"{now.stored:,} entries, {counted(now.compactions, 'compaction')}"),
    ]
    lines += [_labeled("memory", memory_line(room.chats).removeprefix("Memory: "))]
    return [*lines, *_warnings(now)]


def usage(room: Room, _: str) -> list[Line]:
    """Tell what was used, what the cache saved and what it cost."""
    used = room.chat.usage
    lines = [
        _labeled("calls", f"{used.calls:,}"),
        _labeled("read", f"{used.prompt_tokens:,} tokens"),
        _labeled("from cache", f"{used.cache_read_tokens:,} tokens"),
        _labeled("cache writes", f"{used.cache_write_tokens:,} tokens"),
        _labeled("answered", f"{used.output_tokens:,} tokens"),
    ]
    lines += [_labeled(label, words) for label, words in costs(room.chats, room.chat)]
    return [*lines, *_warnings(room.chat.status())]


def _warnings(status: Status) -> list[Line]:
    said = filter(None, (*status.troubles, status.pressure))
    return [_labeled("warning", each, "yellow") for each in said]


def _size(room: Room) -> str:
    now = room.chat.status()
    return f"the window has {counted(now.messages, 'message')}, about {now.tokens:,} tokens"


def _plain(words: str) -> list[Line]:
    return [(Span(words),)]


def _labeled(label: str, words: str, style: str = "") -> Line:
    return (Span(f"{label:<{_LABEL}}", "dim"), Span(words, style))
