"""What a compaction works with besides the transcript."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from holdfast.compaction.live import LiveState
from holdfast.summary import redact_all
from holdfast.transcript.toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from holdfast.tokens import Scale
    from holdfast.transcript import ToolCall, ToolResult, Transcript

__all__ = ["Means"]


@dataclass(frozen=True, slots=True)
class Means:
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

    def mask(self, texts: Sequence[str]) -> Sequence[str]:
        """Return the texts redacted."""
        return redact_all(texts, self.redact)

    def describe(self, call: ToolCall, result: ToolResult | None) -> str:
        """Return one line about a call and how it went, redacted like everything derived."""
        return self.redact(self.toolkit.describe(call, result))
