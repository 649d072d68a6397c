"""Scores every policy on every event and puts the means into a table."""

from __future__ import annotations

from dataclasses import dataclass
from statistics import mean
from typing import TYPE_CHECKING, TypeAlias

from bench.continuity import searching
from bench.continuity.events import events, sessions
from bench.continuity.names import present
from bench.continuity.policies import POLICIES, SIZES
from bench.report import Bar, Result, Table

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from pathlib import Path

    from bench.continuity.events import Event
    from bench.continuity.policies import Policy

SAMPLE = (
    "1x is the size of the agent's own summary. System prompts are left aside. Events are left out "
    "where the newest user message alone takes more than a third of the budget. A policy that fits "
    "nothing into its size scores 0."
)
CAVEATS = (
    "The agent's own summary shaped what it did next, which is in that summary's favor; the agent "
    "could read files again, so recall is not success; names are not understanding. In sessions "
    "cut where the agent did not compact, it had everything, so what it used is unbiased."
)
CLAUDE_CODE = "claude_code/"


@dataclass(frozen=True, slots=True)
class Score:
    """What one policy kept at one event."""

    policy: str
    session: str
    kind: str
    share: float
    characters: int


Scored: TypeAlias = "Score | searching.Recalled"


def run(paths: Sequence[Path] = (), policies: Sequence[Policy] = POLICIES) -> Result:
    """Measure the policies on the sessions and return the tables."""
    found = events(sessions(paths))
    scores = measure(found, policies)
    recalled = searching.measure(found)
    note = f"Means over events. {SAMPLE} {CAVEATS}"
    return Result(
        "continuity",
        (
            Table("continuity", _COLUMNS, _rows(scores, policies), note),
            searching.table(recalled, _GROUPS),
        ),
        (*bars(scores), *searching.bars(recalled)),
        {
            "events": [_described(event) for event in found],
            "scores": [
                {"policy": each.policy, "event": each.session, "kept": round(each.share, 3)}
                | {"characters": each.characters}
                for each in scores
            ],
        },
    )


def measure(found: Sequence[Event], policies: Sequence[Policy]) -> tuple[Score, ...]:
    """Return the score of each policy at each event it can run on."""
    return tuple(
        _score(policy, event)
        for event in found
        for policy in policies
        if event.summary or not policy.needs_summary
    )


def bars(scores: Sequence[Score], others: Sequence[str] = ("plain tail",)) -> tuple[Bar, ...]:
    """Return the promises: names are a second figure, above others at every size."""
    everywhere = _GROUPS["all"]
    found: list[Bar] = []
    for size in SIZES:
        ours = _mean(scores, f"holdfast, {size}", everywhere)
        for name in others:
            theirs = _mean(scores, f"{name}, {size}", everywhere)
            if ours is not None and theirs is not None:
                measured = f"{ours:.2f} against {theirs:.2f}"
                found.append(Bar(f"names, {size}: above {name}", measured, ours > theirs))
    return tuple(found)


_GROUPS: dict[str, Callable[[Scored], bool]] = {
    "Claude Code compactions": lambda each: (
        each.kind == "compaction" and each.session.startswith(CLAUDE_CODE)
    ),
    "other compactions": lambda each: (
        each.kind == "compaction" and not each.session.startswith(CLAUDE_CODE)
    ),
    "cuts": lambda each: each.kind == "cut",
    "all": lambda _each: True,
}
_COLUMNS = ("policy", *_GROUPS, "characters")


def _rows(scores: Sequence[Score], policies: Sequence[Policy]) -> tuple[tuple[str | int, ...], ...]:
    counts = tuple(
        len({each.session for each in scores if wanted(each)}) for wanted in _GROUPS.values()
    )
    rows: list[tuple[str | int, ...]] = [("*events*", *counts, "")]
    for policy in policies:
        own = [each for each in scores if each.policy == policy.name]
        if own:
            kept = (_mean(own, policy.name, wanted) for wanted in _GROUPS.values())
            shown = ("" if each is None else f"{each:.2f}" for each in kept)
            rows.append((policy.name, *shown, round(mean(each.characters for each in own))))
    return tuple(rows)


def _mean(scores: Sequence[Score], name: str, wanted: Callable[[Score], bool]) -> float | None:
    found = [each.share for each in scores if each.policy == name and wanted(each)]
    return mean(found) if found else None


def _score(policy: Policy, event: Event) -> Score:
    window = policy.build(event, int(event.size * policy.factor))
    kept = sum(present(name, window) for name in event.needed)
    return Score(policy.name, event.session, event.kind, kept / len(event.needed), len(window))


def _described(event: Event) -> dict[str, object]:
    return {
        "event": event.session,
        "kind": event.kind,
        "messages": len(event.folded),
        "needed": len(event.needed),
        "size": event.size,
    }
