"""Compaction: a transcript goes in, a smaller valid one comes out, and nothing is left unsaid.

Read in this order: `policy` (the knobs, their arithmetic, and what a pass is given), `report` (the
outcomes), `live` (what is true now), `prune`, `cut`, `plan` (the decision as a value), `repair`,
`fold` (the window, and what its summary says), `flow` (the algorithm on one page), then `triggers`
(when it begins and stops) and `truncation` (the same with no summary).
"""

from holdfast.compaction.flow import Flow, compaction
from holdfast.compaction.live import LiveState, PlanItem
from holdfast.compaction.plan import CompactionPlan, Decision, Enough, Impossible, Nothing, decide
from holdfast.compaction.policy import SMALLEST_WINDOW, PassContext, Policy, Request
from holdfast.compaction.report import (
    Abandoned,
    CompactionReport,
    Folded,
    Outcome,
    Pruned,
    PrunedCounts,
    Report,
    SummaryReport,
    Unchanged,
)
from holdfast.compaction.triggers import (
    Overhead,
    Preflight,
    Pressure,
    Progress,
    StallCause,
    advice,
    due,
    hygiene_due,
)

__all__ = [
    "SMALLEST_WINDOW",
    "Abandoned",
    "CompactionPlan",
    "CompactionReport",
    "Decision",
    "Enough",
    "Flow",
    "Folded",
    "Impossible",
    "LiveState",
    "Nothing",
    "Outcome",
    "Overhead",
    "PassContext",
    "PlanItem",
    "Policy",
    "Preflight",
    "Pressure",
    "Progress",
    "Pruned",
    "PrunedCounts",
    "Report",
    "Request",
    "StallCause",
    "SummaryReport",
    "Unchanged",
    "advice",
    "compaction",
    "decide",
    "due",
    "hygiene_due",
]
