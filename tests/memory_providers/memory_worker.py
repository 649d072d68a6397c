"""Edits memory in a process of its own: many entries in a row, or one that dies on the way."""

import os
import sys
from pathlib import Path

from holdfast.memory import Add, Replace
from holdfast.memory_providers.memory_files import MemoryFiles
from holdfast.system import file_edits


def add_many(folder: Path, name: str, count: int) -> None:
    files = MemoryFiles(folder)
    print("ready", flush=True)
    sys.stdin.readline()
    for number in range(count):
        files.edit(Add("memory", f"{name}{number}"))


def die_at(folder: Path, name: str, place: str) -> None:
    """Replace an entry, and die when one call of the system is about to be made."""
    wrong = os if hasattr(os, place) else file_edits

    def die(*_: object, **__: object) -> None:
        os._exit(9)

    setattr(wrong, place, die)
    MemoryFiles(folder).edit(Replace("memory", "old", name))


if __name__ == "__main__":
    job, folder, name, rest = sys.argv[1:]
    if job == "add":
        add_many(Path(folder), name, int(rest))
    else:
        die_at(Path(folder), name, rest)
