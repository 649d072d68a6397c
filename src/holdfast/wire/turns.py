"""Neighbors of one role as one turn, for providers where speakers alternate."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from holdfast.wire.fields import Wire

__all__ = ["CONTINUES", "NO_CONTENT", "Turn", "grouped"]

CONTINUES = "(conversation continues)"
"""What a user says first where a provider demands that a user does."""
NO_CONTENT = "(no content)"
"""What a message says that would say nothing, where a provider refuses that."""


@dataclass(frozen=True, slots=True)
class Turn:
    """What one speaker says until another one speaks."""

    role: str
    blocks: list[Wire]
    text: str | None
    """The same as one string, where it can be one and stands alone."""
    fields: Wire
    """Fields of the message itself."""


def grouped(turns: Iterable[Turn]) -> list[Turn]:
    """Return the turns with neighbors of one role joined."""
    joined: list[Turn] = []
    for turn in turns:
        last = joined[-1] if joined else None
        if last is not None and last.role == turn.role:
            fields = last.fields | turn.fields
            joined[-1] = Turn(turn.role, last.blocks + turn.blocks, None, fields)
        else:
            joined.append(turn)
    return joined
