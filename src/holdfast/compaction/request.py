"""How one pass is wanted."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping

    from holdfast.compaction.policy import Policy
    from holdfast.transcript import Transcript

__all__ = ["Request"]


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
