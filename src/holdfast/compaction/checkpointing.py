"""Everything that a summary says: the record, what users said, the live state, the ledger."""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.compaction.live import LiveState, observe, read_live, render_live
from holdfast.compaction.said import quote, standing
from holdfast.facts import ledger
from holdfast.summary import (
    Checkpoint,
    lasting_words,
    render,
    render_checkpoint,
    trim,
    user_words,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.compaction.means import Means
    from holdfast.compaction.plan import Plan
    from holdfast.facts import Evidence
    from holdfast.summary import Record

__all__ = ["Draft", "compose"]

_MOST_RULES = 0.25
_LEDGER_OF_REST = 0.5
"""What the record leaves of its share, the ledger may use half of."""


@dataclass(frozen=True, slots=True)
class Draft:
    """What a summary is made from: a record, and the facts of what it stands for, best first."""

    record: Record
    evidence: Sequence[Evidence]


def compose(plan: Plan, draft: Draft, means: Means, *, around: str, factor: float) -> str:
    """Return the text of the summary, redacted, within `factor` times its shares.

    The ledger comes last: it holds the best ranked facts that stand nowhere else in the window.
    """
    if factor <= 0:
        return ""
    shares, count = plan.shares, means.scale.text
    kept = trim(draft.record, int(shares.record * factor), count)
    lasting = _lasting(plan, means, int(shares.lasting * factor))
    said = _said(plan, means, lasting, int(shares.said * factor))
    live = _live(plan, means, int(shares.live * factor))
    written = render(kept)
    spare = max(int(shares.record * factor) - count(written), 0)
    proof = ledger(
        draft.evidence,
        present="\n".join((written, *lasting, *said, live, around)),
        budget=int(shares.ledger * factor) + int(spare * _LEDGER_OF_REST),
        count=count,
    )
    return means.redact(render_checkpoint(Checkpoint(kept, proof, said, live, lasting)))


def _lasting(plan: Plan, means: Means, budget: int) -> tuple[str, ...]:
    carried = plan.bare.previous.lasting if plan.bare.previous else ()
    # A head that an earlier pass kept is folded now, and it is older than what that pass carried.
    older = bisect_left(plan.cut.folded(), plan.bare.fresh)
    folded = plan.folded
    words = lasting_words(folded[:older], carried, folded[older:])
    return standing(words, budget, means.scale.text)


def _said(plan: Plan, means: Means, lasting: Sequence[str], budget: int) -> tuple[str, ...]:
    """Return the newest words of users that are not quoted as lasting."""
    newest_first = user_words(plan.folded)[::-1]
    earlier = plan.bare.previous.said if plan.bare.previous else ()
    others = [words for words in (*newest_first, *earlier) if words.strip() not in lasting]
    return quote(others, budget, means.scale.text)


def _live(plan: Plan, means: Means, budget: int) -> str:
    """Return the live state after all events.

    The plan gives way to the budget, finished steps first. Goal and rules may take more, because
    a rule that is left out is a rule that is broken; where a quarter of the window does not hold
    them, the last ones go and a line says so.
    """
    before = read_live(plan.bare.previous.live) if plan.bare.previous else LiveState()
    state = means.host.over(observe(plan.bare.transcript, means.toolkit, before))
    while state.plan and means.scale.text(render_live(state)) > budget:
        done = next((item for item in state.plan if item.is_done), state.plan[-1])
        kept = [item for item in state.plan if item is not done]
        state = replace(state, plan=tuple(kept))
    return _with_rules(state, max(budget, int(plan.shares.limit * _MOST_RULES)), means)


def _with_rules(state: LiveState, most: int, means: Means) -> str:
    text = render_live(state)
    for left_out in range(1, len(state.rules) + 1):
        if means.scale.text(text) <= most:
            break
        note = f"({left_out} more rules do not fit into this window)"
        text = render_live(replace(state, rules=(*state.rules[:-left_out], note)))
    return text
