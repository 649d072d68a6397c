"""Tools that work in a folder: reading, listing and searching files, and running commands."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import tempfile
from itertools import islice
from pathlib import Path
from typing import IO, TYPE_CHECKING

from holdfast.agent.file_search import files_below, is_text
from holdfast.agent.toolbox import ToolFailed, number, words
from holdfast.system.processes import isolated_environment, isolated_python
from holdfast.wire.tool_specs import ToolSpec

if TYPE_CHECKING:
    from holdfast.agent.toolbox import Arguments

_PATH = {"type": "string", "description": "Relative to the working directory."}
_MOST_LINES = 400
_MOST_CHARACTERS = 40_000
_LONGEST_LINE = 1_000
_MOST_ENTRIES = 300
_LARGEST_FILE = 20_000_000
_SEARCH_SECONDS = 20.0


class Workplace:
    """A working directory, and what lies inside of it."""

    def __init__(self, root: Path) -> None:
        """Work in this directory."""
        self.root = root.resolve()

    def resolve(self, path: str) -> Path:
        """Return where a path leads, links followed.

        Raises:
            ToolFailed: when it is no path at all.
        """
        try:
            return (self.root / Path(path).expanduser()).resolve()
        except (OSError, ValueError, RuntimeError) as error:
            raise ToolFailed(f"{path!r} is no path: {error}") from None

    def leave_question(self, path: str) -> str:
        """Return what the user is asked where a path leads out of the directory."""
        found = self.resolve(path)
        return "" if found.is_relative_to(self.root) else f"look at {found}, outside {self.root}"

    def name(self, path: Path) -> str:
        """Return a path as the model should write it."""
        inside = path.is_relative_to(self.root)
        return path.relative_to(self.root).as_posix() if inside else str(path)


class ReadFile:
    """The `read_file` tool: some lines of a text file."""

    spec = ToolSpec(
        "read_file",
        f"Read a text file, at most {_MOST_LINES} lines at a time.",
        {
            "type": "object",
            "properties": {
                "path": _PATH,
                "first_line": {"type": "integer", "minimum": 1, "description": "1 by default."},
                "last_line": {"type": "integer", "minimum": 1},
            },
            "required": ["path"],
        },
    )

    def __init__(self, workplace: Workplace) -> None:
        """Read in this directory."""
        self._workplace = workplace

    def needs_approval(self, arguments: Arguments) -> str:
        """Return a question for a file outside the directory."""
        return self._workplace.leave_question(words(arguments, "path"))

    def run(self, arguments: Arguments) -> str:
        """Return the lines, and what there is beyond them."""
        path = self._workplace.resolve(words(arguments, "path"))
        first = number(arguments, "first_line", 1)
        last = min(number(arguments, "last_line", first + _MOST_LINES - 1), first + _MOST_LINES - 1)
        lines = _text(path, self._workplace.name(path)).splitlines()
        if first > max(len(lines), 1):
            raise ToolFailed(f"{self._workplace.name(path)} has {len(lines)} lines only")
        shown, last = _within(lines[first - 1 : last], first)
        text = "\n".join(shown)
        if first == 1 and last >= len(lines):
            return text or "(the file is empty)"
        more = f"; go on with first_line={last + 1}" if last < len(lines) else ""
        return f"{text}\n[lines {first} to {last} of {len(lines)}{more}]"


class ListFiles:
    """The `list_files` tool: one folder, or every file whose name fits a pattern."""

    spec = ToolSpec(
        "list_files",
        "List a folder, or with a pattern the files below it whose names match.",
        {
            "type": "object",
            "properties": {
                "path": {**_PATH, "description": "A folder; the working directory by default."},
                "pattern": {"type": "string", "description": "Such as *.py or src/*.md."},
            },
        },
    )

    def __init__(self, workplace: Workplace) -> None:
        """List in this directory."""
        self._workplace = workplace

    def needs_approval(self, arguments: Arguments) -> str:
        """Return a question for a folder outside the directory."""
        return self._workplace.leave_question(words(arguments, "path", "."))

    def run(self, arguments: Arguments) -> str:
        """Return the names, folders with a slash."""
        folder = self._workplace.resolve(words(arguments, "path", "."))
        pattern = words(arguments, "pattern", "")
        if not folder.is_dir():
            raise ToolFailed(f"{self._workplace.name(folder)} is no folder")
        try:
            if pattern:
                files = islice(files_below(folder, pattern), _MOST_ENTRIES + 1)
                found = [file.relative_to(folder).as_posix() for file in files]
            else:
                with os.scandir(folder) as entries:
                    found = sorted(
                        f"{each.name}/" if each.is_dir() else each.name for each in entries
                    )
        except OSError as error:
            raise ToolFailed(f"{self._workplace.name(folder)} cannot be listed: {error}") from None
        more = "\n[there are more; narrow the pattern]" if len(found) > _MOST_ENTRIES else ""
        return ("\n".join(found[:_MOST_ENTRIES]) or "(nothing)") + more


class SearchFiles:
    """The `search_files` tool: lines that match a regular expression.

    The search runs in a process of its own: an expression may take for ever, and can be stopped
    there.
    """

    spec = ToolSpec(
        "search_files",
        "Find the lines that match a regular expression (Python's), in the files below a folder.",
        {
            "type": "object",
            "properties": {
                "pattern": {"type": "string", "description": "A regular expression."},
                "path": {**_PATH, "description": "A folder or a file; all by default."},
                "names": {"type": "string", "description": "Only files such as *.py."},
            },
            "required": ["pattern"],
        },
    )

    def __init__(self, workplace: Workplace) -> None:
        """Search in this directory."""
        self._workplace = workplace

    def needs_approval(self, arguments: Arguments) -> str:
        """Return a question for a place outside the directory."""
        return self._workplace.leave_question(words(arguments, "path", "."))

    def run(self, arguments: Arguments) -> str:
        """Return the matches as `file:line: text`."""
        wanted = {
            "root": str(self._workplace.root),
            "path": str(self._workplace.resolve(words(arguments, "path", "."))),
            "pattern": words(arguments, "pattern"),
            "names": words(arguments, "names", "*"),
        }
        try:
            ended = subprocess.run(
                isolated_python("holdfast.agent.file_search"),
                env=isolated_environment(),
                input=json.dumps(wanted).encode(),
                capture_output=True,
                timeout=_SEARCH_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ToolFailed(
                f"the search took more than {_SEARCH_SECONDS:g} s; use a plainer pattern or a "
                "smaller folder"
            ) from None
        said = ended.stdout.decode("utf-8", "replace").strip()
        if ended.returncode:
            raise ToolFailed(said or "the search failed")
        return said


def _text(path: Path, name: str) -> str:
    if path.is_dir():
        raise ToolFailed(f"{name} is a folder; list_files shows what is in it")
    try:
        if not path.is_file():
            raise ToolFailed(f"there is no file {name}")
        if path.stat().st_size > _LARGEST_FILE:
            raise ToolFailed(f"{name} is too large to read; search_files finds lines in it")
        content = path.read_bytes()
    except OSError as error:
        raise ToolFailed(f"{name} cannot be read: {error.strerror or error}") from None
    if not is_text(content):
        raise ToolFailed(f"{name} is not text")
    return content.decode("utf-8", "replace")


def _within(lines: list[str], first: int) -> tuple[list[str], int]:
    """Return the lines that fit one answer, and the number of the last one."""
    shown: list[str] = []
    room = _MOST_CHARACTERS
    for line in lines:
        cut = line if len(line) <= _LONGEST_LINE else f"{line[:_LONGEST_LINE]} [line cut]"
        room -= len(cut) + 1
        if room < 0 and shown:
            break
        shown.append(cut)
    return shown, first + len(shown) - 1


_SECONDS, _MOST_SECONDS = 60, 600
_MOST_OUTPUT = 20_000
_HEAD = 0.3
"""The share of a long output that is its beginning; the result stands at its end."""


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

    def __init__(self, workplace: Workplace, *, most: int = _MOST_OUTPUT) -> None:
        """Run in this directory; of a long output so many bytes are returned."""
        self._workplace = workplace
        self._most = most

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
            return f"{_shown(output, self._most)}\n[{ending}]".lstrip()

    def _ended(self, command: str, seconds: int, output: IO[bytes]) -> str:
        """Run the command to its end, whatever that is, and return how it ended."""
        process = subprocess.Popen(
            command,
            shell=True,
            cwd=self._workplace.root,
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


def _shown(output: IO[bytes], most: int) -> str:
    size = output.seek(0, os.SEEK_END)
    output.seek(0)
    if size <= most:
        return output.read().decode("utf-8", "replace").rstrip()
    front = int(most * _HEAD)
    head = output.read(front).decode("utf-8", "replace")
    output.seek(front - most, os.SEEK_END)
    tail = output.read().decode("utf-8", "replace").rstrip()
    return f"{head}\n[{size - most:,} bytes left out]\n{tail}"
