"""What the columns must hold for a row to be readable, and what takes the place of damage."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.session import Cause, EndReason, Fork

if TYPE_CHECKING:
    from enum import StrEnum

__all__ = ["SOUND", "TEXTS"]


def _whole(column: str, otherwise: str = "0") -> tuple[str, str]:
    return f"typeof({column}) = 'integer'", otherwise


def _named(column: str, kind: type[StrEnum], otherwise: str = "NULL") -> tuple[str, str]:
    names = ", ".join(f"'{each.value}'" for each in kind)
    absent = f"{column} IS NULL OR " if otherwise == "NULL" else ""
    return f"{absent}{column} IN ({names})", otherwise


SOUND = {
    "sessions": {
        "fork": _named("fork", Fork),
        "end_reason": _named("end_reason", EndReason),
        "metadata": ("json_valid(metadata) AND json_type(metadata) = 'object'", "'{}'"),
        **{
            column: _whole(column)
            for column in (
                "started",
                "touched",
                "size",
                "generation",
                "calls",
                "input_tokens",
                "output_tokens",
                "cache_read_tokens",
                "cache_write_tokens",
            )
        },
        "ended": ("ended IS NULL OR typeof(ended) = 'integer'", "0"),
        "trashed": ("trashed IS NULL OR typeof(trashed) = 'integer'", "0"),
        "cost": ("typeof(cost) IN ('real', 'integer')", "0"),
    },
    "messages": {
        **{column: _whole(column) for column in ("session", "at", "tokens")},
        # Out of the way of positions that are taken, and still there to be looked up.
        "position": _whole("position", "-rowid"),
        "kind": ("kind IN (0, 1)", "0"),
    },
    "views": {
        "cause": _named("cause", Cause, "'compaction'"),
        **{column: _whole(column) for column in ("session", "upto", "at")},
    },
    "compactions": {"report": ("json_valid(report) AND json_type(report) = 'object'", "'{}'")},
}
"""What the columns must hold, and what takes the place of anything else."""

TEXTS = {
    "sessions": ("id", "source", "title", "model", "goal"),
    "compactions": ("trigger", "strategy", "focus", "summary"),
    "leases": ("holder",),
    "caller_keys": ("name",),
}
"""The columns that hold texts; bytes that are no text in them keep a row from being read."""
