"""`python -m bench.continuity [session file ...]`: the tables and the JSON result."""

from __future__ import annotations

import sys
from functools import partial
from pathlib import Path

from bench.continuity.measure import run
from bench.report import alone

if __name__ == "__main__":
    alone(partial(run, [Path(name) for name in sys.argv[1:]]))
