"""`python -m bench.exam [--windows FOLDER]`: the table and the JSON result."""

from __future__ import annotations

import argparse
from functools import partial
from pathlib import Path

from bench.exam.measure import run
from bench.report import alone

if __name__ == "__main__":
    parser = argparse.ArgumentParser(prog="python -m bench.exam", description=__doc__)
    parser.add_argument("--windows", type=Path, help="write every window into this folder")
    alone(partial(run, parser.parse_args().windows))
