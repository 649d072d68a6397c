"""Decides where the result of each input goes."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli.files import PIPE

if TYPE_CHECKING:
    from collections.abc import Sequence

__all__ = ["Target", "targets"]


@dataclass(frozen=True, slots=True)
class Target:
    """A file to read and the place for its result."""

    source: str
    place: str


def targets(sources: Sequence[str], output: str) -> list[Target]:
    """Return a place for each source.

    A folder, or a name that ends like one, takes files under their own names. Anything else
    takes exactly one.
    """
    if output == os.devnull:
        return [Target(source, output) for source in sources]
    if not _is_folder(output):
        if len(sources) > 1:
            raise click.UsageError("several files need a folder to go to: -o FOLDER/")
        return [Target(sources[0], output)]
    folder = Path(output)
    names = [Path(source).name for source in sources]
    for name in names:
        if name == PIPE:
            raise click.UsageError("standard input has no name; name a file with -o")
        if names.count(name) > 1:
            raise click.UsageError(f"two of the files are called {name}; write them one by one")
    folder.mkdir(parents=True, exist_ok=True)
    return [Target(source, str(folder / name)) for source, name in zip(sources, names, strict=True)]


def _is_folder(output: str) -> bool:
    if output == PIPE:
        return False
    separators = tuple(filter(None, (os.sep, os.altsep)))
    return output.endswith(separators) or Path(output).is_dir()
