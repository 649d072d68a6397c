"""`python -m bench [name ...]`: run benchmarks, save results, bring the tables up to date."""

from __future__ import annotations

import argparse
import sys
import time
from importlib import import_module
from typing import TYPE_CHECKING

from bench.report import missed, publish, save

if TYPE_CHECKING:
    from bench.report import Result

BENCHMARKS = (
    "startup",
    "tokens",
    "statements",
    "speed",
    "compactions",
    "redaction",
    "exam",
    "talk",
    "continuity",
    "store",
    "conversations",
    "imports",
    "gateway",
    "trajectories",
    "retrieval",
)


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m bench", description=__doc__)
    parser.add_argument("names", nargs="*", metavar="name", help=f"any of {', '.join(BENCHMARKS)}")
    parser.add_argument("--strict", action="store_true", help="fail when a promise is missed")
    arguments = parser.parse_args()
    unknown = sorted(set(arguments.names) - set(BENCHMARKS))
    if unknown:
        parser.error(f"no such benchmark: {', '.join(unknown)}")
    lines: list[str] = []
    for name in arguments.names or BENCHMARKS:
        lines += missed(_run(name))
    for name in publish():
        sys.stderr.write(f"no run has a table for {name} yet\n")
    for line in lines:
        sys.stdout.write(f"missed: {line}\n")
    return 1 if lines and arguments.strict else 0


def _run(name: str) -> Result:
    started = time.perf_counter()
    sys.stderr.write(f"{name} ... ")
    sys.stderr.flush()
    result: Result = import_module(f"bench.{name}").run()
    seconds = time.perf_counter() - started
    if not result.tables:
        sys.stderr.write("skipped: its sessions are not here\n")
        return result
    save(result, seconds)
    sys.stderr.write(f"{seconds:.1f} s\n")
    return result


if __name__ == "__main__":
    sys.exit(main())
