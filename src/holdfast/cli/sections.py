"""A record as people see it: its sections that say something, and what stands beside them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.summary.record import HEADINGS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from holdfast.summary import Checkpoint

__all__ = ["sections"]


def sections(checkpoint: Checkpoint) -> Iterator[tuple[str, Sequence[str]]]:
    """Yield each heading that has entries, with them, in the order of the page."""
    for name, entries in checkpoint.record.sections():
        if entries:
            yield HEADINGS[name], entries
    beside = (
        ("Evidence", checkpoint.evidence.split("\n")),
        ("Standing Words of the User", checkpoint.lasting),
        ("Said by the User", checkpoint.said),
        ("Live State", checkpoint.live.split("\n")),
    )
    for heading, lines in beside:
        kept = [line for line in lines if line.strip()]
        if kept:
            yield heading, kept
