"""`python -m bench.peers [speed | exam | continuity | store | trajectories | gateway]`."""

from __future__ import annotations

import sys

from bench.peers.comparison import compare
from bench.peers.continuity import replay
from bench.peers.exam import sit
from bench.peers.gateway import compare_gateways
from bench.peers.stores import compare_stores
from bench.peers.trajectories import compare_trajectories
from bench.report import alone, shared

if __name__ == "__main__":
    wanted = sys.argv[1:] or ["speed", "exam", "continuity", "store", "trajectories", "gateway"]
    if "speed" in wanted:
        alone(compare)
    if "exam" in wanted and shared() is not None:
        alone(sit)
    if "continuity" in wanted and shared() is not None:
        alone(replay)
    if "store" in wanted:
        alone(compare_stores)
    if "trajectories" in wanted:
        alone(compare_trajectories)
    if "gateway" in wanted:
        alone(compare_gateways)
