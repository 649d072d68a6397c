"""Prompt caching: marking what is worth keeping, and the accountant that knows what it brings.

Read in this order: `support`, `marks`, `blocks`, `spine`, `reader`, `chain`, `weights`,
`shelf`, `calls`, `accountant`, `payoff`.
"""

from holdfast.caching.accountant import Accountant, Terms
from holdfast.caching.blocks import Block, Sent, weigh_block
from holdfast.caching.calls import Call, Expectation, Tally
from holdfast.caching.chain import Changed, Extended, First, Link, Why, chain_of, compare
from holdfast.caching.marks import Marker, mark, unmarked
from holdfast.caching.payoff import Payoff, Rates, Shrink, payoff
from holdfast.caching.reader import BlockReader
from holdfast.caching.spine import Chain
from holdfast.caching.support import (
    Automatic,
    Marked,
    Support,
    Uncached,
    caching_line,
    support_of,
)

__all__ = [
    "Accountant",
    "Automatic",
    "Block",
    "BlockReader",
    "Call",
    "Chain",
    "Changed",
    "Expectation",
    "Extended",
    "First",
    "Link",
    "Marked",
    "Marker",
    "Payoff",
    "Rates",
    "Sent",
    "Shrink",
    "Support",
    "Tally",
    "Terms",
    "Uncached",
    "Why",
    "caching_line",
    "chain_of",
    "compare",
    "mark",
    "payoff",
    "support_of",
    "unmarked",
    "weigh_block",
]
