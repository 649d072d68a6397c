"""Compaction: a transcript goes in, a smaller valid one comes out, and nothing is left unsaid.

Read in this order: `policy` (the knobs and their arithmetic), `report` (the outcomes), `previous`
(what an earlier pass left), `means`, `prune`, `truncate`, `cut`, `plan` (the decision as a value),
`live`, `said`, `checkpointing` (what the summary says), `assemble`, `repair`, `fold` (the window),
`proof`, `flow` (the algorithm on one page), then `request`, `result`, `progress` and `pressure`.
"""

from holdfast.compaction.flow import Flow, compaction
from holdfast.compaction.live import LiveState, PlanItem
from holdfast.compaction.means import Means
from holdfast.compaction.plan import Decision, Enough, Impossible, Nothing, Plan, decide
from holdfast.compaction.policy import SMALLEST_WINDOW, Policy, Shares
from holdfast.compaction.pressure import Preflight, Pressure, due, hygiene_due
from holdfast.compaction.progress import Cause, Progress, advice
from holdfast.compaction.report import (
    Abandoned,
    Cuts,
    Folded,
    Outcome,
    Pruned,
    PrunedCounts,
    Report,
    SummaryReport,
    Unchanged,
)
from holdfast.compaction.request import Request
from holdfast.compaction.result import CompactionReport

__all__ = [
    "SMALLEST_WINDOW",
    "Abandoned",
    "Cause",
    "CompactionReport",
    "Cuts",
    "Decision",
    "Enough",
    "Flow",
    "Folded",
    "Impossible",
    "LiveState",
    "Means",
    "Nothing",
    "Outcome",
    "Plan",
    "PlanItem",
    "Policy",
    "Preflight",
    "Pressure",
    "Progress",
    "Pruned",
    "PrunedCounts",
    "Report",
    "Request",
    "Shares",
    "SummaryReport",
    "Unchanged",
    "advice",
    "compaction",
    "decide",
    "due",
    "hygiene_due",
]
