"""Compaction for people who want no model and no summary: pruning and a tail.

Stale tool output is shortened first. What is still too heavy then leaves the window oldest first,
whole exchanges at a time. The system prompt, the opening of the conversation, the newest user
message, calls that still wait and what fits of the pins stay.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.compaction.cut import cut, head_ends, measured, spoken, system_end
from holdfast.compaction.fold import assemble, noted
from holdfast.compaction.plan import Nothing, answer_to_fit, leanest
from holdfast.compaction.policy import Shares
from holdfast.compaction.prune import prune, truncate, without_bulk
from holdfast.compaction.repair import ensure_valid, repair, strays
from holdfast.compaction.report import Abandoned, Cuts, Pruned, Report, Unchanged, excess
from holdfast.tokens import load_of

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.compaction.cut import Measured
    from holdfast.compaction.flow import Flow
    from holdfast.compaction.policy import PassContext, Policy
    from holdfast.compaction.prune import PrunedTranscript
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


def truncation(transcript: Transcript, policy: Policy, context: PassContext) -> Flow:
    """Truncate a transcript; the flow asks for nothing, and ends like that of a compaction."""
    yield from ()
    scale, strict = context.scale, policy.fit is not None
    it = measured(transcript, scale)
    before, smallest = it.weight(), scale.total(leanest(it, context).values())
    if policy.fit is not None and (answer := answer_to_fit(policy.fit, before, smallest)):
        ending = Unchanged if isinstance(answer, Nothing) else Abandoned
        return ending(transcript, Report.unchanged(len(transcript), before), answer.reason)
    # What is stale before the verbatim tail is shortened; a fit has no floor of messages.
    tail = policy.target_tokens // (_OF_THRESHOLD if strict else 1)
    verbatim = cut(it, system_end(transcript), _shares(tail, 0, strict=strict)).tail
    if not strict:
        verbatim = min(verbatim, max(len(transcript) - policy.protect_last_n, 0))
    shorter = prune(transcript, context, protected=verbatim)
    room = policy.fit or policy.room_tokens // _OF_THRESHOLD
    load = load_of(shorter.transcript, scale)
    if load.bytes > policy.max_bytes:
        # Too many bytes are as many tokens less.
        room = min(room, int(load.tokens * _UNDER_BYTES * policy.max_bytes / load.bytes))
    if context.request.force and not strict:
        # Somebody asked for a smaller window: half of what may go goes.
        room = min(room, (before + smallest) // 2)
    windows = _windows(shorter, policy, context, room)
    built = next(windows)
    while scale.total(built.transcript) > room and (tighter := next(windows, None)):
        built = tighter
    return _concluded(it, built, context, room)


def _windows(
    shorter: PrunedTranscript, policy: Policy, context: PassContext, room: int
) -> Iterator[Pruned]:
    """Yield the whole if it fits, or windows with a shorter and shorter tail."""
    scale, strict, whole = context.scale, policy.fit is not None, shorter.transcript
    it, system = measured(whole, scale), system_end(whole)
    if it.weight() <= room:
        yield Pruned(repair(whole), Report(cuts=Cuts(tail=len(whole)), pruned=shorter.counts))
        return
    lean = leanest(it, context)
    spare = max(room - sum(it.weights[at] for at in lean) - scale.text(LEFT_OUT), 0)
    # The opening says what the conversation is for. A record that another engine left stands for
    # what was said before, and belongs to it.
    records = [at + 1 - system for at, message in enumerate(whole) if message.summary]
    ends = head_ends(it, max([0 if strict else policy.protect_first_n, *records[:1]]))
    affordable, pins = int(spare * _HEAD_OF_SPARE), int(spare * _PINS_OF_SPARE)
    head = next((end for end in ends if it.weight(system, end) <= affordable), system)
    left = max(spare - pins - it.weight(system, head), 0)
    said = spoken(it)
    reply = without_bulk(whole[said.start : said.stop], pins, context)
    without_reply = left - scale.total(reply)
    told = dict(zip(said, reply, strict=True))
    for factor in _LADDER:
        tail = int(left * factor)
        chosen = cut(it, head, _shares(tail, pins, strict=strict))
        if said and said.start in chosen.folded() and without_reply >= 0:
            # The newest reply that a person can see stays, and the tail is as much shorter.
            tail = min(tail, without_reply)
            chosen = cut(it, head, _shares(tail, pins, strict=strict), said)
        cropped = truncate(whole[chosen.tail :], tail + it.task(chosen.tail), context)
        dropped = len(chosen.folded())
        opening = noted(whole[:head], LEFT_OUT) if dropped else whole[:head]
        kept = tuple(told.get(at, whole[at]) for at in chosen.kept)
        figures = Report(
            head=head,
            folded=dropped,
            tail=len(cropped.messages),
            cuts=Cuts(head, chosen.tail, chosen.kept, chosen.why),
            pruned=replace(shorter.counts, truncated=cropped.count),
        )
        yield Pruned(repair(assemble(opening, "", kept, cropped.messages)), figures)
    bare = tuple(lean.values())
    cuts = Cuts(system, len(whole), tuple(lean)[system:], "only what must stay fits")
    figures = Report(head=system, folded=len(whole) - len(lean), cuts=cuts, pruned=shorter.counts)
    yield Pruned(repair(assemble(bare[:system], "", bare[system:], ())), figures)


def _shares(tail: int, pins: int, *, strict: bool) -> Shares:
    """Return shares in which the tail takes what nothing else asks for.

    The tail has no ceiling above its budget: a second pass must find the same edge.
    """
    fewest = 1 if strict else _FEWEST
    return Shares(limit=tail, tail=tail, ceiling=tail, pins=pins, fewest=fewest, strict=strict)


def _concluded(it: Measured, built: Pruned, context: PassContext, room: int) -> Outcome:
    before, after = it.weight(), context.scale.total(built.transcript)
    if after >= before:
        fits = "it fits" if before <= room else "nothing can be left out"
        report = Report.unchanged(len(it.transcript), before)
        return Unchanged(it.transcript, report, f"{fits}: {before:,} of {room:,} tokens")
    ensure_valid(built.transcript, it.transcript)
    if context.request.before_folding is not None and built.report.folded:
        # There is no record that could take notes; memory keeps what it wants for itself.
        cuts = built.report.cuts
        left_out = (at for at in range(cuts.head, cuts.tail) if at not in cuts.kept)
        context.request.before_folding(tuple(it.transcript[at] for at in left_out))
    report = replace(
        built.report,
        tokens_before=before,
        tokens_after=after,
        messages_before=len(it.transcript),
        messages_after=len(built.transcript),
        warnings=(*strays(it.transcript), *excess(after, room)),
    )
    return Pruned(built.transcript, report)
