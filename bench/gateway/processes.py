"""Starts the servers and the clients, each as a process of its own, and reads what they use."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import tempfile
from contextlib import ExitStack, contextmanager
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from bench.gateway.clients import Taken
from bench.report import REPOSITORY

if TYPE_CHECKING:
    from collections.abc import Generator, Mapping, Sequence

    from bench.gateway.clients import Load

WINDOW = 4_000_000
"""Tokens that holdfast is told a model takes, so that nothing is folded where that is not meant."""


class GatewayRunFailed(Exception):
    """A request of a benchmark was not answered as it must be."""


@dataclass(frozen=True, slots=True)
class Footprint:
    """What a process has of the machine; all zero where the system does not say."""

    resident: int
    """Bytes, those shared with other processes included."""
    proportional: int
    """Bytes, those shared with others counted in part."""
    threads: int
    descriptors: int


@dataclass(frozen=True, slots=True)
class Serving:
    """A server that runs."""

    name: str
    url: str
    pid: int

    def processor(self) -> float:
        """Return the seconds of all cores that it has used."""
        try:
            fields = Path(f"/proc/{self.pid}/stat").read_text("utf-8").rpartition(")")[2].split()
        except OSError:
            return 0.0
        return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")

    def footprint(self) -> Footprint:
        """Return what it has of the machine now."""
        place = Path(f"/proc/{self.pid}")
        try:
            rollup = (place / "smaps_rollup").read_text("utf-8").splitlines()
            status = (place / "status").read_text("utf-8").splitlines()
            found = {
                name: int(value.split()[0])
                for name, _, value in (line.partition(":") for line in [*rollup[1:], *status])
                if name in ("Rss", "Pss", "Threads")
            }
            files = len(os.listdir(place / "fd"))
        except OSError:
            return Footprint(0, 0, 0, 0)
        return Footprint(1024 * found["Rss"], 1024 * found["Pss"], found["Threads"], files)


@dataclass(frozen=True, slots=True)
class Clients:
    """The process of the clients."""

    process: subprocess.Popen[str]

    def drive(self, load: Load) -> Taken:
        """Let the clients do this and return what they measured.

        Raises:
            GatewayRunFailed: when an answer was an error, or was not recorded.
        """
        assert self.process.stdin is not None
        assert self.process.stdout is not None
        self.process.stdin.write(json.dumps(asdict(load)) + "\n")
        self.process.stdin.flush()
        line = self.process.stdout.readline()
        if not line:
            raise GatewayRunFailed("the clients ended before their work was done")
        taken = Taken(**json.loads(line))
        if taken.failures:
            raise GatewayRunFailed(taken.failures[0])
        return taken


@contextmanager
def clients() -> Generator[Clients]:
    """Start the process of the clients."""
    with running([sys.executable, "-m", "bench.gateway.clients"], os.environ) as process:
        yield Clients(process)


@contextmanager
def module(name: str, *arguments: str) -> Generator[Serving]:
    """Serve with a module of this package, which prints its port."""
    command = [sys.executable, "-m", f"bench.gateway.{name}", *arguments]
    with running(command, os.environ) as process:
        yield Serving(name, f"http://127.0.0.1:{_line(process)}", process.pid)


@contextmanager
def holdfast(upstream: str, context_length: int = WINDOW, *more: str) -> Generator[Serving]:
    """Serve with `holdfast serve` and a store of its own, which is removed afterwards."""
    with tempfile.TemporaryDirectory() as folder:
        environment = {
            "PATH": os.environ["PATH"],
            "HOME": folder,
            "HOLDFAST_HOME": folder,
            **{name: os.environ[name] for name in ("PYTHONPATH",) if name in os.environ},
        }
        options = ["--port", "0", "--json", "--upstream", upstream]
        options += ["--context-length", str(context_length), *more]
        command = [sys.executable, "-m", "holdfast", "serve", *options]
        with running(command, environment) as process:
            while not (said := _line(process)).startswith('"url"'):
                pass
            yield Serving("holdfast", said.split('"')[3], process.pid)


def _line(process: subprocess.Popen[str]) -> str:
    assert process.stdout is not None
    line = process.stdout.readline().strip()
    if not line:
        raise GatewayRunFailed(f"a server ended as it began: {process.args}")
    return line


@contextmanager
def running(
    command: Sequence[str], environment: Mapping[str, str], log: Path | None = None
) -> Generator[subprocess.Popen[str]]:
    """Run a program, with what it writes in a file or in pipes, and end it afterwards."""
    with ExitStack() as stack:
        written = stack.enter_context(log.open("w", encoding="utf-8")) if log else subprocess.PIPE
        process = subprocess.Popen(
            command,
            stdin=subprocess.PIPE,
            stdout=written,
            stderr=subprocess.STDOUT if log else None,
            text=True,
            cwd=REPOSITORY,
            env={**environment},
        )
    try:
        yield process
    finally:
        process.terminate()
        try:
            process.wait(10)
        except subprocess.TimeoutExpired:
            process.kill()
            process.wait()
        for pipe in (process.stdin, process.stdout):
            if pipe is not None:
                pipe.close()
