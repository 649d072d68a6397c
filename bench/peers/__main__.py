"""`python -m bench.peers [speed | exam | continuity | store]`: other libraries at the same work."""

from __future__ import annotations

import sys

from bench.peers.comparison import compare
from bench.peers.continuity import replay
from bench.peers.exam import sit
from bench.peers.stores import compare_stores
from bench.report import alone, shared

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["speed", "exam", "continuity", "store"]
    if "speed" in wanted:
        alone(compare)
    if "exam" in wanted and shared() is not None:
        alone(sit)
    if "continuity" in wanted and shared() is not None:
        alone(replay)
    if "store" in wanted:
        alone(compare_stores)
