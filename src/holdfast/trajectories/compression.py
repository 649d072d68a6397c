"""Makes one trajectory smaller, in two steps that can be taken in different processes.

`prepare` reads, redacts, counts and decides; `finish` puts the summary in its place. Between them
a model may be asked, or nobody. Both are pure.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TypeAlias, assert_never

from holdfast.formats.json_access import mapping
from holdfast.summary import Ask, Written
from holdfast.trajectories.metrics import TrajectoryMetrics
from holdfast.trajectories.plan import Fits, Region, Stuck, TrajectoryPolicy, plan_region
from holdfast.trajectories.summaries import NOTICE, PREFIX, RegionMaterial, ask_for, cut_to, told
from holdfast.trajectories.turns import (
    RawTurn,
    Shape,
    TrajectoryTurn,
    added,
    read_turns,
    redacted,
    spoken,
)
from holdfast.transcript import Role
from holdfast.wire.provenance import LABEL

__all__ = ["CompressedTrajectory", "Pending", "Prepared", "Rules", "estimated", "finish", "prepare"]


@dataclass(frozen=True, slots=True)
class Rules:
    """What every trajectory is treated by."""

    policy: TrajectoryPolicy
    count: Callable[[str], int]
    redact: Callable[[str], str] | None
    """Masks secrets; None keeps them."""


@dataclass(frozen=True, slots=True)
class CompressedTrajectory:
    """A trajectory as it leaves, and what became of it."""

    turns: tuple[RawTurn, ...]
    metrics: TrajectoryMetrics


@dataclass(frozen=True, slots=True)
class Pending:
    """A trajectory of which a part waits to be replaced by a summary."""

    shape: Shape
    turns: tuple[TrajectoryTurn, ...]
    tokens: tuple[int, ...]
    region: Region
    redacted_turns: int

    def ask(self, rules: Rules, window: int | None) -> Ask:
        """Return the request for the summary, sized to the summarizer's window."""
        return ask_for(self.material, rules.policy.summary_tokens, window, rules.count)

    @property
    def material(self) -> RegionMaterial:
        """Return the turns that the summary will stand for."""
        start, stop = self.region.start, self.region.stop
        return RegionMaterial(self.turns[start:stop], self.tokens[start:stop], start, self.shape)


Prepared: TypeAlias = CompressedTrajectory | Pending


def prepare(raw: Sequence[object], rules: Rules) -> Prepared:
    """Read a trajectory and decide what of it is replaced.

    Raises:
        DecodeError: a turn cannot be read; it says which.
    """
    shape, turns = read_turns(raw)
    masked = turns if rules.redact is None else redacted(turns, rules.redact)
    hidden = sum(one is not other for one, other in zip(turns, masked, strict=True))
    tokens = tuple(turn.tokens(rules.count) for turn in masked)
    plan = plan_region([turn.role for turn in masked], tokens, rules.policy)
    match plan:
        case Region():
            return Pending(shape, masked, tokens, plan, hidden)
        case Fits() | Stuck():
            total, count = sum(tokens), len(tokens)
            metrics = TrajectoryMetrics(
                original_tokens=total,
                compressed_tokens=total,
                original_turns=count,
                compressed_turns=count,
                skipped_under_target=isinstance(plan, Fits),
                still_over_limit=isinstance(plan, Stuck),
                redacted_turns=hidden,
            )
            return CompressedTrajectory(tuple(turn.raw for turn in masked), metrics)
        case _:
            assert_never(plan)


def finish(pending: Pending, answer: Written | None, rules: Rules) -> CompressedTrajectory:
    """Put the summary in the place of the turns: what a model wrote, or the deterministic record.

    What is added, the note to the system turn included, weighs no more than the allowance.
    """
    start, stop = pending.region.start, pending.region.stop
    head, noted = _with_notice(pending, rules.count)
    budget = rules.policy.summary_tokens - noted

    def weigh(text: str) -> int:
        return rules.count(PREFIX + text)

    text = "" if answer is None else _read(answer.text, rules.redact)
    if text:
        text = cut_to(text, budget, weigh)
    else:
        text = told(pending.material, budget, weigh)
        answer = None
    summary = {
        **spoken(pending.shape, PREFIX + text, pending.turns),
        LABEL: {
            "synthetic": "summary",
            "origin": "deterministic" if answer is None else "model",
            **({"model": answer.model} if answer is not None and answer.model else {}),
            "turns": [start, stop],
        },
    }
    tail = [turn.raw for turn in pending.turns[stop:]]
    added_tokens = weigh(text)
    total = sum(pending.tokens)
    after = total - pending.region.tokens + noted + added_tokens
    turns = (*head, summary, *tail)
    metrics = TrajectoryMetrics(
        original_tokens=total,
        compressed_tokens=after,
        original_turns=len(pending.turns),
        compressed_turns=len(turns),
        turns_compressed_start_idx=start,
        turns_compressed_end_idx=stop,
        was_compressed=True,
        still_over_limit=after > rules.policy.target_tokens,
        summary_tokens=added_tokens,
        summary_origin="deterministic" if answer is None else "model",
        redacted_turns=pending.redacted_turns,
    )
    return CompressedTrajectory(turns, metrics)


def estimated(pending: Pending, policy: TrajectoryPolicy) -> TrajectoryMetrics:
    """Return the figures of a trajectory whose summary takes all of its allowance."""
    total, region = sum(pending.tokens), pending.region
    after = total - region.tokens + policy.summary_tokens
    return TrajectoryMetrics(
        original_tokens=total,
        compressed_tokens=after,
        original_turns=len(pending.turns),
        compressed_turns=len(pending.turns) - (region.stop - region.start) + 1,
        turns_compressed_start_idx=region.start,
        turns_compressed_end_idx=region.stop,
        was_compressed=True,
        still_over_limit=after > policy.target_tokens,
        summary_tokens=policy.summary_tokens,
        redacted_turns=pending.redacted_turns,
    )


def _with_notice(pending: Pending, count: Callable[[str], int]) -> tuple[list[RawTurn], int]:
    """Return the turns before the summary, with a note in the system turn, and what that weighs."""
    head = [turn.raw for turn in pending.turns[: pending.region.start]]
    for index, turn in enumerate(pending.turns[: pending.region.start]):
        if turn.role is Role.SYSTEM:
            if any(NOTICE.strip() in text for text in turn.texts):
                break
            noted = added(turn, NOTICE)
            label = {**mapping(turn.raw.get(LABEL)), "synthetic": "note", "partial": True}
            head[index] = {**noted.raw, LABEL: label}
            return head, noted.tokens(count) - pending.tokens[index]
    return head, 0


def _read(text: str, redact: Callable[[str], str] | None) -> str:
    """Return what a model wrote, redacted, without the prefix that some repeat."""
    text = text.strip()
    text = text.removeprefix(PREFIX.strip()).strip()
    return text if redact is None else redact(text)
