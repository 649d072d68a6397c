"""The whole algorithm, as a generator: it yields asks and is sent answers.

One body of logic serves the blocking and the awaiting engine, and a test drives it with plain
values: `next(flow)`, `flow.send(answer)`.

Rules of project files are taken out of what a pass would fold, so that they stay word for word.
What a client puts into the conversation of them is told once: behind the newest user message that
holds them, or in a block that stands beside the summary. The newest version of a file wins.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import replace
from functools import cache
from itertools import chain
from typing import TYPE_CHECKING, TypeAlias, assert_never

from msgspec import structs

from holdfast.compaction.fold import Fold, SummarySource, fold, words_of
from holdfast.compaction.live import LiveState, observe, read_live
from holdfast.compaction.plan import CompactionPlan, Enough, Impossible, Nothing, decide, leanest
from holdfast.compaction.policy import LEAST
from holdfast.compaction.repair import ensure_valid, strays
from holdfast.compaction.report import (
    Abandoned,
    Cuts,
    Folded,
    Outcome,
    Pruned,
    Report,
    SummaryReport,
    Unchanged,
    excess,
)
from holdfast.summary import (
    Answer,
    Ask,
    Composed,
    Declined,
    Failure,
    Job,
    audit,
    derive_focus,
    draft,
    user_words,
    write,
)
from holdfast.tokens import load_of
from holdfast.transcript import Role
from holdfast.transcript.project_rules import blocks_in, fitted_rules, rules_block, rules_in

if TYPE_CHECKING:
    from holdfast.compaction.plan import Decision
    from holdfast.compaction.policy import PassContext, Policy
    from holdfast.tokens import Load
    from holdfast.transcript import Message, Transcript
    from holdfast.transcript.project_rules import ProjectRules

COVERED = "the deterministic record covers"
"""Stands in the warning about a record that no model wrote although one was asked."""
_OF_WINDOW, _OF_FIT = 4, 8
"""Rules may have one part in this many of what the window may weigh, and less of a fit, which is
often so small that they would leave no room to tell what was done."""
_SPARE = 600
"""Tokens that a fit needs beside them for a short record and a tail."""
Flow: TypeAlias = Generator[Ask, Answer, Outcome]


def compaction(transcript: Transcript, policy: Policy, context: PassContext) -> Flow:
    """Compact a transcript, asking for summaries as needed."""
    plan = decided(transcript, policy, context)
    before = plan.weight if isinstance(plan, CompactionPlan) else context.scale.total(transcript)
    untouched = Report.unchanged(len(transcript), before)
    match plan:
        case Nothing(reason):
            return Unchanged(transcript, untouched, reason)
        case Impossible(reason):
            return Abandoned(transcript, untouched, reason)
        case Enough(window):
            after = context.scale.total(window.transcript)
            report = replace(
                untouched,
                tokens_after=after,
                messages_after=len(window.transcript),
                pruned=window.counts,
                warnings=(*strays(transcript), *excess(after, policy.fit or policy.room_tokens)),
            )
            return Pruned(window.transcript, report)
        case CompactionPlan():
            pass
        case _:
            assert_never(plan)
    older = read_live(plan.bare.previous.live) if plan.bare.previous else LiveState()
    live = context.host.over(observe(plan.bare.transcript, context.toolkit, older))
    source = yield from _summarize(plan, policy, context, live)
    if isinstance(source, Declined):
        return Abandoned(transcript, untouched, context.redact(source.reason), is_unwritten=True)
    before_folding = context.request.before_folding
    if before_folding is not None and (folded := plan.folded):
        # Memory sees what goes at the last moment; what it notes stands in the live state.
        noted = before_folding(folded).strip()
        live = replace(live, remembered=(noted,) if noted else ())
    built = fold(plan, replace(source, live=live), context)
    load = load_of(built.transcript, context.scale)
    report = _report(source, built, load, policy, context)
    untouched = replace(untouched, summary=report.summary)
    if load.tokens >= before:
        sizes = f"{load.tokens:,} tokens, no less than the {before:,} it replaces"
        untouched = replace(untouched, warnings=report.warnings)
        return Unchanged(transcript, untouched, f"the result would weigh {sizes}")
    if not built.text and not plan.shares.strict and before <= plan.shares.limit:
        reason = "a record would be no shorter than the few messages that it stands for"
        return Unchanged(transcript, untouched, reason)
    ensure_valid(built.transcript, plan.bare.transcript)
    return Folded(built.transcript, report)


def _summarize(
    plan: CompactionPlan, policy: Policy, context: PassContext, live: LiveState
) -> Generator[Ask, Answer, SummarySource | Declined]:
    said = user_words(plan.bare.transcript, opens=plan.bare.previous is None)
    job = Job(
        messages=plan.folded,
        previous=plan.bare.previous,
        budget=max(plan.shares.record, LEAST),
        window=context.summarizer_window or 0,
        count=context.scale.text,
        redact=context.redact,
        today=context.today,
        focus=context.request.focus,
        hint="" if context.request.focus else derive_focus(plan.bare.transcript, context.redact),
        task=said[-1] if said else "",
        opening=said[0] if said else "",
        context=plan.bare.transcript,
        head=plan.cut.head,
        fresh=plan.bare.fresh,
        plan=live.plan,
    )
    count, warnings = cache(context.scale.summary), ()
    if context.summarizer_window is not None:
        written = yield from write(job)
        if isinstance(written, Composed):
            origin = "chunked" if written.chunks > 1 else "model"
            report = SummaryReport(origin, written.model, chunks=written.chunks)
            told = draft(job, context.toolkit, written)
            return SummarySource(told, report, live, count, written.warnings)
        # Until somebody mends what is broken, the conversation may go on as it is.
        most = replace(policy.budget, tokens=policy.limit_tokens - policy.overhead)
        can_be_sent = not most.exceeded(load_of(plan.source, context.scale))
        if written.failure is Failure.AUTH and can_be_sent and not plan.shares.strict:
            return written
        if policy.abort_on_summary_failure:
            frozen = "the conversation stays as it is until it is compressed by hand or begun anew"
            return replace(written, reason=f"{written.reason}; {frozen}")
        covered = f"{COVERED} {len(job.messages)} messages"
        warnings = (f"{context.redact(written.reason)}; {covered}",)
    told, report = draft(job, context.toolkit), SummaryReport("deterministic")
    return SummarySource(told, report, live, count, warnings)


def _report(
    source: SummarySource, built: Fold, load: Load, policy: Policy, context: PassContext
) -> Report:
    frame, plan = built.frame, built.frame.plan
    chosen, places = plan.cut, plan.bare.places
    tail = places[chosen.tail] if chosen.tail < len(places) else len(plan.source)
    kept = tuple(places[at] for at in chosen.kept)
    # Tokens are judged by the plan; of others only bytes and images can be over their limits.
    over = replace(policy.budget, tokens=load.tokens).exceeded(load)
    window = f"{built.text}\n{words_of((*frame.head, *frame.kept, *frame.tail))}"
    missing = "there was no room for a summary: nothing stands for what was folded"
    return Report(
        tokens_before=plan.weight,
        tokens_after=load.tokens,
        messages_before=len(plan.source),
        messages_after=len(built.transcript),
        head=chosen.head,
        folded=len(chosen.folded()),
        tail=len(frame.tail),
        cuts=Cuts(chosen.head, tail, kept, chosen.why, plan.opening),
        pruned=replace(plan.window.counts, truncated=frame.truncated),
        summary=replace(source.report, tokens=context.scale.text(built.text)),
        audit=audit(source.draft.statements, built.record, window, source.draft.outdated),
        warnings=(
            *source.warnings,
            *(f"the window is still over a limit: {each}" for each in over),
            *strays((*plan.source[: chosen.head], *plan.source[tail:])),
            *(() if built.text else (missing,)),
            *rules_left_out(built.transcript),
            *excess(load.tokens, plan.shares.limit),
        ),
    )


def decided(transcript: Transcript, policy: Policy, context: PassContext) -> Decision:
    """Return what a compaction would do, with the rules of project files beside its summary.

    They stand in a block of their own, unless they are told so already.
    """
    plan = decide(transcript, policy, context)
    if not isinstance(plan, CompactionPlan):
        return plan
    it, places = plan.measured, plan.bare.places
    shown = {*places[: plan.cut.head], *(() if it.newest is None else (places[it.newest],))}
    versions: dict[str, tuple[int, ProjectRules]] = {}
    for at, message in enumerate(transcript):
        # Hardly one message in twenty is a user's: the role is asked before anything is called.
        if message.role is Role.USER:
            versions |= {rules.source: (at, rules) for rules in rules_in(message)}
    # What the client's own words tell beside the summary needs no telling.
    told = [
        rules for at, rules in versions.values() if at not in shown or blocks_in(transcript[at])
    ]
    limit = policy.fit or policy.room_tokens
    most = limit // _OF_WINDOW
    if policy.fit is not None:
        least = context.scale.total(leanest(it, context).values())
        most = min(limit // _OF_FIT, limit - least - _SPARE)
    kept = fitted_rules(told, most, context.scale.text)
    block = rules_block(kept).parts if kept else ()
    if tuple(chain.from_iterable(map(blocks_in, transcript))) == block:
        return plan
    pairs: list[tuple[int, Message]] = []
    for at, message in enumerate(transcript):
        ours = blocks_in(message)
        rest = tuple(part for part in message.parts if part not in ours) if ours else message.parts
        if rest or not ours:
            pairs.append((at, structs.replace(message, parts=rest) if ours else message))
    if kept:
        head = places[plan.cut.head] if plan.cut.head < len(places) else 0
        first = next((at for at, (place, _) in enumerate(pairs) if place >= head), len(pairs))
        pairs.insert(first, (head, rules_block(kept)))
    again = decide(tuple(message for _, message in pairs), policy, context)
    if not isinstance(again, CompactionPlan):
        return plan
    bare = replace(again.bare, places=[pairs[at][0] for at in again.bare.places])
    return replace(again, source=transcript, weight=plan.weight, bare=bare)


def rules_left_out(transcript: Transcript) -> tuple[str, ...]:
    """Return what a window says no longer of project files, a sentence for each file."""
    blocks = (message for message in transcript if blocks_in(message))
    found = (rules for message in blocks for rules in rules_in(message) if rules.left_out)
    return tuple(
        f"of {rules.source} there is no room for: {'; '.join(rules.left_out)}" for rules in found
    )
