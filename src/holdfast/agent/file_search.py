"""Searches the files of a folder, in a process of its own."""

from __future__ import annotations

import fnmatch
import json
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

_NOISE = frozenset({".git", ".hg", ".svn", "node_modules", "__pycache__", ".venv", "venv"})
_HEAD = 8_192


def files_below(folder: Path, pattern: str) -> Iterator[Path]:
    """Yield the files whose name or path fits a pattern such as `*.py` or `docs/*.md`.

    Folders of tools (version control, environments, packages) are passed over, and links to
    folders are not followed.
    """
    for above, folders, files in os.walk(folder):
        folders[:] = sorted(name for name in folders if name not in _NOISE)
        for name in sorted(files):
            file = Path(above, name)
            inside = file.relative_to(folder).as_posix()
            if fnmatch.fnmatch(name, pattern) or fnmatch.fnmatch(inside, pattern):
                yield file


def is_text(content: bytes) -> bool:
    """Say whether this reads as text."""
    return b"\0" not in content[:_HEAD]


_MOST_MATCHES = 200
_LARGEST_FILE = 2_000_000
_LONGEST_LINE = 300
_ASK = "read_file asks the user for such a file"


def main() -> int:
    """Search, print what was found, and return the exit code."""
    wanted: dict[str, str] = json.load(sys.stdin)
    try:
        pattern = re.compile(wanted["pattern"])
    except (re.error, RecursionError, OverflowError) as error:
        return _say(f"the pattern is no regular expression: {error}", 1)
    path, root = Path(wanted["path"]), Path(wanted["root"])
    if not path.exists():
        return _say(f"there is no {path}", 1)
    found: list[str] = []
    elsewhere = 0
    for file in (path,) if path.is_file() else files_below(path, wanted["names"]):
        if not _is_inside(file, path, root):
            elsewhere += 1
            continue
        name = file.relative_to(root).as_posix() if file.is_relative_to(root) else str(file)
        found += (f"{name}:{line}" for line in _matches(file, pattern))
        if len(found) > _MOST_MATCHES:
            more = f"[more than {_MOST_MATCHES} matches; narrow the pattern]"
            return _say("\n".join([*found[:_MOST_MATCHES], more]), 0)
    if elsewhere:
        found.append(f"[{elsewhere} links lead out of the folder and were not followed; {_ASK}]")
    return _say("\n".join(found) or "no match", 0)


def _say(text: str, code: int) -> int:
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    return code


def _is_inside(file: Path, path: Path, root: Path) -> bool:
    """Say whether a file is where the user lets the model look, links followed."""
    try:
        real = file.resolve()
    except (OSError, RuntimeError):
        return False
    return real.is_relative_to(path) or real.is_relative_to(root)


def _matches(file: Path, pattern: re.Pattern[str]) -> Iterator[str]:
    try:
        # A pipe or a device would never end.
        if not file.is_file() or file.stat().st_size > _LARGEST_FILE:
            return
        content = file.read_bytes()
    except OSError:
        return
    if not is_text(content):
        return
    for index, line in enumerate(content.decode("utf-8", "replace").splitlines(), start=1):
        if pattern.search(line):
            yield f"{index}: {line.strip()[:_LONGEST_LINE]}"


if __name__ == "__main__":
    sys.exit(main())
