"""Everything that a summary says: the live state, the record, users' words, the ledger.

What is true now comes first, then the record, which takes nearly all of the room; users' words
that it does not tell whole; and names in few words, within a tenth of the whole.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction.live import render_live
from holdfast.compaction.policy import LEAST
from holdfast.facts import ledger
from holdfast.summary import Checkpoint, render, render_checkpoint
from holdfast.summary.statements import MORE, Origin, StatementKind, is_code
from holdfast.summary.story import LOOKS, narrates
from holdfast.transcript import said_at

if TYPE_CHECKING:
    from collections.abc import Callable, Container, Sequence

    from holdfast.compaction.live import LiveState, PlanItem
    from holdfast.compaction.plan import CompactionPlan
    from holdfast.compaction.policy import PassContext
    from holdfast.summary import RecordDraft, Statement

_OF_LIVE = 0.25
_OF_ENDED, _OF_ITEM = 0.08, 8
"""What finished steps of a plan may take of the live state, and what the line of one weighs."""
_OF_LEDGER, _OF_LEDGER_WRITTEN, _AMPLE = 0.07, 0.03, 1_500
"""The share of the ledger, also beside what a model wrote, and tokens of a summary from which on
it has all of it."""
_EDITS = ("EDITED|", "WROTE|")
_JOINTS = 12
"""Tokens for the headings of what stands beside the record."""


@dataclass(frozen=True, slots=True)
class Summarized:
    """The text of a summary, and the part of it that is the record."""

    text: str = ""
    record: str = ""


@dataclass(frozen=True, slots=True)
class SummarySource:
    """What a summary is made from."""

    draft: RecordDraft
    live: LiveState
    count: Callable[[str], int]
    """Weighs words, each once: a window may be built several times."""


def compose(
    plan: CompactionPlan,
    told: SummarySource,
    context: PassContext,
    *,
    shown: Container[int],
    around: str,
    budget: int,
) -> Summarized:
    """Return the summary within a budget, redacted; nothing where there is room for nothing.

    The messages `shown` stay in the window and need no telling; the names in their words, which
    are `around` the summary, need no listing.
    """
    count, shares = told.count, plan.shares
    draft = told.draft
    live = _live(told.live, context, min(shares.live, int(budget * _OF_LIVE)), shares.limit)
    folded = len(plan.cut.folded())
    by = f"by {draft.writer}" if draft.writer else "without a model"
    note = f"Written {by} from {folded:,} messages; the older a turn, the less is told of it."
    if recall := context.request.recall:
        verb = "brings" if len(recall) == 1 else "bring"
        note += f" {' and '.join(recall)} {verb} back the originals."
    left = budget - sum(count(part) + _JOINTS for part in (live, note) if part)
    # In a small window a sentence says more than a name, and so does what a model wrote.
    of_ledger = (_OF_LEDGER_WRITTEN if draft.writer else _OF_LEDGER) * min(1.0, budget / _AMPLE)
    room = int(left * (1 - of_ledger))
    if not shares.strict:
        room = min(max(shares.record, LEAST), room)
    record, chosen = draft.record(room, count, shown)
    if not record:
        return Summarized()
    written = render(record)
    proof_room = int((budget - left + count(written)) * of_ledger) - _JOINTS
    left -= count(written) + max(proof_room, 0)
    said = _said(plan, context, written, draft.outdated, min(shares.said, left - _JOINTS))
    present = "\n".join((written, *said, live))
    chosen_ids = set(map(id, chosen))
    untold = [each for each in draft.told(shown) if id(each) not in chosen_ids and _is_proof(each)]
    proof = ledger(
        [each for each in untold if each.section != "evidence"],
        present=present,
        budget=proof_room,
        count=count,
        earlier=[each for each in untold if each.section == "evidence"],
        around=around,
    )
    spare = proof_room - count(proof)
    if shares.strict and spare > _JOINTS:
        # Where few names are left to tell, the record takes what they do not need.
        record, _ = draft.record(room + spare, count, shown)
    text = render_checkpoint(Checkpoint(record, proof, said, live, note=note))
    return Summarized(context.redact(text), render(record))


def _is_proof(told: Statement) -> bool:
    """Say whether a statement may be evidence: code, narration and a file that was read are none.

    Nor is what an edit put into a file, which the line of an earlier record holds: a later edit may
    have put another thing there.
    """
    return not (
        (told.section == "files" and told.kind is StatementKind.LOOK)
        or told.label.partition("|")[0] in LOOKS
        or told.label == MORE
        or (told.origin is Origin.EARLIER and told.label.startswith(_EDITS))
        or is_code(told.text)
        or narrates(told.text)
    )


def _said(
    plan: CompactionPlan, context: PassContext, written: str, outdated: Sequence[str], budget: int
) -> tuple[str, ...]:
    """Return the newest words of users that the record does not tell whole, word for word.

    Words that hold something outdated are not quoted: a reader would take it for current.
    """
    told = "".join(written.split())
    quotes: list[str] = []
    for index in reversed(plan.cut.folded()):
        if budget <= _JOINTS:
            break
        words = said_at(plan.bare.transcript, index)
        if not words or "".join(words.split()) in told or words in quotes:
            continue
        if any(each in words for each in outdated):
            continue
        cost = context.scale.text(words) + 2
        if cost <= budget:
            quotes.append(words)
            budget -= cost
    return tuple(quotes)


def _live(state: LiveState, context: PassContext, budget: int, limit: int) -> str:
    """Return the live state as far as it fits.

    The plan gives way to the budget, finished steps first: the record tells what was done, so
    that they are counted where they do not fit into a small part of it. Goal and rules may take
    more, because a rule that is left out is a rule that is broken; where a quarter of the window
    does not hold them, the last ones go and a line says so.
    """
    ended = [item for item in state.plan if item.is_done]
    weights = [context.scale.text(item.text) + _OF_ITEM for item in ended]
    while ended and sum(weights) > budget * _OF_ENDED:
        weights.pop(0)
        state = _without_item(state, ended.pop(0))
    while state.plan and context.scale.text(render_live(state)) > budget:
        state = _without_item(state, next(iter(ended), state.plan[-1]))
        ended = ended[1:]
    most = max(budget, int(limit * _OF_LIVE))
    text = render_live(state)
    for left_out in range(1, len(state.rules) + 1):
        if context.scale.text(text) <= most:
            break
        note = f"({left_out} more rules do not fit into this window)"
        text = render_live(replace(state, rules=(*state.rules[:-left_out], note)))
    return text


def _without_item(state: LiveState, item: PlanItem) -> LiveState:
    plan = tuple(each for each in state.plan if each is not item)
    return replace(state, plan=plan, finished=state.finished + item.is_done)
