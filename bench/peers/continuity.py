"""Peers' policies in the continuity benchmark: same events, same size, same score."""

from __future__ import annotations

from collections import defaultdict
from statistics import mean
from typing import TYPE_CHECKING

from bench.continuity.events import events, sessions
from bench.continuity.measure import bars, measure
from bench.continuity.policies import POLICIES, SIZES, at_sizes
from bench.peers.windows import PEERS, peer_window
from bench.report import Result, Table
from bench.windows import openai

if TYPE_CHECKING:
    from bench.continuity.events import Event
    from bench.continuity.measure import Score
    from bench.continuity.policies import Build
    from bench.report import Cell

BESIDE = ("plain tail", "holdfast")


def replay() -> Result:
    """Score the peers, and beside them what they are compared with, on every event."""
    found = events(sessions())
    beside = [policy for policy in POLICIES if policy.name.startswith(BESIDE)]
    beside = [policy for policy in beside if policy.name.partition(", ")[2] in SIZES]
    peers = [policy for name in PEERS for policy in at_sizes(name, _build(name))]
    scores = measure(found, [*beside, *peers])
    rows: list[tuple[Cell, ...]] = []
    for policy in (*beside, *peers):
        by = _means([each for each in scores if each.policy == policy.name])
        rows.append((policy.name, *(f"{by[kind]:.2f}" if kind in by else "" for kind in _KINDS)))
    note = (
        f"{len(found)} events. 1x is the size of the agent's own summary; at cuts, where there "
        "is none, the usual size of one."
    )
    table = Table("continuity-peers", ("policy", *_KINDS.values()), tuple(rows), note)
    return Result("continuity-peers", (table,), bars(scores, list(PEERS)))


_KINDS = {"compaction": "compactions", "cut": "cuts", "all": "all"}


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
