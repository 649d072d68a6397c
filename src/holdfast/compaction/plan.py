"""The decision, as a value: what would be kept, folded and pruned, and why.

A plan can be printed, compared and thrown away; the dry run is free.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING, TypeAlias

from holdfast.compaction.cut import Cut, cut, head_end, system_end
from holdfast.compaction.live import LiveState
from holdfast.compaction.policy import MOST_LEDGER
from holdfast.compaction.previous import Bare, without_summaries
from holdfast.compaction.prune import PrunedTranscript, prune, prune_media
from holdfast.compaction.report import PrunedCounts
from holdfast.compaction.truncate import truncate
from holdfast.tokens import MESSAGE_TOKENS, Scale
from holdfast.transcript import newest_user
from holdfast.transcript.toolkit import Toolkit

if TYPE_CHECKING:
    from collections.abc import Callable

    from holdfast.compaction.policy import Policy, Shares
    from holdfast.transcript import Transcript

__all__ = [
    "SYSTEM_NOTE",
    "Decision",
    "Enough",
    "Impossible",
    "Means",
    "Nothing",
    "Plan",
    "decide",
    "grow",
]

SYSTEM_NOTE = (
    "[Earlier turns of this conversation were compacted into a summary. Files and systems may "
    "already reflect them. Persistent memory stays authoritative.]"
)


@dataclass(frozen=True, slots=True)
class Means:
    """What a compaction works with besides the transcript."""

    scale: Scale
    redact: Callable[[str], str]
    toolkit: Toolkit = field(default_factory=Toolkit)
    today: str = ""
    summarizer_window: int | None = None
    """What one request to the summarizer may hold; None when there is no summarizer."""
    host: LiveState = field(default_factory=LiveState)
    """What the host reports of the agent's state."""
    focus: str = ""


@dataclass(frozen=True, slots=True)
class Plan:
    """What will be done."""

    source: Transcript
    bare: Bare
    cut: Cut
    shares: Shares
    window: PrunedTranscript
    """The bare transcript, pruned: what is kept is taken from here."""

    @property
    def folded(self) -> Transcript:
        """Return the messages that the summary will stand for, as they were said."""
        return tuple(self.bare.transcript[index] for index in self.cut.folded())


@dataclass(frozen=True, slots=True)
class Enough:
    """Pruning alone reaches the target."""

    window: PrunedTranscript


@dataclass(frozen=True, slots=True)
class Nothing:
    """There is nothing to do."""

    reason: str


@dataclass(frozen=True, slots=True)
class Impossible:
    """What was asked for cannot be reached."""

    reason: str


Decision: TypeAlias = Plan | Enough | Nothing | Impossible


def decide(
    transcript: Transcript, policy: Policy, means: Means, *, force: bool = False
) -> Decision:
    """Return what a compaction of the transcript would do.

    Args:
        transcript: What the model would see now.
        policy: The knobs.
        means: Scale, tool families and the rest of the surroundings.
        force: Compact even when everything fits the budget of the tail.
    """
    scale = means.scale
    before = scale.total(transcript)
    if policy.fit is not None and before <= policy.fit:
        return Nothing(f"it fits already: {before:,} of {policy.fit:,} tokens")
    bare = without_summaries(transcript)
    smallest = _smallest(bare.transcript, scale)
    if policy.fit is not None and smallest > policy.fit:
        return Impossible(
            f"{policy.fit:,} tokens cannot hold the system prompt and the newest user message; "
            f"the smallest possible fit is {smallest:,}"
        )
    half = max((before - smallest) // 2, 1)
    head, shares = _room(bare, policy, scale, tail=half if force else None)
    chosen = cut(bare.transcript, head, shares, scale)
    reason = _nothing_to_fold(bare, chosen, shares, scale)
    if reason and not shares.strict and not (force and chosen.folded()):
        return _cropped(transcript, shares, scale, reason)
    unpruned = PrunedTranscript(bare.transcript, PrunedCounts())
    return _pruned(Plan(transcript, bare, chosen, shares, unpruned), policy, means)


def _smallest(transcript: Transcript, scale: Scale) -> int:
    """Return the weight of what stays whatever happens."""
    newest = newest_user(transcript)
    task = [] if newest is None else [transcript[newest]]
    return scale.total([*transcript[: system_end(transcript)], *task])


def _room(bare: Bare, policy: Policy, scale: Scale, *, tail: int | None) -> tuple[int, Shares]:
    """Return where the head ends and how the rest of the window is shared out."""
    transcript = bare.transcript
    system = system_end(transcript)
    head = system
    if policy.fit is None and bare.previous is None:
        head = head_end(transcript, policy.protect_first_n)
        if scale.total(transcript[system:head]) > policy.target_tokens // 2:
            head = system
    newest = newest_user(transcript)
    fixed = scale.total(transcript[:head]) + scale.text(SYSTEM_NOTE) + MESSAGE_TOKENS
    if newest is not None and newest >= head:
        fixed += scale.weigh(transcript[newest])
    rest = max(scale.total(transcript) - fixed, 0)
    previous = scale.text(bare.summary)
    return head, policy.shares(fixed=fixed, rest=rest, previous=previous, tail=tail)


def _nothing_to_fold(bare: Bare, chosen: Cut, shares: Shares, scale: Scale) -> str:
    """Return why nothing can be folded, or nothing if something can."""
    folded = chosen.folded()
    if not folded:
        return "nothing lies between head and tail"
    if bare.previous is None:
        return ""
    newest = newest_user(bare.transcript)
    task = 0 if newest is None or newest < bare.fresh else scale.weigh(bare.transcript[newest])
    settled = scale.total(bare.transcript[bare.fresh :]) - task <= shares.ceiling
    if settled or folded[-1] < bare.fresh:
        return "nothing new since the last compaction: what came after it fits the tail"
    return ""


def _cropped(transcript: Transcript, shares: Shares, scale: Scale, reason: str) -> Enough | Nothing:
    """Make an oversized window smaller when nothing can be folded: cut tool results and media.

    One huge output in the newest exchange fills a window although there is no middle yet.
    """
    before = scale.total(transcript)
    if before <= shares.limit:
        return Nothing(reason)
    shown = prune_media(transcript)
    cropped = truncate(shown.transcript, shares.limit, scale)
    if scale.total(cropped.messages) < before:
        counts = replace(shown.counts, truncated=cropped.count)
        return Enough(PrunedTranscript(cropped.messages, counts))
    return Nothing(f"{reason}, and the window is over its limit: {before:,} of {shares.limit:,}")


def grow(plan: Plan, spare: int, means: Means) -> Plan:
    """Return the plan with tokens that were left over given to the ledger and to the tail."""
    shares = plan.shares
    proof = min(spare // 2, max(int(shares.limit * MOST_LEDGER) - shares.ledger, 0))
    tail = shares.tail + spare - proof
    grown = replace(shares, ledger=shares.ledger + proof, tail=tail, ceiling=tail)
    chosen = cut(plan.bare.transcript, plan.cut.head, grown, means.scale)
    return replace(
        plan, shares=grown, cut=chosen, window=_window(plan.bare.transcript, chosen.tail, means)
    )


def _pruned(plan: Plan, policy: Policy, means: Means) -> Plan | Enough:
    """Prune, and say whether that is enough.

    The protected tail is the cut's, with `protect_last_n` messages as the floor; a fit has no
    such floor, because its size comes first.
    """
    transcript = plan.bare.transcript
    protected = plan.cut.tail
    if not plan.shares.strict:
        protected = max(min(protected, len(transcript) - policy.protect_last_n), plan.cut.head)
    window = _window(transcript, protected, means)
    total = means.scale.total(window.transcript)
    if plan.bare.previous is None and window.counts.any and total <= policy.target_tokens:
        return Enough(window)
    return replace(plan, window=window)


def _window(transcript: Transcript, protected: int, means: Means) -> PrunedTranscript:
    shortened = prune(transcript, means.toolkit, protected=protected)
    shown = prune_media(shortened.transcript)
    counts = replace(shortened.counts, media=shown.counts.media)
    return PrunedTranscript(shown.transcript, counts)
