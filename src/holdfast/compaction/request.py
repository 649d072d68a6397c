"""What a pass is given besides the transcript: how it is wanted, and what it works with."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from holdfast.compaction.live import LiveState
from holdfast.transcript.toolkit import Toolkit
from holdfast.wire.provenance import unsigned

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.compaction.policy import Policy
    from holdfast.tokens import Scale
    from holdfast.transcript import ToolCall, ToolResult, Transcript
    from holdfast.wire.provenance import Sign


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
    stored: Mapping[str, int] = field(default_factory=dict[str, int])
    """Where tool results are kept whole, as message ids by call id: pointers to them are left."""
    before_folding: Callable[[Transcript], str] | None = None
    """Sees the messages that are about to be folded; what it returns joins the record."""
    recall: tuple[str, ...] = ()
    """Names of the tools by which the model can find again what is folded."""

    @property
    def is_manual(self) -> bool:
        """Say whether a person asked for the pass."""
        return self.force or bool(self.focus)


@dataclass(frozen=True, slots=True)
class PassContext:
    """What a compaction works with besides the transcript."""

    scale: Scale
    redact: Callable[[str], str]
    toolkit: Toolkit = field(default_factory=Toolkit)
    today: str = ""
    summarizer_window: int | None = None
    """What one request to the summarizer may hold; None when there is no summarizer."""
    host: LiveState = field(default_factory=LiveState)
    """What the host reports of the agent's state."""
    focus: str = ""
    stored: Mapping[str, int] = field(default_factory=dict[str, int])
    """Where tool results are kept whole, as message ids by call id."""
    recall: tuple[str, ...] = ()
    """Names of the host's tools that bring back what was folded."""
    before_folding: Callable[[Transcript], str] | None = None
    """Sees the messages that are about to be folded; what it returns joins the record."""
    sign: Sign = unsigned
    """Makes the check by which a summary is known to be ours."""

    def __post_init__(self) -> None:
        """Let the toolkit redact what it cuts."""
        object.__setattr__(self, "toolkit", replace(self.toolkit, redact=self.redact))

    def describe(self, call: ToolCall, result: ToolResult | None) -> str:
        """Return one line about a call and how it went, which is redacted with others like it."""
        return self.toolkit.describe(call, result)
