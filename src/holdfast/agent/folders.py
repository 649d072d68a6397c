"""The files below a folder, without what nobody means when they search a project."""

from __future__ import annotations

import fnmatch
import os
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

__all__ = ["files_below", "is_text"]

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
