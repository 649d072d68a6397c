"""The files in which a project tells agents how to work on it, from here up to its root."""

from __future__ import annotations

import os
import re
from pathlib import Path
from typing import TYPE_CHECKING

from holdfast.memory import ProjectFile, plain, softened, without_tags
from holdfast.redaction import redact

if TYPE_CHECKING:
    from collections.abc import Callable

FILE_NAMES = (
    "AGENTS.md",
    "CLAUDE.md",
    "GEMINI.md",
    ".github/copilot-instructions.md",
    ".cursorrules",
    ".windsurfrules",
    ".clinerules",
)
"""The names that agents look for, in the order in which one folder's files are read."""
LARGEST_FILE = 16_000
"""Characters that are shown of one file."""
LARGEST_TOTAL = 32_000
"""Characters that are shown of all of them; the nearest come first."""
_MOST_FOLDERS = 64
_INCLUDE = re.compile(r"^\s*@((?:[~.]{0,2}/)?[\w.~/-]+\.\w{1,8})\s*$", re.MULTILINE)


def project_files(start: Path, redactor: Callable[[str], str] = redact) -> tuple[ProjectFile, ...]:
    """Return the project's files, the nearest last, cut to size and screened.

    Without a repository around it, only the folder itself is looked into. A link that leads out
    of the project is not followed: a project must not be able to show other files of the machine.
    """
    here = Path(os.path.abspath(start))
    folders = _folders(here)
    found: list[ProjectFile] = []
    seen: set[str] = set()
    room = LARGEST_TOTAL
    for folder in folders:
        nearby: list[ProjectFile] = []
        files = (folder / name for name in FILE_NAMES)
        for file in (each for each in files if _holds(Path.is_file, each)):
            read = _read(file, here, folders[-1], min(room, LARGEST_FILE))
            if read is not None and (not read.text or read.text not in seen):
                seen.add(read.text)
                room = max(room - len(read.text), 0)
                nearby.append(_screened(read, redactor))
        found[:0] = nearby
    return tuple(found)


def _folders(here: Path) -> list[Path]:
    """Return the folders from here up to the root of the repository."""
    folders: list[Path] = []
    for folder in [here, *here.parents][:_MOST_FOLDERS]:
        folders.append(folder)
        if _holds(Path.exists, folder / ".git"):
            return folders
    return [here]


def _holds(question: Callable[[Path], bool], path: Path) -> bool:
    """Ask about a path; where the system does not let us look, there is nothing."""
    try:
        return question(path)
    except OSError:
        return False


def _read(file: Path, here: Path, root: Path, room: int) -> ProjectFile | None:
    """Return a file with what can be shown of it, or None for an empty one."""
    shown = os.path.relpath(file, here)
    if not file.resolve().is_relative_to(root.resolve()):
        return ProjectFile(shown, "", ("it is a link that leads out of the project; not read",))
    try:
        size = file.stat().st_size
        with file.open("rb") as stream:
            # A character takes up to four bytes.
            content = stream.read(4 * room + 4)
    except OSError as error:
        reason = (error.strerror or str(error)).lower()
        return ProjectFile(shown, "", (f"it cannot be read: {reason}",))
    try:
        text = content.decode("utf-8-sig", "strict" if size <= len(content) else "ignore")
    except UnicodeDecodeError:
        return ProjectFile(shown, "", ("it is not UTF-8 text; not read",))
    text = plain(text).strip()
    if not text:
        return None
    if len(text) <= room and size <= len(content):
        return ProjectFile(shown, text)
    left = f"cut after {room:,} characters of {size:,} bytes; read the file for the rest"
    return ProjectFile(shown, text[:room], (left,))


def _screened(file: ProjectFile, redactor: Callable[[str], str]) -> ProjectFile:
    included = list(dict.fromkeys(_INCLUDE.findall(file.text)))
    text, found = softened(without_tags(redactor(file.text)))
    notes = file.notes
    if included:
        more = f" and {len(included) - 3} more" if len(included) > 3 else ""
        notes += (f"not followed: @{', @'.join(included[:3])}{more}; read them if needed",)
    if found:
        lines = len({number for each in found for number in range(each.first, each.last + 1)})
        notes += (f"{lines} suspicious line{'s' if lines > 1 else ''} left out",)
    return ProjectFile(file.path, text, notes)
