"""What every command on memory works with: the settings, the files, the answer."""

from __future__ import annotations

import os
from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TYPE_CHECKING, Concatenate, ParamSpec, TypeVar

import click

from holdfast.cli.flags import configuration, json_flag, profile_flag
from holdfast.cli.screen import show_answer
from holdfast.memory import NOTEBOOKS, size_of, usage
from holdfast.wiring.remembered import memory_files_of

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.cli.lines import Line
    from holdfast.cli.screen import Screen
    from holdfast.config import Settings
    from holdfast.memory import Entries, Notebook
    from holdfast.memory_providers.memory_files import MemoryFiles

__all__ = ["OpenMemory", "file_fields", "fullness", "target_flag", "with_memory"]

_P = ParamSpec("_P")
_R = TypeVar("_R")

target_flag = click.option(
    "--target",
    type=click.Choice(list(NOTEBOOKS)),
    default="memory",
    show_default=True,
    help="Which file: notes about work, or what is known of you.",
)


@dataclass(frozen=True, slots=True)
class OpenMemory:
    """The memory files of a profile, and how the command is to answer."""

    settings: Settings
    files: MemoryFiles
    as_json: bool

    def answer(self, value: object, drawn: Callable[[Screen], Sequence[Line]]) -> None:
        """Print the value as JSON, or what is drawn of it for a person."""
        show_answer(value, drawn, as_json=self.as_json)


def with_memory(function: Callable[Concatenate[OpenMemory, _P], _R]) -> Callable[..., _R]:
    """Give a command its flags for profile and output; it receives the memory of the profile."""

    @wraps(function)
    def run(*args: _P.args, **options: _P.kwargs) -> _R:
        as_json = bool(options.pop("as_json"))
        settings = configuration({"profile": options.pop("profile")}).settings
        opened = OpenMemory(settings, memory_files_of(settings, os.environ), as_json)
        return function(opened, *args, **options)

    return profile_flag(json_flag(run))


def fullness(notebook: Notebook, entries: Entries) -> str:
    """Return how full a file is, in words."""
    if not entries:
        return f"empty; {notebook.limit:,} characters fit"
    count = f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}"
    return f"{count}, {usage(notebook, entries)}"


def file_fields(opened: OpenMemory, notebook: Notebook, entries: Entries) -> dict[str, object]:
    """Return a file as the fields of its JSON."""
    return {
        "target": notebook.name,
        "path": str(opened.files.path(notebook)),
        "entries": list(entries),
        "characters": size_of(entries),
        "limit": notebook.limit,
    }
