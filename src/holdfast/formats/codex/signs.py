"""How a file of Codex is told from all others: a rollout by its lines, a stream by its events."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.codex.exec import sign_of
from holdfast.formats.loose import mapping, string
from holdfast.formats.session_reader import LIKELY, Sign

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats.source import Record

__all__ = ["BARE", "recognize"]

BARE = frozenset(["id", "timestamp", "instructions"])
"""What the first line of the oldest rollouts has, whose items stand without an envelope."""
_SURE_LINES = frozenset(["session_meta", "turn_context", "compacted"])
_LINES = _SURE_LINES | {"response_item", "event_msg"}


def recognize(records: Sequence[Record]) -> Sign | None:
    """Say why records are from Codex; None when they are not."""
    likely: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        kind = string(entry.get("type"))
        found: Sign | None = None
        if kind in _LINES and isinstance(entry.get("payload"), dict):
            reason = f"a line of type {kind} with a payload"
            found = Sign(reason) if kind in _SURE_LINES else Sign(reason, LIKELY)
        else:
            found = sign_of(entry)
        if found is not None and found.confidence > LIKELY:
            return found
        likely = likely or found
    first = mapping(records[0].value if records else None)
    if "type" not in first and first.keys() >= BARE:
        return Sign("a line with id, timestamp and instructions before bare items")
    return likely
