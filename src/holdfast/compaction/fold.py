"""Put a record where the middle was, with proof of what it kept. Pure, and sized by arithmetic."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction.assemble import assemble
from holdfast.compaction.checkpointing import Draft, compose
from holdfast.compaction.plan import grow, leanest
from holdfast.compaction.repair import repair
from holdfast.compaction.truncate import truncate
from holdfast.compaction.words import words_of
from holdfast.facts import Audit, audit
from holdfast.summary import render
from holdfast.transcript import newest_user

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.compaction.means import Means
    from holdfast.compaction.plan import Plan
    from holdfast.transcript import Transcript

__all__ = ["Fold", "fold"]

_LADDER = (1.0, 0.9, 0.75, 0.55)
"""How much of its share the summary gets, try by try, until the whole fits."""
_LOWER_RUNGS = (0.35, 0.15, 0.0)
"""What is tried once the tail is gone: a strict limit leaves no other choice."""
_MOST_GROWTH = 4.0
_OF_SPARE = (1.0, 0.85, 0.6)
"""How much of what is left over is shared out, try by try."""
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
    strict and the tail is too heavy for it, the tail goes too, and what must stay stays: the
    system prompt, the newest user message and calls that still wait. What is left over in the end
    is used: for a longer tail, or else for a longer summary.
    """
    scale = means.scale
    goal = min(plan.shares.limit, plan.weight - 1)
    for frame, factor in _rungs(plan, means):
        built = _build(plan, draft, means, frame=frame, factor=factor)
        spare = goal - scale.total(built.transcript)
        if spare < 0:
            continue
        if not plan.shares.strict or spare <= _WORTH_USING:
            return built
        return next(
            (
                each
                for each in _larger(plan, draft, means, (frame, factor), (built, spare))
                if scale.total(each.transcript) <= goal
            ),
            built,
        )
    last = _build(plan, draft, means, frame=_frame(plan, means), factor=_LADDER[-1])
    cropped = truncate(last.transcript, plan.shares.limit, scale, means.stored)
    return replace(last, transcript=cropped.messages, truncated=last.truncated + cropped.count)


def _larger(
    plan: Plan, draft: Draft, means: Means, rung: tuple[_Frame, float], reached: tuple[Fold, int]
) -> Iterator[Fold]:
    """Yield windows that use what was left over: for the ledger and the tail, or the summary."""
    (frame, factor), (built, spare) = rung, reached
    for share in _OF_SPARE:
        grown = grow(plan, int(spare * share), means)
        yield _build(grown, draft, means, frame=_frame(grown, means), factor=1.0)
    growth = min(1 + 0.9 * spare / max(built.summary_tokens, 1), _MOST_GROWTH)
    yield _build(plan, draft, means, frame=frame, factor=factor * growth)


def _rungs(plan: Plan, means: Means) -> Iterator[tuple[_Frame, float]]:
    """Yield what to try, the best first.

    Half a summary is worth more than one oversized exchange, so the tail goes before the rest.
    """
    frame = _frame(plan, means)
    yield from ((frame, factor) for factor in _LADDER)
    if plan.shares.strict:
        bare = _frame_without_tail(plan, means)
        yield from ((bare, factor) for factor in (*_LADDER, *_LOWER_RUNGS))


def _frame(plan: Plan, means: Means) -> _Frame:
    window, cut = plan.window.transcript, plan.cut
    tail = window[cut.tail :]
    newest = newest_user(window)
    spared = 0 if newest is None or newest < cut.tail else means.scale.weigh(window[newest])
    cropped = truncate(tail, plan.shares.ceiling + spared, means.scale, means.stored)
    return _Frame(tuple(window[at] for at in cut.kept), cropped.messages, cropped.count)


def _frame_without_tail(plan: Plan, means: Means) -> _Frame:
    # A strict window has no head but the system prompt.
    return _Frame(leanest(plan.measured, means)[plan.cut.head :], ())


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
