"""Starts a program, lets it work for a moment and kills it as a power cut would."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any, TypeAlias

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SOAKS = os.environ.get("SOAK", "") == "1"
"""Whether this is the long run: hundreds of kills, a minute of eight processes."""

Facts: TypeAlias = dict[str, Any]


def start(*arguments: str) -> subprocess.Popen[bytes]:
    return subprocess.Popen(
        [sys.executable, *arguments],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        cwd=REPOSITORY,
        # The source beside these tests, wherever another copy of it may be installed from.
        env={**os.environ, "PYTHONPATH": f"{REPOSITORY / 'src'}{os.pathsep}{REPOSITORY}"},
    )


def killed(*arguments: str, after: float) -> list[Facts]:
    """Kill a worker some seconds after its first word, and return what it had announced."""
    with start("-m", "tests.promises.crash_worker", *arguments) as worker:
        assert worker.stdout
        assert worker.stderr
        first = worker.stdout.readline()
        time.sleep(after)
        worker.send_signal(signal.SIGKILL)
        rest = worker.stdout.read()
        said = worker.stderr.read().decode()
    assert worker.returncode == -signal.SIGKILL, said
    assert said == ""
    # A line that was cut off in the middle was never received.
    return [
        json.loads(line) for line in (first + rest).splitlines(keepends=True) if line[-1:] == b"\n"
    ]
