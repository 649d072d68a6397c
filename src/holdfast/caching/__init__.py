"""Prompt caching: marking what is worth keeping, and the accountant that knows what it brings.

Read in this order: `support`, `marks`, `blocks`, `chain`, `shelf`, `calls`, `accountant`, `payoff`.
"""

from holdfast.caching.accountant import Accountant, Terms
from holdfast.caching.blocks import Block, BlockReader, Sent, weigh_block
from holdfast.caching.calls import Call, Expectation, Tally
from holdfast.caching.chain import Chain, Changed, Extended, First, Link, Why, chain_of, compare
from holdfast.caching.marks import mark, unmarked
from holdfast.caching.payoff import Payoff, Rates, Shrink, payoff
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
