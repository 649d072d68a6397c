"""The decision, as a value: what would be kept, folded and pruned, and why.

A plan can be printed, compared and thrown away; the dry run is free. It is made of a transcript
without summaries: what an earlier compaction left becomes state, not a turn.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import accumulate
from operator import sub
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from holdfast.compaction.cut import cut, head_ends, measured, must_stay, spoken, system_end
from holdfast.compaction.live import read_live, render_live
from holdfast.compaction.policy import LEAST, SOFT_CEILING
from holdfast.compaction.prune import (
    PrunedTranscript,
    can_weigh,
    prune,
    squeezed,
    truncate,
    without_bulk,
    without_old_media,
)
from holdfast.compaction.repair import repair
from holdfast.compaction.report import PrunedCounts
from holdfast.summary import (
    Heard,
    agreed_in,
    joined,
    read_checkpoint,
    referred,
    user_words,
    words_in,
)
from holdfast.summary.cues import is_said_of
from holdfast.summary.statements import clip_words, units
from holdfast.tokens import MESSAGE_TOKENS, SUMMARY_TOKENS, load_of
from holdfast.transcript import Message, Role, Summary, is_user_word
from holdfast.wire.markers import BLANK

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.compaction.cut import Cut, Measured
    from holdfast.compaction.policy import PassContext, Policy, Shares
    from holdfast.summary import Checkpoint
    from holdfast.tokens import Scale
    from holdfast.transcript import Transcript

SYSTEM_NOTE = (
    "[Earlier turns of this conversation were compacted into a summary. Files and systems may "
    "already reflect them. Persistent memory stays authoritative.]"
)

_ASKED, _RULES, _QUOTED = 2, 6, 160
"""Sentences of an opening that are quoted: what was asked, rules; and characters of each."""


@dataclass(frozen=True, slots=True)
class Bare:
    """A transcript without summaries, and what the newest of them said."""

    transcript: Transcript
    places: Sequence[int]
    """For each message, its index in the transcript it was taken from."""
    previous: Checkpoint | None
    fresh: int = 0
    """Where what came after the newest summary begins, words in the same message included."""
    after: int = 0
    """The same without words in the same message: an earlier pass left them there."""
    summary: str = ""
    """The text of the newest summary."""


def without_summaries(transcript: Transcript) -> Bare:
    """Take the summaries out of a transcript.

    Words that shared a message with a summary stay. At most one summary is ours, the first of
    those that are known to be. Any other, whoever wrote it and wherever it stands, is reference:
    its work and facts join the record, and nobody's words go out of sight because of it. It stays
    in its place behind ours, and where no reply has followed it yet.
    """
    if not any(type(part) is Summary for message in transcript for part in message.parts):
        return Bare(transcript, range(len(transcript)), None)
    kept: list[tuple[int, Message]] = []
    ours: Summary | None = None
    found: list[tuple[Summary, bool]] = []
    fresh = after = len(transcript)
    replies = [at for at, message in enumerate(transcript) if message.role is Role.ASSISTANT]
    for index, message in enumerate(transcript):
        summaries = [part for part in message.parts if isinstance(part, Summary)]
        rest = tuple(part for part in message.parts if not isinstance(part, Summary))
        is_answered = bool(rest) or index < (replies or [0])[-1]
        if summaries and ours is None and (summaries[0].is_ours or is_answered):
            fresh, after = len(kept), len(kept) + bool(rest)
            if summaries[0].is_ours:
                ours = summaries.pop(0)
            message = structs.replace(message, parts=rest, synthetic=None)
        opens = ours is None and not any(each.role is not Role.SYSTEM for _, each in kept)
        found += [(each, opens) for each in summaries]
        if message.parts:
            kept.append((index, message))
    bare = tuple(message for _, message in kept)
    if ours is None:
        asked = (at for at, message in enumerate(bare) if is_user_word(message))
        fresh = after = min(fresh, next(asked, 0))
    return Bare(
        bare,
        tuple(index for index, _ in kept),
        _previous(ours, found, bare),
        fresh,
        after,
        BLANK.join(each.text for each in (ours, *(each for each, _ in found)) if each),
    )


def _previous(
    ours: Summary | None, found: Sequence[tuple[Summary, bool]], transcript: Transcript
) -> Checkpoint | None:
    """Return what earlier summaries say: ours as it is, others as reference beside it.

    Of each other one it is known whether the conversation begins with it.
    """
    previous = None if ours is None else read_checkpoint(ours.text)
    if not found:
        return previous
    known = () if previous is None else words_in(previous)
    heard = Heard((*known, *user_words(transcript)), agreed=agreed_in(transcript))
    for each, opens in found:
        live = read_live(read_checkpoint(each.text, each.origin).live)
        claims = (live.goal, *live.rules, *live.approvals, *live.remembered)
        other = referred(each.text, each.origin, heard, tuple(filter(None, claims)), opens=opens)
        seen = replace(live, goal="", rules=(), approvals=(), remembered=())
        previous = joined(previous, replace(other, live=render_live(seen)))
    return previous


@dataclass(frozen=True, slots=True)
class KeptReply:
    """The newest words of the assistant that a person can see, with the calls made beside them."""

    places: range
    tokens: int
    """What they may weigh: results of the calls give way."""


def kept_reply(
    it: Measured, shares: Shares, context: PassContext, *, beside: int
) -> KeptReply | None:
    """Return the newest reply, if the window can hold it beside so many tokens and a summary.

    Its words stay whole. What its calls brought is cut where all of it weighs more than pins may,
    and told in a line each where that is not enough. Where every token counts, words beside calls
    are worth no more than pins.
    """
    places = spoken(it)
    whole = it.transcript[places.start : places.stop]
    tokens = context.scale.total(without_bulk(whole, shares.pins, context))
    is_remark = shares.strict and any(message.calls for message in whole)
    most = shares.limit - beside - LEAST - SUMMARY_TOKENS - MESSAGE_TOKENS
    most = min(most, shares.pins) if is_remark else most
    return KeptReply(places, tokens) if whole and tokens <= most else None


@dataclass(frozen=True, slots=True)
class CompactionPlan:
    """What will be done."""

    source: Transcript
    weight: int
    """What the source weighs."""
    bare: Bare
    measured: Measured
    """The bare transcript with the weight of each message."""
    cut: Cut
    shares: Shares
    window: PrunedTranscript
    """The bare transcript, with what stays in the window pruned: it is taken from here."""
    reply: KeptReply | None = None
    """The newest reply, where neither the tail nor the budget of pins would hold it."""
    opening: str = ""
    """Why the opening is not kept word for word, with what matters of it; empty where it is."""

    @property
    def folded(self) -> Transcript:
        """Return the messages that the summary will stand for, as they were said."""
        return tuple(map(self.bare.transcript.__getitem__, self.cut.folded()))


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


Decision: TypeAlias = CompactionPlan | Enough | Nothing | Impossible


def decide(transcript: Transcript, policy: Policy, context: PassContext) -> Decision:
    """Return what a compaction of the transcript would do.

    One that is forced compacts even when everything fits the budget of the tail.
    """
    scale, force = context.scale, context.request.force
    bare = without_summaries(transcript)
    it = measured(bare.transcript, scale)
    before = it.weight() if bare.transcript is transcript else scale.total(transcript)
    # What is over the threshold shrinks by its tokens, and its bytes and images with them.
    if policy.fit is None and before < policy.room_tokens:
        lighter = _too_bulky(transcript, policy, scale)
        if lighter is not None:
            return lighter if isinstance(lighter, Enough) else decide(transcript, lighter, context)
    smallest = scale.total(leanest(it, context).values())
    if policy.fit is not None and (answer := answer_to_fit(policy.fit, before, smallest)):
        return answer
    is_first = policy.fit is None and bare.previous is None
    head = system = system_end(bare.transcript)
    if is_first:
        ends = head_ends(it, policy.protect_first_n)
        ends = (*ends, *(seam for seam in reversed(it.seams) if system < seam < ends[-1]))
        head = next((at for at in ends if it.weight(system, at) <= policy.head_tokens), system)
    note = note_weight(bare.transcript[:head], scale)
    rules = sum(it.weights[at] for at in it.rules)
    fixed = it.weight(0, head) + note + MESSAGE_TOKENS + it.task() + rules

    def shared(aside: int) -> Shares:
        return policy.shares(
            fixed=fixed + aside,
            rest=max(it.weight() - fixed - aside, 0),
            previous=scale.text(bare.summary),
            tail=max((before - smallest) // 2, 1) if force else None,
            written=context.summarizer_window is not None,
        )

    shares, reply = _with_newest(it, shared(0), context), None
    chosen = cut(it, head, shares)
    if (said := spoken(it)) and said.start in chosen.folded():
        reply = kept_reply(it, shares, context, beside=fixed)
    if reply is not None:
        shares = _with_newest(it, shared(reply.tokens), context)
        chosen = cut(it, head, shares, reply.places)
    unpruned = PrunedTranscript(bare.transcript, PrunedCounts())
    opening = _unprotected(it, head, policy, context) if is_first else ""
    plan = CompactionPlan(transcript, before, bare, it, chosen, shares, unpruned, reply, opening)
    if (settled := _settled(plan, policy, context)) is not None:
        return settled
    return _pruned(plan, policy, context)


def _with_newest(it: Measured, shares: Shares, context: PassContext) -> Shares:
    """Return shares in which a strict tail has the newest results, cut where they weigh too much.

    No reply has followed them yet: what is done next is done about them.
    """
    newest = it.transcript[it.seams[-2] :] if shares.strict and len(it.seams) > 1 else ()
    if not newest or not newest[-1].results:
        return shares
    cropped = truncate(newest, shares.tail, context).messages
    return replace(shares, fewest=1) if context.scale.total(cropped) <= shares.tail else shares


def note_weight(head: Sequence[Message], scale: Scale) -> int:
    """Return what the note in the system prompt adds: nothing where an earlier pass wrote it."""
    system = [each for each in head if each.role is Role.SYSTEM][-1:]
    return 0 if system and SYSTEM_NOTE in system[0].text else scale.text(SYSTEM_NOTE)


def leanest(it: Measured, context: PassContext) -> dict[int, Message]:
    """Return what stays whatever happens, in its shortest form, by its index.

    The system prompt and the newest user message keep every word; the arguments and the partial
    results of calls that still wait are shortened.
    """
    words, staying = {*range(system_end(it.transcript)), it.newest}, must_stay(it)
    short = squeezed(tuple(it.transcript[at] for at in staying), context)
    pairs = zip(staying, short, strict=True)
    return {at: it.transcript[at] if at in words else each for at, each in pairs}


def answer_to_fit(fit: int, before: int, smallest: int) -> Nothing | Impossible | None:
    """Return why a fit needs no plan: it is reached already, or it cannot be."""
    if before <= fit:
        return Nothing(f"it fits already: {before:,} of {fit:,} tokens")
    if smallest > fit:
        return Impossible(
            f"{fit:,} tokens cannot hold the system prompt, the newest user message and calls "
            f"that still wait; the smallest possible fit is {smallest:,}"
        )
    return None


def _unprotected(it: Measured, head: int, policy: Policy, context: PassContext) -> str:
    """Say why a first fold does not keep the whole opening, and quote what matters of it.

    That is what was asked first, and the rules and values that stand there.
    """
    system, end = system_end(it.transcript), head_ends(it, policy.protect_first_n)[-1]
    if head >= end:
        return ""
    words = map(context.redact, user_words(it.transcript[head:end]))
    said = [unit for each in words for unit in units(each)]
    rules = [unit for unit in said if is_said_of(unit)]
    asked = [unit for unit in said if unit not in rules][:_ASKED]
    quotes = "; ".join(f'"{clip_words(unit, _QUOTED)}"' for unit in (*asked, *rules[:_RULES]))
    told = f"; of what the user said there: {quotes}" if quotes else ""
    return context.redact(
        f"messages {head} to {end - 1} of the opening are folded: all of it weighs "
        f"{it.weight(system, end):,} tokens, and {policy.head_tokens:,} may stay{told}"
    )


def _too_bulky(transcript: Transcript, policy: Policy, scale: Scale) -> Enough | Policy | None:
    """Return what makes a window fit that has too many bytes or images, whatever its tokens.

    Old media goes first. If that is not enough, the window is fitted into as many tokens as
    make up the bytes that are allowed.
    """
    load = load_of(transcript, scale)
    if load.bytes <= policy.max_bytes and load.images <= policy.max_images:
        return None
    shown = without_old_media(transcript)
    lighter = load_of(shown.messages, scale)
    if lighter.bytes > policy.max_bytes:
        share = 0.9 * policy.max_bytes / lighter.bytes
        return replace(policy, fit=max(int(lighter.tokens * share), 1))
    if shown.count:
        return Enough(PrunedTranscript(repair(shown.messages), PrunedCounts(media=shown.count)))
    return None


def _settled(plan: CompactionPlan, policy: Policy, context: PassContext) -> Enough | Nothing | None:
    """Return what is done where nothing can be folded, or nothing if something can.

    What came after the last summary is left alone while it fits the tail, also a tail that a
    heavy system prompt has made smaller, as long as the whole is under its limit. One huge output
    in the newest exchange fills a window although there is no middle yet: it is cut.
    """
    it, fresh, folded = plan.measured, plan.bare.fresh, plan.cut.folded()
    if plan.shares.strict or (folded and context.request.force):
        return None
    before, limit, reason = plan.weight, plan.shares.limit, "nothing lies between head and tail"
    if folded:
        rules = sum(it.weights[at] for at in it.rules)
        # A head that an earlier pass kept is light; more before a summary is not its doing.
        pins = sum(it.weights[at] for at in plan.cut.kept if at < fresh and at not in it.rules)
        head = it.weight(plan.cut.head, fresh) - rules - pins
        if plan.bare.previous is None or head > policy.head_tokens:
            return None
        roomy = int(policy.target_tokens * SOFT_CEILING) if before <= limit else 0
        fits = it.weight(fresh) - rules - it.task(fresh) <= max(plan.shares.ceiling, roomy)
        if not fits and folded[-1] >= plan.bare.after:
            return None
        reason = "nothing new since the last compaction: what came after it fits the tail"
    if before <= limit:
        return Nothing(reason)
    shown = without_old_media(plan.source)
    cropped = truncate(repair(shown.messages), limit, context)
    if context.scale.total(cropped.messages) < before:
        counts = PrunedCounts(media=shown.count, truncated=cropped.count)
        return Enough(PrunedTranscript(cropped.messages, counts))
    return Nothing(f"{reason}, and the window is over its limit: {before:,} of {limit:,}")


def grow(plan: CompactionPlan, spare: int, context: PassContext) -> CompactionPlan:
    """Return the plan with tokens that were left over given to the tail."""
    tail = plan.shares.tail + spare
    grown = replace(plan.shares, tail=tail, ceiling=tail)
    aside = plan.reply.places if plan.reply else range(0)
    chosen = cut(plan.measured, plan.cut.head, grown, aside)
    return _windowed(replace(plan, shares=grown, cut=chosen), context)


def _pruned(plan: CompactionPlan, policy: Policy, context: PassContext) -> CompactionPlan | Enough:
    """Prune, and say whether that is enough.

    The protected tail is the cut's, with `protect_last_n` messages as the floor; a fit has no
    such floor, because its size comes first.
    """
    it, whole, scale = plan.measured, plan.bare.transcript, context.scale
    protected, target, limit = plan.cut.tail, policy.target_tokens, plan.shares.limit
    if not plan.shares.strict:
        protected = max(min(protected, len(whole) - policy.protect_last_n), plan.cut.head)
    left = target - it.weight(protected)
    if plan.bare.previous is None and can_weigh(left, whole[:protected], it.weights, scale):
        pruned = prune(whole, context, protected=protected)
        window = replace(pruned, transcript=repair(pruned.transcript))
        # A line that tells of an output is shorter than it, and may weigh more all the same.
        most = min(target, plan.weight - 1)
        if window.counts.any and scale.total(window.transcript) <= most:
            if plan.shares.strict and len(window.transcript) == len(whole):
                # Only as much old output is shortened as a fit of that size needs.
                saved = accumulate(map(sub, it.weights, map(scale.weigh, window.transcript)))
                over = it.weight() - limit
                at = next((at for at, tokens in enumerate(saved, 1) if tokens >= over), len(whole))
                less = pruned.until(at) if at <= protected else prune(whole, context, protected=at)
                fuller = repair(less.transcript)
                if at < len(whole) and scale.total(fuller) <= limit:
                    window = replace(less, transcript=fuller)
            return Enough(window)
    return _windowed(plan, context)


def _windowed(plan: CompactionPlan, context: PassContext) -> CompactionPlan:
    """Prune what stays of the middle; the head stays whole."""
    chosen, reply = plan.cut, plan.reply
    window = prune(plan.bare.transcript, context, protected=chosen.tail, only=chosen.kept)
    if reply is not None and reply.places.start in chosen.kept:
        whole, start, stop = window.transcript, reply.places.start, reply.places.stop
        shown = without_bulk(whole[start:stop], reply.tokens, context)
        window = replace(window, transcript=(*whole[:start], *shown, *whole[stop:]))
    return replace(plan, window=window)
