"""Commands that move the chat: to another conversation, another model, a file."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.chat.picker import chosen, listed, recent
from holdfast.cli.chat.playing import play
from holdfast.cli.chat.words import model_line
from holdfast.cli.files import write_output
from holdfast.cli.lines import Line, Span, counted
from holdfast.cli.sessions_markdown import as_markdown
from holdfast.cli.times import now_ms
from holdfast.compaction.report import feedback
from holdfast.session.lineage_reader import said_until

if TYPE_CHECKING:
    from holdfast.cli.chat.room import Room

__all__ = [
    "aside",
    "begin_anew",
    "branch",
    "export",
    "model",
    "resume",
    "sessions",
]

_WHICH = "which one (number, part of the title or id; empty for none)? "


def begin_anew(room: Room, _: str) -> list[Line]:
    """Begin with an empty window."""
    left = room.chat.id
    room.move(room.chats.begin_anew(room.chat))
    return _plain(f"a new conversation; /resume {left} goes back")


def branch(room: Room, title: str) -> list[Line]:
    """Go another way from here; the conversation as it is stays."""
    left = room.chat.id
    room.move(room.chat.branch(title=title, keep_parent=True))
    return _plain(f"on a branch: {room.chat.title}; /resume {left} goes back")


def resume(room: Room, name: str) -> list[Line]:
    """Go on with another conversation, which is picked from a list where none is named."""
    store = room.chats.store
    rows = recent(store)
    if not name and rows:
        room.show(listed(rows, room.view.width, now_ms()))
        name = room.ask(_WHICH).strip()
    session = chosen(store, rows, name)
    if session is None:
        return _plain("the conversation stays as it is")
    room.move(room.chats.open(session.id))
    now = room.chat.status()
    return _plain(f"on with: {now.title or now.session} ({counted(now.messages, 'message')})")


def sessions(room: Room, _: str) -> list[Line]:
    """List the conversations used last."""
    return listed(recent(room.chats.store), room.view.width, now_ms())


def aside(room: Room, question: str) -> list[Line]:
    """Ask in a copy of the window that is not gone on with."""
    if not question:
        return _plain("ask something: /aside QUESTION")
    play(room, room.chats.aside(room.chat, question))
    return [(Span("(beside the conversation, which goes on without it)", "dim"),)]


def model(room: Room, name: str) -> list[Line]:
    """Show the model, or switch to another; a window too large for it is folded first."""
    if not name:
        return _plain(model_line(room.chats))
    name, *window = name.split()
    if len(window) > 1 or not all(each.isdecimal() for each in window):
        return _plain("write /model NAME, or /model NAME TOKENS for the size of its window")
    report = room.chats.switch(room.chat, name, int(window[0]) if window else None)
    room.move(room.chat)
    folded = [(Span(each),) for each in feedback(report)] if report is not None else []
    return [*folded, *_plain(model_line(room.chats))]


def export(room: Room, file: str) -> list[Line]:
    """Write everything that was said as Markdown."""
    session = room.chat.session
    target = Path(file or f"{session.id}.md").expanduser()
    said = said_until(room.chats.store, session.id)
    messages = tuple(
        room.chats.store.whole(entry.id) if entry.shortened else entry.message for entry in said
    )
    write_output(str(target), as_markdown(session, messages).encode("utf-8", "replace"))
    return _plain(f"wrote {counted(len(messages), 'message')} to {target}")


def _plain(words: str) -> list[Line]:
    return [(Span(words),)]
