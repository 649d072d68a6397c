"""What an engine is built from, what it is asked, and the little that outlives a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.compaction import Preflight, Pressure, Progress
from holdfast.redaction import Redactor
from holdfast.tokens import Calibration, Counter, Estimator
from holdfast.transcript.toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.compaction import Policy
    from holdfast.engines.chain import Chain
    from holdfast.ports import Clock
    from holdfast.summary import Ask

__all__ = ["Gauges", "Request", "Setup"]


@dataclass(frozen=True, slots=True, kw_only=True)
class Setup:
    """What an engine is built from; fixed for its life."""

    clock: Clock
    chain: Chain | None = None
    """Who writes summaries; None for the deterministic record."""
    counter: Counter = field(default_factory=Estimator)
    redactor: Redactor = field(default_factory=Redactor)
    toolkit: Toolkit = field(default_factory=Toolkit)
    on_ask: Callable[[Ask], None] | None = None
    """Told of each ask before it is answered; it says which of how many steps it is."""


@dataclass(frozen=True, slots=True)
class Gauges:
    """What outlives a call."""

    calibration: Calibration = field(default_factory=Calibration)
    preflight: Preflight = field(default_factory=Preflight)
    pressure: Pressure = field(default_factory=Pressure)
    progress: Progress = field(default_factory=Progress)
    rough: int = 0
    """The estimate of the newest request, which the next report of usage is compared with."""


@dataclass(frozen=True, slots=True)
class Request:
    """How one pass is wanted."""

    current_tokens: int | None = None
    """The real size of the transcript, if the provider has just reported it."""
    focus: str = ""
    """The topic that deserves most of the record."""
    force: bool = False
    """Ignore cooldown and anti-thrashing, and compact even what fits the tail."""
    policy: Policy | None = None
    """The knobs of this pass alone, where they are not the engine's own."""

    @property
    def is_manual(self) -> bool:
        """Say whether a person asked for the pass."""
        return self.force or bool(self.focus)
