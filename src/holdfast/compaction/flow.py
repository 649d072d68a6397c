"""The whole algorithm, as a generator: it yields asks and is sent answers.

One body of logic serves the blocking and the awaiting engine, and a test drives it with plain
values: `next(flow)`, `flow.send(answer)`.
"""

from __future__ import annotations

from collections.abc import Generator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, TypeAlias, assert_never

from holdfast.compaction.checkpointing import observed, record_room
from holdfast.compaction.fold import Fold, fold
from holdfast.compaction.plan import CompactionPlan, Enough, Impossible, Nothing
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
)
from holdfast.compaction.rules import decided, rules_left_out
from holdfast.summary import (
    Answer,
    Ask,
    Composed,
    Declined,
    Failure,
    Job,
    RecordDraft,
    derive_focus,
    draft,
    user_words,
    write,
)
from holdfast.tokens import load_of

if TYPE_CHECKING:
    from holdfast.compaction.live import LiveState
    from holdfast.compaction.policy import PassContext, Policy
    from holdfast.compaction.prune import PrunedTranscript
    from holdfast.transcript import Transcript

COVERED = "the deterministic record covers"
"""Stands in the warning about a record that no model wrote although one was asked."""
Flow: TypeAlias = Generator[Ask, Answer, Outcome]


@dataclass(frozen=True, slots=True)
class _Source:
    """What can be told, and where it came from."""

    draft: RecordDraft
    report: SummaryReport
    warnings: tuple[str, ...] = ()


def compaction(
    transcript: Transcript, policy: Policy, context: PassContext, *, force: bool = False
) -> Flow:
    """Compact a transcript, asking for summaries as needed."""
    decision = decided(transcript, policy, context, force=force)
    match decision:
        case Nothing(reason):
            return Unchanged(transcript, _untouched(transcript, context), reason)
        case Impossible(reason):
            return Abandoned(transcript, _untouched(transcript, context), reason)
        case Enough(window):
            return _pruned(transcript, window, policy, context)
        case CompactionPlan():
            return (yield from _folded(decision, policy, context))
        case _:
            assert_never(decision)


def _folded(plan: CompactionPlan, policy: Policy, context: PassContext) -> Flow:
    live = observed(plan, context)
    source = yield from _summarize(plan, policy, context, live)
    if isinstance(source, Declined):
        reason = context.redact(source.reason)
        return Abandoned(plan.source, _untouched(plan.source, context), reason, is_unwritten=True)
    built = fold(plan, source.draft, context, _with_notes(plan, context, live))
    load = load_of(built.transcript, context.scale)
    # Tokens are judged by the plan; here only bytes and images can be over their limits.
    over = replace(policy.budget, tokens=load.tokens).exceeded(load)
    bulky = tuple(f"the window is still over a limit: {each}" for each in over)
    return _concluded(plan, replace(source, warnings=(*source.warnings, *bulky)), built, context)


def _with_notes(plan: CompactionPlan, context: PassContext, live: LiveState) -> LiveState:
    """Let memory see what goes, at the last moment; what it notes stands in the live state."""
    if context.before_folding is None or not plan.folded:
        return live
    noted = context.before_folding(plan.folded).strip()
    return replace(live, remembered=(noted,) if noted else ())


def _untouched(transcript: Transcript, context: PassContext) -> Report:
    return Report.unchanged(len(transcript), context.scale.total(transcript))


def _pruned(
    transcript: Transcript, window: PrunedTranscript, policy: Policy, context: PassContext
) -> Pruned:
    scale, after = context.scale, context.scale.total(window.transcript)
    report = Report(
        tokens_before=scale.total(transcript),
        tokens_after=after,
        messages_before=len(transcript),
        messages_after=len(window.transcript),
        pruned=window.counts,
        warnings=(*strays(transcript), *_excess(after, policy.fit or policy.room_tokens)),
    )
    return Pruned(window.transcript, report)


def _summarize(
    plan: CompactionPlan, policy: Policy, context: PassContext, live: LiveState
) -> Generator[Ask, Answer, _Source | Declined]:
    said = user_words(plan.bare.transcript, opens=plan.bare.previous is None)
    job = Job(
        messages=plan.folded,
        previous=plan.bare.previous,
        budget=record_room(plan.shares),
        window=context.summarizer_window or 0,
        count=context.scale.text,
        redact=context.redact,
        today=context.today,
        focus=context.focus,
        hint="" if context.focus else derive_focus(plan.bare.transcript, context.redact),
        task=said[-1] if said else "",
        opening=said[0] if said else "",
        context=plan.bare.transcript,
        head=plan.cut.head,
        fresh=plan.bare.fresh,
        plan=live.plan,
    )
    warnings: tuple[str, ...] = ()
    if context.summarizer_window is not None:
        written = yield from write(job)
        if isinstance(written, Composed):
            origin = "chunked" if written.chunks > 1 else "model"
            report = SummaryReport(origin, written.model, chunks=written.chunks)
            told = draft(job, context.toolkit, written)
            return _Source(told, report, written.warnings)
        if written.failure is Failure.AUTH and _can_be_sent(plan, policy, context):
            return written
        if policy.abort_on_summary_failure:
            frozen = "the conversation stays as it is until it is compressed by hand or begun anew"
            return replace(written, reason=f"{written.reason}; {frozen}")
        reason = context.redact(written.reason)
        covered = f"{COVERED} {len(job.messages)} messages"
        warnings = (f"{reason}; {covered}",)
    return _Source(draft(job, context.toolkit), SummaryReport("deterministic"), warnings)


def _can_be_sent(plan: CompactionPlan, policy: Policy, context: PassContext) -> bool:
    """Say whether the conversation can go on as it is until somebody mends what is broken."""
    most = replace(policy.budget, tokens=policy.limit_tokens - policy.overhead)
    return not plan.shares.strict and not most.exceeded(load_of(plan.source, context.scale))


def _concluded(plan: CompactionPlan, source: _Source, built: Fold, context: PassContext) -> Outcome:
    before, after = plan.weight, context.scale.total(built.transcript)
    report = _report(built.plan, source, built, after)
    nothing = replace(Report.unchanged(len(plan.source), before), summary=report.summary)
    if after >= before:
        reason = f"the result would weigh {after:,} tokens, no less than the {before:,} it replaces"
        return Unchanged(plan.source, replace(nothing, warnings=report.warnings), reason)
    if not built.summary_tokens and not plan.shares.strict and before <= plan.shares.limit:
        reason = "a record would be no shorter than the few messages that it stands for"
        return Unchanged(plan.source, nothing, reason)
    ensure_valid(built.transcript, plan.bare.transcript)
    return Folded(built.transcript, report)


def _report(plan: CompactionPlan, source: _Source, built: Fold, after: int) -> Report:
    places = plan.bare.places
    tail = places[plan.cut.tail] if plan.cut.tail < len(places) else len(plan.source)
    missing = "there was no room for a summary: nothing stands for what was folded"
    return Report(
        tokens_before=plan.weight,
        tokens_after=after,
        messages_before=len(plan.source),
        messages_after=len(built.transcript),
        head=plan.cut.head,
        folded=len(plan.cut.folded()),
        tail=built.tail,
        cuts=Cuts(
            head=plan.cut.head,
            tail=tail,
            kept=tuple(places[at] for at in plan.cut.kept),
            why=plan.cut.why,
            opening=plan.opening,
        ),
        pruned=replace(plan.window.counts, truncated=built.truncated),
        summary=replace(source.report, tokens=built.summary_tokens),
        audit=built.audit,
        warnings=(
            *source.warnings,
            *strays((*plan.source[: plan.cut.head], *plan.source[tail:])),
            *(() if built.summary_tokens else (missing,)),
            *rules_left_out(built.transcript),
            *_excess(after, plan.shares.limit),
        ),
    )


def _excess(tokens: int, limit: int) -> tuple[str, ...]:
    if tokens <= limit:
        return ()
    return (f"the window is still over its limit: {tokens:,} of {limit:,} tokens",)
