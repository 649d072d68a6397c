"""`python -m bench.store`: the tables of the store in the terminal, and the JSON result."""

from __future__ import annotations

from bench.report import alone
from bench.store.measure import run

if __name__ == "__main__":
    alone(run)
