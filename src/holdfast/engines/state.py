"""What an engine is built from, and the little that outlives a call."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Protocol

from holdfast.compaction import Flow, Policy, Preflight, Pressure, Progress, compaction
from holdfast.compaction.request import Means
from holdfast.config.summary_key import process_sign
from holdfast.redaction import Redactor
from holdfast.tokens import Calibration, Counter, Estimator
from holdfast.transcript import Transcript
from holdfast.transcript.toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.engines.chain import Chain
    from holdfast.ports import Clock
    from holdfast.summary import Ask
    from holdfast.wire.signing import Sign

__all__ = ["Algorithm", "Gauges", "Setup"]


class Algorithm(Protocol):
    """A pass over a transcript, as a generator that asks for what it needs."""

    def __call__(
        self, transcript: Transcript, policy: Policy, means: Means, *, force: bool = False
    ) -> Flow:
        """Begin the pass."""
        ...


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
    algorithm: Algorithm = compaction
    """What a pass does: the compaction with a record, or the truncation without one."""
    sign: Sign = process_sign
    """Makes the check of our summaries: with a key of this process alone, unless one is given."""


@dataclass(frozen=True, slots=True)
class Gauges:
    """What outlives a call."""

    calibration: Calibration = field(default_factory=Calibration)
    preflight: Preflight = field(default_factory=Preflight)
    pressure: Pressure = field(default_factory=Pressure)
    progress: Progress = field(default_factory=Progress)
    rough: int = 0
    """The estimate of the newest request, which the next report of usage is compared with."""
    noted: int = 0
    """How many notes of the chain are in a report already."""
