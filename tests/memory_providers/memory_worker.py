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
    """Replace an entry, and die when one call of the system is about to be made.

    The folder is opened last, when the new file is in its place.
    """
    name_of_call = "open" if place == "folder" else place
    wrong = os if hasattr(os, name_of_call) else file_edits
    real = getattr(wrong, name_of_call)

    def die(*given: object, **options: object) -> object:
        if place != "folder" or Path(str(given[0])).is_dir():
            os._exit(9)
        return real(*given, **options)

    setattr(wrong, name_of_call, die)
    MemoryFiles(folder).edit(Replace("memory", "old", name))


if __name__ == "__main__":
    job, folder, name, rest = sys.argv[1:]
    if job == "add":
        add_many(Path(folder), name, int(rest))
    else:
        die_at(Path(folder), name, rest)
