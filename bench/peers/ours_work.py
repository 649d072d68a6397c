"""The same work by holdfast, in a process of its own, for the comparison with peers."""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from statistics import median

from bench.calls import call_costs
from bench.speed import compaction_seconds
from holdfast.redaction import Redactor
from holdfast.summary import adopt, render

RECORD = render(adopt("## Goal\nFinish the task.\n\n## Completed Actions\n1. Read the code.\n", ""))


def speed(path: str, rounds: int) -> dict[str, float]:
    messages = json.loads(Path(path).read_text("utf-8"))
    return {
        "deterministic": compaction_seconds(messages, rounds),
        "model": compaction_seconds(messages, rounds, lambda _prompt: RECORD),
        "per_call": median(call_costs(messages).both),
    }


def redact(path: str, rounds: int) -> dict[str, float]:
    pieces = Path(path).read_text("utf-8").split("\f")
    redactor = Redactor()
    best = float("inf")
    for _ in range(rounds):
        started = time.process_time()
        for piece in pieces:
            redactor.redact(piece)
        best = min(best, time.process_time() - started)
    return {"seconds": best}


if __name__ == "__main__":
    work = {"speed": speed, "redact": redact}[sys.argv[1]]
    sys.stdout.write(json.dumps(work(sys.argv[2], int(sys.argv[3]))))
