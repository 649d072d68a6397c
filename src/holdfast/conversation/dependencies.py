"""What a conversation is put together from, and how it behaves."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, TypeAlias

from holdfast.errors import UnknownSession
from holdfast.session import session_id

if TYPE_CHECKING:
    from collections.abc import Mapping

    from holdfast.compaction import CompactionReport
    from holdfast.ports import Clock, Store, WindowEngine
    from holdfast.transcript import Transcript

TOOL_LIMIT = 10_000
"""Tokens that a tool's output may take in the window, unless its name has another limit."""
_DRAWS = 20
"""How often another number is drawn for an id that is taken."""


class Strategy(StrEnum):
    """What a compaction does to the session."""

    IN_PLACE = "in_place"
    """One id for the whole life of a conversation."""
    ROTATION = "rotation"
    """Each compaction ends the session and goes on in a child."""


@dataclass(frozen=True, slots=True)
class Switch:
    """A conversation that goes on under another id, or whose window was turned back."""

    old: str
    new: str
    reason: str
    """How the new session came from the old one: `compression`, `branch`, `reset`, `rollback`; or
    what turned the window of the same session: `rewind`, `undo`, `redo`."""
    rewound: bool = False
    """Whether it is the same session, whose window was turned back or forth."""


Listener: TypeAlias = Callable[[Switch], None]
"""Told of a switch before it is final, and one that raises prevents it; of a window that was turned
back it is told afterwards. It must be quick."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionOptions:
    """How a conversation behaves."""

    source: str = "api"
    model: str = ""
    endpoint: str = ""
    """Where the model is reached; its true window is remembered for model and endpoint."""
    context_length: int | None = None
    """The model's window where somebody said it: a session keeps what it is opened with."""
    agent: str = "holdfast"
    """Who holds a lease, for people who read it."""
    strategy: Strategy = Strategy.IN_PLACE
    automatic: bool = True
    """Whether the window is compacted when it is due, and not only when somebody asks."""
    ahead_of_time: bool = False
    """Whether that happens in the background, between turns."""
    tool_limits: Mapping[str, int] = field(default_factory=dict[str, int])
    """Tokens that a tool's output may take in the window, by the tool's name; `*` for the rest."""
    lease_seconds: float = 60.0
    active: bool = False
    """Whether this is the current session of the process: for its context, its child processes
    and its logs. A server that holds many conversations leaves that alone."""
    recall: tuple[str, ...] = ()
    """Names of the tools by which the model can find again what is folded."""
    merge_roles: bool = False
    """Whether OpenAI messages of one role that follow each other are joined to one."""


@dataclass(frozen=True, slots=True)
class Bill:
    """What a compaction costs, in US dollars."""

    summarizing: float = 0.0
    rewriting: float = 0.0
    """What the next request pays for a prefix that the provider has not cached."""
    break_even: int | None = None
    """With which request after it the compaction has paid for itself; None for never."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dependencies:
    """What a conversation works with."""

    store: Store
    engine: WindowEngine
    another_engine: Callable[[], WindowEngine]
    """Returns an engine that has learned nothing yet, for a session that goes its own way."""
    clock: Clock
    nonce: Callable[[], int]
    """Returns a random number of at least 24 bits, for ids and leases."""
    redact: Callable[[str], str]
    owns_store: bool = False
    """Whether closing the conversation closes the store."""
    options: SessionOptions = field(default_factory=SessionOptions)
    listeners: tuple[Listener, ...] = ()
    before_folding: Callable[[Transcript], str] | None = None
    """Sees what is about to be folded; what it returns joins the record. It must not raise."""
    bill: Callable[[CompactionReport], Bill | None] | None = None
    """Prices a compaction, where prices are known. It must not raise."""

    def for_fork(self) -> Dependencies:
        """Return the same with an engine of their own; the store stays the first one's."""
        engine = self.another_engine()
        window = self.engine.policy.context_length
        if engine.policy.context_length != window:
            # Another model, or an error that stated the true window.
            engine.update_model(window)
        return replace(self, engine=engine, owns_store=False)

    def unused_id(self) -> str:
        """Return the id of a session that is to be created now.

        Where thousands begin in one second, some draw the same number.
        """
        from datetime import UTC, datetime

        stamp = datetime.fromtimestamp(self.clock.moment() // 1000, UTC).strftime("%Y%m%d_%H%M%S")
        drawn = session_id(stamp, self.nonce())
        for _ in range(_DRAWS):
            try:
                self.store.session(drawn)
            except UnknownSession:
                break
            drawn = session_id(stamp, self.nonce())
        return drawn

    def tool_limit(self, name: str) -> int:
        """Return the tokens that a tool's output may take in the window."""
        limits = self.options.tool_limits
        return limits.get(name, limits.get("*", TOOL_LIMIT))
