"""One kind of load on several servers in turn, and what it came to."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from bench.gateway.clients import Load, Taken

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.gateway.processes import Clients, Serving

DIRECT, PASSTHROUGH, HOLDFAST = "upstream", "passthrough", "holdfast"
"""The servers, by the names of their modules; direct is the upstream itself."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Cell:
    """A load, without its server, that is repeated in turn on each."""

    work: str
    """What is sent, as the tables call it."""
    clients: int = 1
    rate: int = 0
    """Requests a second of all clients together; 0 where a client asks as soon as it can."""
    kind: str = "20 kB"
    dialect: str = "openai"
    model: str = "bench"
    is_streamed: bool = True
    is_new: bool = False
    seconds: float = 0.0
    requests: int = 0
    rounds: int = 1

    @property
    def group(self) -> str:
        """Return which conversations it goes on with: all of one kind and dialect."""
        return f"{self.kind} {self.dialect} {self.model}"

    def load(self, server: Serving) -> Load:
        """Return what the clients are to do with a server, in one round."""
        return Load(
            url=server.url,
            group=f"{server.url} {self.group}",
            clients=self.clients,
            kind=self.kind,
            dialect=self.dialect,
            model=self.model,
            is_streamed=self.is_streamed,
            is_new=self.is_new,
            think=self.clients / self.rate if self.rate else 0.0,
            seconds=self.seconds,
            requests=self.requests,
        )


@dataclass(slots=True)
class Figures:
    """What the clients measured at one server, and the seconds of a core that it used."""

    taken: Taken = field(default_factory=Taken)
    processor: float = 0.0

    @property
    def each(self) -> float:
        """Return the milliseconds of a core for each request."""
        return 1000 * self.processor / len(self.taken.total)

    @property
    def events_a_second(self) -> float:
        """Return how many events of streams arrived in a second."""
        return self.taken.events / self.taken.elapsed

    def first(self, share: float) -> float:
        """Return the milliseconds until the first byte, for this share of the requests."""
        return at(self.taken.first, share)

    def total(self, share: float) -> float:
        """Return the milliseconds until the last byte, for this share of the requests."""
        return at(self.taken.total, share)


def at(values: Sequence[float], share: float) -> float:
    """Return the value that this share of all is not above."""
    return sorted(values)[min(int(len(values) * share), len(values) - 1)]


def taken_in_turn(
    cell: Cell, servers: Sequence[Serving], clients: Clients
) -> Mapping[str, Figures]:
    """Put the load on each server, round by round, so that others on the machine slow all alike."""
    found = {server.name: Figures() for server in servers}
    one = replace(cell, requests=cell.requests // cell.rounds, seconds=cell.seconds / cell.rounds)
    for _ in range(cell.rounds):
        for server in servers:
            figures, before = found[server.name], server.processor()
            figures.taken += clients.drive(one.load(server))
            figures.processor += server.processor() - before
    return found
