"""`python -m bench.talk`: the table and the JSON result."""

from __future__ import annotations

from bench.report import alone
from bench.talk.measure import run

if __name__ == "__main__":
    alone(run)
