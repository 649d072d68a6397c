"""Exact names: what counts as one, and the ledger of those that a record does not tell."""

from holdfast.facts.ledger import ledger
from holdfast.facts.rules import Fact, Kind, read_run, runs

__all__ = ["Fact", "Kind", "ledger", "read_run", "runs"]
