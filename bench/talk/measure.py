"""Builds every window of every conversation and counts the questions whose evidence stands."""

from __future__ import annotations

import os
from collections import defaultdict
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING

from bench.report import Bar, Result, Table
from bench.talk.conversations import Conversation, conversations
from bench.talk.policies import OURS, POLICIES, TAIL
from bench.talk.questions import stands
from bench.talk.words import word_places
from bench.windows import window_text

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from bench.report import Cell

BARS = {10: 1.9, 20: 1.6, 45: 1.35}
"""What we promise against the plain tail, by the size in percent of the conversation."""


@dataclass(frozen=True, slots=True)
class Score:
    """Of one kind of question about a conversation: how many, and how many a window answers."""

    source: str
    kind: str
    size: int
    policy: str
    asked: int
    stood: int
    used: float
    """The part of the allowed characters that the window has."""


def run() -> Result:
    """Measure every policy on every conversation."""
    found = conversations()
    if not found:
        return Result("talk", ())
    with ProcessPoolExecutor(os.cpu_count()) as processes:
        scores = [score for each in processes.map(measure, found) for score in each]
    counts = [
        f"{sum(each.source == source for each in found)} conversations of {source}"
        for source in dict.fromkeys(each.source for each in found)
    ]
    note = (
        f"{' and '.join(counts)}. Shares of questions whose evidence stands. *All* is the mean of "
        "the four kinds, so that none outweighs the others by number, and is set against the plain "
        "tail's. *Used* is the part of the allowed characters that the windows have."
    )
    return Result(
        "talk",
        (table(scores, note),),
        bars(scores),
        {"scores": [_described(own) for own in _groups(scores).values()]},
    )


def measure(conversation: Conversation) -> tuple[Score, ...]:
    """Return the score of each policy at each size, for each kind of question."""
    whole = len(window_text(conversation.messages))
    scores: list[Score] = []
    for size in BARS:
        room = whole * size // 100
        for policy, build in POLICIES.items():
            window = build(conversation.messages, room)
            places = word_places(window)
            for kind in ("asked", "masked"):
                hits = [stands(q, places) for q in conversation.questions if q.kind == kind]
                used = len(window) / room
                head = (conversation.source, kind, size, policy)
                scores.append(Score(*head, len(hits), sum(hits), used))
    return tuple(scores)


def table(scores: Sequence[Score], note: str) -> Table:
    """Return one row for each size and policy, one column for each kind of question."""
    kinds = tuple(dict.fromkeys((each.source, each.kind) for each in scores))
    first = _only(scores, min(BARS), TAIL)
    counts = [sum(e.asked for e in first if (e.source, e.kind) == kind) for kind in kinds]
    rows: list[tuple[Cell, ...]] = [("*questions*", "", sum(counts), *counts, "", "")]
    for size in BARS:
        tail = even_share(_only(scores, size, TAIL))
        for policy in POLICIES:
            own = _only(scores, size, policy)
            shares = [_share([e for e in own if (e.source, e.kind) == kind]) for kind in kinds]
            shown = (f"{each:.2f}" for each in (even_share(own), *shares))
            ratio = f"{even_share(own) / tail:.2f}x" if tail else ""
            used = f"{mean(each.used for each in own):.2f}"
            rows.append((policy, f"{size} %", *shown, ratio, used))
    columns = (f"{source}, {kind}" for source, kind in kinds)
    head = ("policy", "size", "all", *columns, "against the tail", "used")
    return Table("talk", head, tuple(rows), note)


def bars(scores: Sequence[Score]) -> tuple[Bar, ...]:
    """Return the promises, which are about all kinds of questions together."""
    found: list[Bar] = []
    for size, least in BARS.items():
        ours, tail = (even_share(_only(scores, size, policy)) for policy in (OURS, TAIL))
        promise = f"talk at {size} % of its size: at least {least}x the evidence of the plain tail"
        measured = f"{ours / tail:.2f}x" if tail else f"{ours:.2f} against none"
        found.append(Bar(promise, measured, ours >= least * tail))
    return tuple(found)


def even_share(scores: Sequence[Score]) -> float:
    """Return the mean share of the kinds of questions, each counting the same."""
    kinds: defaultdict[tuple[str, str], list[Score]] = defaultdict(list)
    for each in scores:
        kinds[each.source, each.kind].append(each)
    return mean(map(_share, kinds.values()))


def _share(scores: Sequence[Score]) -> float:
    return sum(each.stood for each in scores) / max(sum(each.asked for each in scores), 1)


def _only(scores: Sequence[Score], size: int, policy: str) -> list[Score]:
    return [each for each in scores if (each.size, each.policy) == (size, policy)]


def _groups(scores: Sequence[Score]) -> Mapping[tuple[Cell, ...], list[Score]]:
    groups: defaultdict[tuple[Cell, ...], list[Score]] = defaultdict(list)
    for each in scores:
        groups[each.size, each.policy, each.source, each.kind].append(each)
    return groups


def _described(scores: Sequence[Score]) -> dict[str, Cell]:
    first = scores[0]
    return {
        "source": first.source,
        "kind": first.kind,
        "size": first.size,
        "policy": first.policy,
        "asked": sum(each.asked for each in scores),
        "stood": sum(each.stood for each in scores),
    }
