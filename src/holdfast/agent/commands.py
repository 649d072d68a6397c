"""The `run_command` tool: one shell command in the working directory, with the user's approval."""

from __future__ import annotations

import os
import signal
import subprocess
import tempfile
from typing import IO, TYPE_CHECKING

from holdfast.agent.arguments import number, words
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Arguments
    from holdfast.agent.workplace import Workplace

__all__ = ["RunCommand"]

_SECONDS, _MOST_SECONDS = 60, 600
_HEAD, _TAIL = 6_000, 14_000
"""Bytes of a long output that are shown: its beginning, and its end, where the result stands."""


class RunCommand:
    """Runs a command through the shell, with nothing on its standard input."""

    spec = ToolSpec(
        "run_command",
        "Run a shell command in the working directory; the user is asked first. It has no input, "
        "and what it started is ended with it.",
        {
            "type": "object",
            "properties": {
                "command": {"type": "string"},
                "timeout": {
                    "type": "integer",
                    "minimum": 1,
                    "maximum": _MOST_SECONDS,
                    "description": f"Seconds; {_SECONDS} by default.",
                },
            },
            "required": ["command"],
        },
    )

    def __init__(self, place: Workplace) -> None:
        """Run in this directory."""
        self._place = place

    def needs_approval(self, arguments: Arguments) -> str:
        """Return the command itself: every one is asked for."""
        return f"run: {words(arguments, 'command')}"

    def run(self, arguments: Arguments) -> str:
        """Return the output and the exit code."""
        command = words(arguments, "command")
        seconds = min(number(arguments, "timeout", _SECONDS), _MOST_SECONDS)
        # A file rather than a pipe: a process that is left behind cannot hold the answer up.
        with tempfile.TemporaryFile() as output:
            ending = self._ended(command, seconds, output)
            return f"{_shown(output)}\n[{ending}]".lstrip()

    def _ended(self, command: str, seconds: int, output: IO[bytes]) -> str:
        """Run the command to its end, whatever that is, and return how it ended."""
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=self._place.root,
            stdin=subprocess.DEVNULL,
            stdout=output,
            stderr=subprocess.STDOUT,
            start_new_session=True,
        )
        try:
            return f"exit code {process.wait(seconds)}"
        except subprocess.TimeoutExpired:
            return f"stopped after {seconds} s"
        finally:
            _end(process)


def _end(process: subprocess.Popen[bytes]) -> None:
    """End the command and everything that it started."""
    try:
        if os.name == "posix":
            os.killpg(process.pid, signal.SIGKILL)
        else:
            process.kill()
    except (ProcessLookupError, PermissionError):
        # All of it is gone already.
        pass
    process.wait()


def _shown(output: IO[bytes]) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(0)
    if size <= _HEAD + _TAIL:
        return output.read().decode("utf-8", "replace").rstrip()
    head = output.read(_HEAD).decode("utf-8", "replace")
    output.seek(-_TAIL, os.SEEK_END)
    tail = output.read().decode("utf-8", "replace").rstrip()
    return f"{head}\n[{size - _HEAD - _TAIL:,} bytes left out]\n{tail}"
