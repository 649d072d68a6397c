"""Stored sessions as the session files of other agents, which those can go on with."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.exchange import tell_session
from holdfast.formats.chronicle import About, Begun
from holdfast.formats.sessions import SESSIONS
from holdfast.formats.telling import tell_window

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from holdfast.formats.chronicle import Event
    from holdfast.ports import Store
    from holdfast.transcript import Transcript

__all__ = ["AGENT_FORMATS", "log_pieces", "window_pieces"]

_WRITERS = {each.format.name: each.write for each in SESSIONS if each.write is not None}
AGENT_FORMATS: tuple[str, ...] = tuple(_WRITERS)
"""The agents whose files can be written."""


def log_pieces(store: Store, id_: str, name: str) -> Iterator[str]:
    """Return everything that was said, with compactions, branches and sub-agents, as a file."""
    return _lines(tell_session(store, id_, family=True), name)


def window_pieces(store: Store, id_: str, transcript: Transcript, name: str) -> Iterator[str]:
    """Return what the model sees now as a file, without anything that came before."""
    return _lines(tell_window(transcript, _about(store, id_)), name)


def _about(store: Store, id_: str) -> About:
    first = next(iter(tell_session(store, id_)))
    return first.about if isinstance(first, Begun) else About()


def _lines(events: Iterable[Event], name: str) -> Iterator[str]:
    return (f"{line}\n" for line in _WRITERS[name](events))
