"""One turn on the screen: drawn as it happens, and stopped when the user says so."""

from __future__ import annotations

from contextlib import closing, suppress
from typing import TYPE_CHECKING

from holdfast.agent.events import Stopped
from holdfast.cli.chat.showing import Showing
from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from holdfast.agent.turn import Turn
    from holdfast.cli.chat.room import Room

__all__ = ["play", "show_news"]

_STOPPED = "[stopped; what was said is kept]"
_AGAIN = "What you said is kept; /retry asks again."


def play(room: Room, turn: Turn) -> bool:
    """Draw a turn until it ends, and say whether there was an answer.

    Ctrl-C ends it and keeps what was said; that counts as an answer, since the user wanted it so.
    """
    showing = Showing(room.view, wraps=room.reader is not None and not room.reader.echoes)
    answered = True
    # Closed whatever happens, also when nobody reads what is shown: it keeps what was said.
    with closing(turn):
        try:
            for event in turn:
                showing.event(event)
                answered = answered and not isinstance(event, Stopped)
        except KeyboardInterrupt:
            turn.close()
            showing.note(_STOPPED, "yellow")
        finally:
            showing.end_line()
    if not answered:
        showing.note(_AGAIN, "dim")
    return answered


def show_news(room: Room) -> None:
    """Draw what happened beside the turns, such as a compaction in the background."""
    showing = Showing(room.view)
    # A store that cannot be read is told of by the status line.
    with suppress(HoldfastError):
        for event in room.agent.news():
            showing.event(event)
