"""Exact facts: found in messages, ranked by what the agent is likely to need, checked, packed.

Read in this order: `rules`, `extract`, `gather`, `rank`, `audit`, `ledger`.
"""

from holdfast.facts.audit import Audit, Presence, audit
from holdfast.facts.extract import extract
from holdfast.facts.gather import Evidence, gather
from holdfast.facts.ledger import ledger
from holdfast.facts.rank import rank
from holdfast.facts.rules import Fact, Kind

__all__ = [
    "Audit",
    "Evidence",
    "Fact",
    "Kind",
    "Presence",
    "audit",
    "extract",
    "gather",
    "ledger",
    "rank",
]
