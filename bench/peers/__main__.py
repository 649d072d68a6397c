"""`python -m bench.peers [speed | continuity | store]`: the same work through other libraries."""

from __future__ import annotations

import sys

from bench.peers.comparison import compare
from bench.peers.continuity import replay
from bench.peers.stores import compare_stores
from bench.report import alone, shared

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["speed", "continuity", "store"]
    if "speed" in wanted:
        alone(compare)
    if "continuity" in wanted and shared() is not None:
        alone(replay)
    if "store" in wanted:
        alone(compare_stores)
