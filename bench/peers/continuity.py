"""Peers' policies in the continuity benchmark: same events, same size, same score."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean
from typing import TYPE_CHECKING

from bench.continuity.events import events, sessions
from bench.continuity.measure import measure
from bench.continuity.policies import POLICIES, Policy
from bench.peers.windows import PEERS, peer_window
from bench.report import Bar, Result, Table
from bench.windows import openai

if TYPE_CHECKING:
    from bench.continuity.events import Event
    from bench.continuity.measure import Score
    from bench.continuity.policies import Build
    from bench.report import Cell

__all__ = ["replay"]

OURS = "holdfast, equal size"
BESIDE = ("the agent's own summary", "plain tail", OURS)


def replay() -> Result:
    """Score the peers, and beside them what they are compared with, on every event."""
    found = events(sessions())
    beside = [policy for policy in POLICIES if policy.name in BESIDE]
    peers = [Policy(name, _build(name)) for name in PEERS]
    scores = measure(found, [*beside, *peers])
    kept = {
        policy.name: _means([each for each in scores if each.policy == policy.name])
        for policy in (*beside, *peers)
    }
    rows: list[tuple[Cell, ...]] = [
        (name, *(f"{by[kind]:.2f}" if kind in by else "" for kind in _KINDS))
        for name, by in kept.items()
    ]
    note = (
        f"{len(found)} events. Every policy has the size of the agent's own summary; at cuts, "
        "where there is none, the usual size of one."
    )
    table = Table("continuity-peers", ("policy", "compactions", "cuts", "all"), tuple(rows), note)
    return Result("continuity-peers", (table,), _bars(kept, [*BESIDE[:-1], *PEERS]))


_KINDS = ("compaction", "cut", "all")


def _build(name: str) -> Build:
    def build(event: Event, size: int) -> str:
        return peer_window(name, openai(event.folded), size)

    return build


def _means(scores: list[Score]) -> dict[str, float]:
    shares: defaultdict[str, list[float]] = defaultdict(list)
    for each in scores:
        shares[each.kind].append(each.share)
        shares["all"].append(each.share)
    return {kind: mean(found) for kind, found in shares.items()}


def _bars(kept: dict[str, dict[str, float]], others: list[str]) -> tuple[Bar, ...]:
    bars: list[Bar] = []
    for other in others:
        for kind in _KINDS[:-1]:
            ours, theirs = kept[OURS].get(kind), kept[other].get(kind)
            if ours is not None and theirs is not None:
                promise = f"continuity at equal size, {kind}s: above {other}"
                bars.append(Bar(promise, f"{ours:.2f} against {theirs:.2f}", ours > theirs))
    return tuple(bars)
