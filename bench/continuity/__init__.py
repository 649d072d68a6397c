"""Continuity: after a compaction, does the agent still have the exact names it used next?

A real session is compacted at a point. What the agent really did in the next 60 messages names
paths, identifiers, commits, numbers, URLs and flags; those that had occurred before the point are
needed. The score is the share of them that stand, letter for letter, in the window afterwards. No
model judges anything.

Read in this order: `names`, `events`, `policies`, `measure`. `python -m bench.continuity` runs it.
"""

from bench.continuity.measure import run

__all__ = ["run"]
