"""Stored sessions as the session files of other agents, which those can go on with."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.cli.lines import counted
from holdfast.formats.catalog import SESSIONS
from holdfast.formats.documents.events import window_events
from holdfast.formats.events import About, StrandStarted
from holdfast.session import Fork, children_of, path_to
from holdfast.transfer import export_session

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.transcript import Transcript

__all__ = [
    "AGENT_FORMATS",
    "Company",
    "Relative",
    "company_of",
    "log_pieces",
    "window_pieces",
]

_WRITERS = {each.format.name: each.write for each in SESSIONS if each.write is not None}
AGENT_FORMATS: tuple[str, ...] = tuple(_WRITERS)
"""The agents whose files can be written."""
_NOUNS = {
    Fork.BRANCH: ("branch", "branches"),
    Fork.DELEGATION: ("sub-agent", "sub-agents"),
}
_NAMED = 3
"""How many sessions are named that a file has no place for."""
_HELD: dict[str, frozenset[Fork]] = {
    "claude-code": frozenset({Fork.BRANCH, Fork.DELEGATION}),
    "pi": frozenset({Fork.BRANCH}),
    "openclaw": frozenset({Fork.BRANCH}),
}
"""What the file of one session can hold besides it."""


@dataclass(frozen=True, slots=True)
class Company:
    """The sessions that came from one: those that are in its file, and those that cannot be."""

    agent: str
    along: tuple[Relative, ...]
    left_out: tuple[Relative, ...]

    def sentences(self) -> Iterator[str]:
        """Say what went along and what was left out."""
        if self.along:
            yield f"with it: {_summed(self.along)}"
        if self.left_out:
            few = ", ".join(each.session.id for each in self.left_out[:_NAMED])
            more = len(self.left_out) - _NAMED
            named = f"{few} and {more:,} more" if more > 0 else few
            reason = f"a {self.agent} file has no place for them"
            yield f"left out: {_summed(self.left_out)}; {reason}: {named}"

    def as_json(self) -> dict[str, object]:
        """Return the sessions by their ids."""
        return {
            "along": [each.session.id for each in self.along],
            "left_out": [each.session.id for each in self.left_out],
        }


@dataclass(frozen=True, slots=True)
class Relative:
    """A branch or a sub-agent, and how much was said in it."""

    session: Session
    messages: int


def company_of(store: Store, id_: str, name: str) -> Company:
    """Return what came from a session, as far as the file of an agent can hold it."""
    lineage = store.lineage(id_)
    held: list[Relative] = []
    others: list[Relative] = []
    pending = [(each.id, True) for each in _rotations(path_to(lineage, id_))]
    while pending:
        parent, fits = pending.pop()
        for child in children_of(lineage, parent):
            if child.fork not in _NOUNS or child.trashed is not None or child.id == id_:
                continue
            has_place = fits and child.fork in _HELD.get(name, frozenset())
            relative = Relative(child, store.count_said(child.id, child.size))
            (held if has_place else others).append(relative)
            pending.append((child.id, has_place))
    return Company(name, tuple(held), tuple(others))


def log_pieces(store: Store, id_: str, name: str) -> Iterator[str]:
    """Return everything that was said, with compactions, branches and sub-agents, as a file."""
    return _lines(export_session(store, id_, family=True), name)


def window_pieces(store: Store, id_: str, transcript: Transcript, name: str) -> Iterator[str]:
    """Return what the model sees now as a file, without anything that came before."""
    return _lines(window_events(transcript, _about(store, id_)), name)


def _about(store: Store, id_: str) -> About:
    first = next(iter(export_session(store, id_)))
    return first.about if isinstance(first, StrandStarted) else About()


def _lines(events: Iterable[Event], name: str) -> Iterator[str]:
    return (f"{line}\n" for line in _WRITERS[name](events))


def _rotations(path: Sequence[Session]) -> Iterator[Session]:
    """Return a session and those that were compacted into it: they are told as one."""
    for each in reversed(path):
        yield each
        if each.fork is not Fork.COMPRESSION:
            return


def _summed(relatives: Sequence[Relative]) -> str:
    words: list[str] = []
    for fork, (one, several) in _NOUNS.items():
        said = [each.messages for each in relatives if each.session.fork is fork]
        if said:
            noun = one if len(said) == 1 else several
            words.append(f"{len(said):,} {noun} ({counted(sum(said), 'message')})")
    return ", ".join(words)
