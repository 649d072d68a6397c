"""Put a record where the middle was, with proof of what it kept. Pure, and sized by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.compaction.assemble import assemble
from holdfast.compaction.checkpointing import Draft, compose
from holdfast.compaction.cut import must_stay
from holdfast.compaction.plan import grow
from holdfast.compaction.repair import repair
from holdfast.compaction.truncate import truncate
from holdfast.compaction.words import words_of
from holdfast.facts import Audit, audit
from holdfast.summary import render
from holdfast.transcript import newest_user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.compaction.plan import Means, Plan
    from holdfast.transcript import Transcript

__all__ = ["Fold", "fold"]

_LADDER = (1.0, 0.9, 0.75, 0.55, 0.35, 0.15, 0.0)
"""How much of its share the summary gets, try by try, until the whole fits."""
_WORTH_USING = 50
"""Tokens left over under a strict limit from which on the window is built once more, wider."""


@dataclass(frozen=True, slots=True)
class Fold:
    """A window and what is known of it."""

    transcript: Transcript
    summary_tokens: int
    audit: Audit
    truncated: int
    """How many tool results of the tail were cut in the middle."""
    tail: int
    """How many messages the tail has."""


@dataclass(frozen=True, slots=True)
class _Frame:
    """What stands around the summary."""

    kept: Transcript
    tail: Transcript
    truncated: int = 0


def fold(plan: Plan, draft: Draft, means: Means) -> Fold:
    """Return the window in which a checkpoint stands for the folded messages.

    The summary gives way until the window fits and is smaller than before. Where the limit is
    strict and the tail alone is too heavy, it goes too, and what must stay stays: the system
    prompt, the newest user message and calls that still wait.
    """
    scale = means.scale
    goal = min(plan.shares.limit, plan.weight - 1)
    built: Fold | None = None
    for frame, factor in _rungs(plan, means):
        built = _build(plan, draft, means, frame=frame, factor=factor)
        if scale.total(built.transcript) <= goal:
            break
    assert built is not None  # there is always a first rung
    spare = goal - scale.total(built.transcript)
    if plan.shares.strict and spare > _WORTH_USING:
        wider = grow(plan, spare, means)
        candidate = _build(wider, draft, means, frame=_frame(wider, means), factor=1.0)
        if scale.total(candidate.transcript) <= goal:
            return candidate
    return built


def _rungs(plan: Plan, means: Means) -> Iterator[tuple[_Frame, float]]:
    """Yield what to try, the best first."""
    frame = _frame(plan, means)
    for factor in _LADDER if plan.shares.strict else _LADDER[:4]:
        yield frame, factor
    if plan.shares.strict:
        for factor in _LADDER:
            yield _frame_without_tail(plan), factor


def _frame(plan: Plan, means: Means) -> _Frame:
    window, cut = plan.window.transcript, plan.cut
    tail = window[cut.tail :]
    newest = newest_user(window)
    spared = 0 if newest is None or newest < cut.tail else means.scale.weigh(window[newest])
    cropped = truncate(tail, plan.shares.ceiling + spared, means.scale)
    return _Frame(tuple(window[at] for at in cut.kept), cropped.messages, cropped.count)


def _frame_without_tail(plan: Plan) -> _Frame:
    staying = (index for index in must_stay(plan.measured) if index >= plan.cut.head)
    return _Frame(tuple(plan.window.transcript[index] for index in staying), ())


def _build(plan: Plan, draft: Draft, means: Means, *, frame: _Frame, factor: float) -> Fold:
    around = words_of((*frame.kept, *frame.tail))
    summary = compose(plan, draft, means, around=around, factor=factor)
    head = plan.window.transcript[: plan.cut.head]
    transcript = repair(assemble(head, summary, frame.kept, frame.tail))
    return Fold(
        transcript=transcript,
        summary_tokens=means.scale.text(summary) if summary else 0,
        audit=audit(draft.evidence, render(draft.record), f"{summary}\n{around}"),
        truncated=frame.truncated,
        tail=len(frame.tail),
    )
