"""Compaction for people who want no model and no summary: pruning and a tail.

Stale tool output is shortened first. What is still too heavy then leaves the window oldest first,
whole exchanges at a time. The system prompt, the opening of the conversation, the newest user
message, calls that still wait and what fits of the pins stay.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction.cut import cut, head_ends, measured, must_stay, spoken, system_end
from holdfast.compaction.fold import assemble, noted
from holdfast.compaction.plan import Nothing, answer_to_fit, leanest
from holdfast.compaction.policy import Shares
from holdfast.compaction.prune import PrunedTranscript, prune, truncate, without_bulk
from holdfast.compaction.repair import ensure_valid, repair, strays
from holdfast.compaction.report import Abandoned, Cuts, Pruned, Report, Unchanged
from holdfast.tokens import load_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.compaction.cut import Measured
    from holdfast.compaction.flow import Flow
    from holdfast.compaction.policy import PassContext, Policy
    from holdfast.compaction.report import Outcome
    from holdfast.transcript import Transcript

LEFT_OUT = (
    "[Earlier messages of this conversation are left out of this window. Files and systems may "
    "already reflect them. Persistent memory stays authoritative.]"
)

_OF_THRESHOLD = 2
"""The window is left at one part in this many of the threshold, so that passes are rare."""
_LADDER = (1.0, 0.85, 0.6, 0.3, 0.0)
"""How much of its share the tail gets, try by try, until the whole fits."""
_HEAD_OF_SPARE, _PINS_OF_SPARE = 0.25, 0.10
_FEWEST = 3
_UNDER_BYTES = 0.9


@dataclass(frozen=True, slots=True)
class _Built:
    """A window, and what stands in it."""

    transcript: Transcript
    cuts: Cuts
    dropped: int
    truncated: int = 0
    tail: int = 0


def truncation(
    transcript: Transcript, policy: Policy, context: PassContext, *, force: bool = False
) -> Flow:
    """Truncate a transcript; the flow asks for nothing, and ends like that of a compaction."""
    yield from ()
    it = measured(transcript, context.scale)
    before, smallest = it.weight(), context.scale.total(leanest(it, context))
    if policy.fit is not None and (answer := answer_to_fit(policy.fit, before, smallest)):
        ending = Unchanged if isinstance(answer, Nothing) else Abandoned
        return ending(transcript, Report.unchanged(len(transcript), before), answer.reason)
    pruned = _pruned(it, policy, context)
    room = _room(pruned.transcript, policy, context)
    if force and policy.fit is None:
        # Somebody asked for a smaller window: half of what may go goes.
        room = min(room, (before + smallest) // 2)
    return _concluded(it, pruned, _built(pruned, policy, context, room), context, room)


def _pruned(it: Measured, policy: Policy, context: PassContext) -> PrunedTranscript:
    """Shorten what is stale before the verbatim tail; a fit has no floor of messages."""
    strict = policy.fit is not None
    tail = policy.target_tokens // _OF_THRESHOLD if strict else policy.target_tokens
    verbatim = cut(it, system_end(it.transcript), _shares(tail, 0, strict=strict)).tail
    if not strict:
        verbatim = min(verbatim, max(len(it.transcript) - policy.protect_last_n, 0))
    return prune(it.transcript, context, protected=verbatim)


def _room(pruned: Transcript, policy: Policy, context: PassContext) -> int:
    """Return what the window may weigh; too many bytes are as many tokens less."""
    room = policy.fit or policy.room_tokens // _OF_THRESHOLD
    load = load_of(pruned, context.scale)
    if load.bytes > policy.max_bytes:
        room = min(room, int(load.tokens * _UNDER_BYTES * policy.max_bytes / load.bytes))
    return room


def _built(pruned: PrunedTranscript, policy: Policy, context: PassContext, room: int) -> _Built:
    scale = context.scale
    it = measured(pruned.transcript, scale)
    if it.weight() <= room:
        return _Built(repair(it.transcript), Cuts(tail=len(it.transcript)), 0)
    for built in _windows(it, policy, context, room):
        if scale.total(built.transcript) <= room:
            return built
    system = system_end(it.transcript)
    lean = leanest(it, context)
    bare = repair(assemble(lean[:system], "", lean[system:], ()))
    cuts = Cuts(system, len(it.transcript), must_stay(it)[system:], "only what must stay fits")
    return _Built(bare, cuts, len(it.transcript) - len(lean))


def _windows(it: Measured, policy: Policy, context: PassContext, room: int) -> Iterator[_Built]:
    """Yield windows with a shorter and shorter tail."""
    scale, strict = context.scale, policy.fit is not None
    fixed = sum(it.weights[at] for at in must_stay(it)) + scale.text(LEFT_OUT)
    spare = max(room - fixed, 0)
    head = _head(it, policy, int(spare * _HEAD_OF_SPARE))
    pins = int(spare * _PINS_OF_SPARE)
    left = max(spare - pins - it.weight(system_end(it.transcript), head), 0)
    said = spoken(it)
    reply = without_bulk(it.transcript[said.start : said.stop], pins, context)
    for factor in _LADDER:
        tail = int(left * factor)
        chosen = cut(it, head, _shares(tail, pins, strict=strict))
        shorter = left - scale.total(reply)
        if said and said.start in chosen.folded() and shorter >= 0:
            # The newest reply that a person can see stays, and the tail is as much shorter.
            tail = min(tail, shorter)
            chosen = cut(it, head, _shares(tail, pins, strict=strict), said)
        shown = it.transcript[chosen.tail :]
        task = it.task if it.newest is not None and it.newest >= chosen.tail else 0
        cropped = truncate(shown, tail + task, context)
        short = dict(zip(said, reply, strict=True))
        kept = tuple(short.get(at, it.transcript[at]) for at in chosen.kept)
        dropped = len(chosen.folded())
        opening = it.transcript[:head]
        yield _Built(
            repair(
                assemble(
                    noted(opening, LEFT_OUT) if dropped else opening, "", kept, cropped.messages
                )
            ),
            Cuts(head, chosen.tail, chosen.kept, chosen.why),
            dropped,
            cropped.count,
            len(shown),
        )


def _head(it: Measured, policy: Policy, affordable: int) -> int:
    """Return where the head ends: the opening says what the conversation is for.

    A record that another engine left stands for what was said before, and belongs to the head.
    """
    system = system_end(it.transcript)
    records = [at + 1 - system for at, message in enumerate(it.transcript) if message.summary]
    wanted = max([0 if policy.fit is not None else policy.protect_first_n, *records[:1]])
    ends = head_ends(it, wanted)
    return next((end for end in ends if it.weight(system, end) <= affordable), system)


def _shares(tail: int, pins: int, *, strict: bool) -> Shares:
    """Return shares in which the tail takes what nothing else asks for.

    The tail has no ceiling above its budget: a second pass must find the same edge.
    """
    return Shares(
        limit=tail,
        tail=tail,
        ceiling=tail,
        record=0,
        said=0,
        live=0,
        pins=pins,
        fewest=1 if strict else _FEWEST,
        strict=strict,
    )


def _concluded(
    it: Measured, pruned: PrunedTranscript, built: _Built, context: PassContext, room: int
) -> Outcome:
    before, after = it.weight(), context.scale.total(built.transcript)
    if after >= before:
        fits = "it fits" if before <= room else "nothing can be left out"
        report = Report.unchanged(len(it.transcript), before)
        return Unchanged(it.transcript, report, f"{fits}: {before:,} of {room:,} tokens")
    ensure_valid(built.transcript, it.transcript)
    if context.before_folding is not None and built.dropped:
        # There is no record that could take notes; memory keeps what it wants for itself.
        places = range(built.cuts.head, built.cuts.tail)
        context.before_folding(
            tuple(it.transcript[at] for at in places if at not in built.cuts.kept)
        )
    over = f"the window is still over its limit: {after:,} of {room:,} tokens"
    report = Report(
        tokens_before=before,
        tokens_after=after,
        messages_before=len(it.transcript),
        messages_after=len(built.transcript),
        head=built.cuts.head,
        folded=built.dropped,
        tail=built.tail,
        cuts=built.cuts,
        pruned=replace(pruned.counts, truncated=built.truncated),
        warnings=(*strays(it.transcript), *((over,) if after > room else ())),
    )
    return Pruned(built.transcript, report)
