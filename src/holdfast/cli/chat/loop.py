"""The chat: read what the user says, let the agent answer, and never lose a word of it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.cli.chat.commands import run
from holdfast.cli.chat.flow import Flow
from holdfast.cli.chat.playing import play
from holdfast.cli.chat.room import Leave
from holdfast.cli.chat.showing import readable
from holdfast.cli.chat.words import memory_line, model_line
from holdfast.cli.lines import Line, Span
from holdfast.errors import HoldfastError
from holdfast.transcript import is_user_word
from holdfast.views.words import counted

if TYPE_CHECKING:
    from holdfast.cli.chat.reader import Reader
    from holdfast.cli.chat.room import Room

__all__ = ["converse", "farewell", "greeting"]

_ESCAPE = "//"
"""Begins a message that itself begins with a slash."""
_ECHOED, _FRONT = 6, 4
"""Lines of a message that are shown of what was read, and how many of them from its front."""
_TYPED = "What you typed is in the history: press the up arrow."


def converse(room: Room, reader: Reader) -> tuple[int, int]:
    """Talk until there is nothing more to read; returns how many turns there were, and failed."""
    turns = failed = 0
    while True:
        try:
            words = reader.read()
            if words is None:
                return turns, failed
            turns += 1
            failed += not _heard(room, reader, words.strip())
        except Leave:
            return turns, failed
        except KeyboardInterrupt:
            room.show([(Span("(Ctrl-D or /quit leaves)", "dim"),)])


def _heard(room: Room, reader: Reader, words: str) -> bool:
    """Take in one message or command; says whether it went well."""
    if not words:
        return True
    if reader.echoes:
        room.show(_echoed(words))
    try:
        went_well = _carried_out(room, words)
        if reader.echoes:
            room.show([room.status(), ()])
    except (HoldfastError, OSError) as error:
        room.show([(Span(str(error), "bold red"),)])
        if not reader.echoes and not words.startswith("/"):
            room.show([(Span(_TYPED, "dim"),)])
        return False
    return went_well


def _echoed(words: str) -> list[Line]:
    """Return what was read, as if it had been typed; of a long list its ends are enough."""
    lines = readable(words).splitlines()
    shown = [(Span("> ", "bold"), Span(line)) for line in lines]
    if len(lines) <= _ECHOED:
        return shown
    more = (Span("> ", "bold"), Span(f"... {len(lines) - _ECHOED:,} more lines", "dim"))
    return [*shown[:_FRONT], more, *shown[_FRONT - _ECHOED :]]


def _carried_out(room: Room, words: str) -> bool:
    if words.startswith("/") and not words.startswith(_ESCAPE):
        return run(room, words)
    said = words.removeprefix("/") if words.startswith(_ESCAPE) else words
    return play(room, room.agent.turn(said))


def greeting(room: Room) -> list[Line]:
    """Return what is said when a chat begins."""
    now = room.chat.status()
    lines: list[Line] = [
        (Span("holdfast chat", "bold"), Span(f" with {model_line(room.chats)}")),
        (Span(f"{room.chats.ledger.line} {memory_line(room.chats)}", "dim"),),
    ]
    if room.reader is not None and not room.reader.echoes:
        lines.append((Span("/help lists the commands, Ctrl-D leaves.", "dim"),))
    if now.messages > 1:
        title, size = now.title or now.session, counted(now.messages, "message")
        lines.append((Span(f"Going on with: {title} ({size} in the window).", "cyan"),))
        lines += _said_last(room)
    return lines


def farewell(room: Room) -> list[Line]:
    """Return what is said when a chat ends, and drop a conversation that was none."""
    if room.chats.forget_if_unused(room.chat):
        return []
    room.chats.ended(room.chat)
    return [(Span(f"holdfast chat --resume {room.chat.id} goes on with this.", "dim"),)]


def _said_last(room: Room) -> list[Line]:
    """Return the last thing the user said with what came of it, as far as it is in the window."""
    entries = room.chats.store.window(room.chat.id).entries
    places = [place for place, each in enumerate(entries) if is_user_word(each.message)]
    shown: list[Line] = []
    for entry in entries[places[-1] :] if places else ():
        mark = "> " if is_user_word(entry.message) else ""
        flow = Flow(room.view.width)
        text = flow.push(f"{mark}{readable(entry.message.text).strip()}") + flow.finish()
        shown += [(Span(line, "dim"),) for line in text.splitlines() if text.strip()]
    return shown
