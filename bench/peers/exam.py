"""Peers' policies sit the exam: same sessions, same sizes, same keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

from bench.exam.measure import measure, share, table
from bench.exam.policies import POLICIES, Window, at_sizes
from bench.exam.sittings import sittings
from bench.peers.environments import HERMES, LANGCHAIN
from bench.peers.windows import PEERS, peer_window
from bench.report import Bar, Result

if TYPE_CHECKING:
    from bench.exam.policies import Build
    from bench.exam.sittings import Sitting

OURS = "holdfast, no model"
BESIDE = ("the agent's own summary", "plain tail", OURS)
NOTE = (
    f"{HERMES.requirement}, {LANGCHAIN.requirement}. Peers' windows have no roles in their text, "
    "which leaves them a little more room. Of Hermes the opening messages stay where they take at "
    "most a third of the window, which scores no less than always or never; then come its record "
    "and the newest messages that fit."
)


def sit() -> Result:
    """Mark the peers, and beside them what they are compared with."""
    beside = [policy for policy in POLICIES if policy.name.startswith(BESIDE)]
    peers = [policy for name in PEERS for policy in at_sizes(name, _build(name))]
    marks = measure(sittings(), [*beside, *peers])
    if not marks:
        return Result("exam-peers", ())
    kept = {
        policy.name: share([mark for mark in marks if mark.policy == policy.name])
        for policy in (*beside, *peers)
    }
    bars = [
        Bar(
            f"exam at {size}: above {peer}",
            f"{kept[f'{OURS}, {size}']:.2f} against {kept[f'{peer}, {size}']:.2f}",
            kept[f"{OURS}, {size}"] > kept[f"{peer}, {size}"],
        )
        for peer in ("plain tail", *PEERS)
        for size in ("1x", "2x", "4x")
    ]
    return Result("exam-peers", (table("exam-peers", marks, NOTE),), tuple(bars))


def _build(name: str) -> Build:
    def build(sitting: Sitting, size: int) -> Window:
        return Window(peer_window(name, sitting.messages, size))

    return build
