"""`python -m bench.gateway`: measure the gateway, print its tables."""

from __future__ import annotations

from bench.gateway import run
from bench.report import alone

if __name__ == "__main__":
    alone(run)
