"""Search as pure functions: how text is folded, how a query is read, ranked and shown.

Read in this order: `folding`, `query`, `values`, `term_index`, `ranking`, `ladder`, `wording`. What
is stored and how it is looked up belongs to the store.
"""

from holdfast.recall.folding import fold, normal, plain, spellings
from holdfast.recall.query import All, Either, Node, Query, Term, Without, parse
from holdfast.recall.values import Filters, Hit, MatchTier
from holdfast.recall.wording import DEFAULT_MARKS, matches, snippet

__all__ = [
    "DEFAULT_MARKS",
    "All",
    "Either",
    "Filters",
    "Hit",
    "MatchTier",
    "Node",
    "Query",
    "Term",
    "Without",
    "fold",
    "matches",
    "normal",
    "parse",
    "plain",
    "snippet",
    "spellings",
]
