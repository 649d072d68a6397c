"""Prompt caching: marking what is worth keeping, and the accountant that knows what it brings.

Read in this order: `breakpoints`, `blocks`, `reader`, `cache_model`, `accountant`.
"""

from holdfast.caching.accountant import (
    Accountant,
    AccountedCall,
    Changed,
    Expectation,
    Extended,
    First,
    Link,
    Tally,
    Terms,
    Why,
    chain_of,
    compare,
)
from holdfast.caching.blocks import CacheBlock, RequestBlocks, Sent, weigh_block
from holdfast.caching.breakpoints import Marker, mark, unmarked
from holdfast.caching.cache_model import (
    Automatic,
    Marked,
    Payoff,
    Rates,
    Shrink,
    Support,
    Uncached,
    caching_line,
    payoff,
    support_of,
)
from holdfast.caching.reader import BlockReader

__all__ = [
    "Accountant",
    "AccountedCall",
    "Automatic",
    "BlockReader",
    "CacheBlock",
    "Changed",
    "Expectation",
    "Extended",
    "First",
    "Link",
    "Marked",
    "Marker",
    "Payoff",
    "Rates",
    "RequestBlocks",
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
