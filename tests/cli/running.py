"""Runs the command line as a user does: inside this process, or as a process of its own."""

import json
import os
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path

from click.testing import CliRunner

from holdfast.cli.root import root

REPOSITORY = Path(__file__).resolve().parent.parent.parent
SESSION = REPOSITORY / "tests" / "fixtures" / "agent_session.json"
SMALL_WINDOW = ("--context-length", "32000")


@dataclass(frozen=True, slots=True)
class Ended:
    """How a command ended."""

    code: int
    output: bytes
    errors: str

    @property
    def text(self) -> str:
        return self.output.decode()

    @property
    def json(self) -> object:
        return json.loads(self.output)


def run(*arguments: str, stdin: bytes = b"", env: Mapping[str, str | None] | None = None) -> Ended:
    """Run a command in this process."""
    result = CliRunner().invoke(root, arguments, input=stdin, env=env)  # type: ignore[arg-type]
    return Ended(result.exit_code, result.stdout_bytes, result.stderr)


def launch(*arguments: str, stdin: bytes = b"", env: Mapping[str, str] | None = None) -> Ended:
    """Run a command as a process of its own."""
    done = subprocess.run(
        [sys.executable, "-m", "holdfast.cli", *arguments],
        input=stdin,
        capture_output=True,
        env={**os.environ, **(env or {})},
        timeout=100,
        check=False,
    )
    return Ended(done.returncode, done.stdout, done.stderr.decode())
