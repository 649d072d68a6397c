"""`python -m bench.retrieval [file ...]`: tables; without files, also the saved result."""

from __future__ import annotations

import sys
from pathlib import Path

from bench.report import alone, render
from bench.retrieval.measure import run


def main() -> None:
    files = [Path(name) for name in sys.argv[1:]]
    if not files:
        alone(run)
        return
    # Figures for somebody's own conversations are printed, and do not replace the published ones.
    for table in run(files).tables:
        sys.stdout.write(f"\n{render(table.columns, table.rows, table.note)}\n")


if __name__ == "__main__":
    main()
