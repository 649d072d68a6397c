"""Slash commands that move the chat: to another conversation, another model, a file."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.cli.chat.room import model_line
from holdfast.cli.chat.turns import play
from holdfast.cli.files import write_output
from holdfast.cli.flags import now_ms
from holdfast.cli.lines import Styled, table
from holdfast.cli.screen import Unusable
from holdfast.compaction.report import feedback
from holdfast.ports.store import Listing
from holdfast.session import EndReason, Fork
from holdfast.views.export import everything_said
from holdfast.views.markdown import as_markdown
from holdfast.views.sessions import find_session
from holdfast.views.words import ago, clean, counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.chat.room import ChatRoom
    from holdfast.cli.lines import Line
    from holdfast.ports import Store
    from holdfast.session import Session

__all__ = [
    "aside",
    "begin_anew",
    "branch",
    "chosen",
    "export",
    "listed",
    "model",
    "recent",
    "resume",
]

_WHICH = "which one (number, part of the title or id; empty for none)? "
_MOST_LISTED = 15
_LOOKED_AT = 200
_BESIDE = (Fork.DELEGATION, Fork.REVIEW)
"""Forks in which no conversation goes on."""


def begin_anew(room: ChatRoom, _: str) -> list[Line]:
    """Begin with an empty window."""
    left = room.chat.id
    room.move(room.chats.begin_anew(room.chat))
    return plain_line(f"a new conversation; /resume {left} goes back")


def branch(room: ChatRoom, title: str) -> list[Line]:
    """Go another way from here; the conversation as it is stays."""
    left = room.chat.id
    room.move(room.chat.branch(title=title, keep_parent=True))
    return plain_line(f"on a branch: {room.chat.title}; /resume {left} goes back")


def resume(room: ChatRoom, name: str) -> list[Line]:
    """Go on with another conversation, which is picked from a list where none is named."""
    store = room.chats.store
    rows = recent(store)
    if not name and rows:
        room.show(listed(rows, room.view.width, now_ms()))
        name = room.ask(_WHICH).strip()
    session = chosen(store, rows, name)
    if session is None:
        return plain_line("the conversation stays as it is")
    room.move(room.chats.open(session.id))
    now = room.chat.status()
    return plain_line(f"on with: {now.title or now.session} ({counted(now.messages, 'message')})")


def list_sessions(room: ChatRoom, _: str) -> list[Line]:
    """List the conversations used last."""
    return listed(recent(room.chats.store), room.view.width, now_ms())


def aside(room: ChatRoom, question: str) -> list[Line]:
    """Ask in a copy of the window that is not gone on with."""
    if not question:
        return plain_line("ask something: /aside QUESTION")
    play(room, room.chats.aside(room.chat, question))
    return [(Styled("(beside the conversation, which goes on without it)", "dim"),)]


def model(room: ChatRoom, name: str) -> list[Line]:
    """Show the model, or switch to another; a window too large for it is folded first."""
    if not name:
        return plain_line(model_line(room.chats))
    name, *window = name.split()
    if len(window) > 1 or not all(each.isdecimal() for each in window):
        return plain_line("write /model NAME, or /model NAME TOKENS for the size of its window")
    report = room.chats.switch(room.chat, name, int(window[0]) if window else None)
    room.move(room.chat)
    folded = [(Styled(each),) for each in feedback(report)] if report is not None else []
    return [*folded, *plain_line(model_line(room.chats))]


def export(room: ChatRoom, file: str) -> list[Line]:
    """Write everything that was said as Markdown."""
    session = room.chat.session
    target = Path(file or f"{session.id}.md").expanduser()
    messages = everything_said(room.chats.store, session.id)
    write_output(str(target), as_markdown(session, messages).encode("utf-8", "replace"))
    return plain_line(f"wrote {counted(len(messages), 'message')} to {target}")


@dataclass(frozen=True, slots=True)
class ResumeChoice:
    """A conversation that may be gone on with."""

    session: Session
    size: int
    """How many messages its window has."""


def recent(store: Store, limit: int = _MOST_LISTED) -> tuple[ResumeChoice, ...]:
    """Return the conversations used last; those with nothing but a prompt are left out.

    Branches are conversations of their own here, unlike in `holdfast sessions list`: somebody who
    went another way may want either.
    """
    found: list[ResumeChoice] = []
    for session in store.sessions(Listing(limit=_LOOKED_AT)):
        if session.fork in _BESIDE or session.end_reason is EndReason.COMPRESSION:
            continue
        size = len(store.window(session.id).entries)
        if size > 1:
            found.append(ResumeChoice(session, size))
        if len(found) == limit:
            break
    return tuple(found)


def listed(rows: Sequence[ResumeChoice], width: int, now: int) -> list[Line]:
    """Return the conversations as numbered lines."""
    if not rows:
        return [(Styled("there are no conversations yet", "yellow"),)]
    cells = [["", "used", "window", "title"]]
    for number, row in enumerate(rows, 1):
        session = row.session
        used, size = ago(session.touched, now), counted(row.size, "message")
        cells.append([str(number), used, size, clean(session.title) or session.id])
    return table(cells, width, right=frozenset({0}))


def chosen(store: Store, rows: Sequence[ResumeChoice], answer: str) -> Session | None:
    """Return the conversation that an answer means, by number, title or id; None for none.

    Raises:
        Unusable: when the answer means no conversation, or several.
    """
    answer = answer.strip()
    if not answer:
        return None
    if answer.isdecimal() and 1 <= int(answer) <= len(rows):
        return rows[int(answer) - 1].session
    words = answer.casefold()
    titled = [row.session for row in rows if words in row.session.title.casefold()]
    if len(titled) == 1:
        return titled[0]
    if titled:
        raise Unusable(f"{len(titled)} conversations have {answer!r} in their title")
    return find_session(store, answer)


def plain_line(words: str) -> list[Line]:
    """Return words as a line without a style."""
    return [(Styled(words),)]
