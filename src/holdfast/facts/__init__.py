"""Exact names: what counts as one, and the ledger of those that a record does not tell."""

from holdfast.facts.ledger import ledger

__all__ = ["ledger"]
