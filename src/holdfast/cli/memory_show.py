"""`holdfast memory show`: the files, the project's files, and the external provider."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import click

from holdfast.cli.commands import Exit, examples
from holdfast.cli.lines import Line, Span, wrapped
from holdfast.cli.memory_desk import OpenMemory, file_fields, fullness, with_memory
from holdfast.cli.memory_provider import ProviderState, provider_state
from holdfast.errors import MemoryRefused
from holdfast.memory import NOTEBOOKS, screen
from holdfast.system.project_files import project_files
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.memory import Entries, Notebook, ProjectFile

__all__ = ["show_command"]

_NAME = 12


@click.command("show", epilog=examples("holdfast memory show", "holdfast memory show --json"))
@click.option(
    "--target", type=click.Choice(list(NOTEBOOKS)), help="One file alone; both by default."
)
@with_memory
def show_command(opened: OpenMemory, *, target: str | None) -> Exit:
    """Show what is remembered, and where it comes from.

    That is: both files with how full they are, the project's files that a session begun here would
    read, and the external provider with its state. Nothing is sent anywhere. The exit code is 1
    when a file cannot be read.
    """
    chosen = [NOTEBOOKS[target]] if target else list(NOTEBOOKS.values())
    held = [(notebook, _held(opened, notebook)) for notebook in chosen]
    projects = () if target else project_files(Path.cwd())
    provider = provider_state(opened.settings)
    value = {
        "folder": str(opened.files.folder),
        "files": [_fields(opened, notebook, entries) for notebook, entries in held],
        "projects": [
            {"path": each.path, "characters": len(each.text), "notes": list(each.notes)}
            for each in projects
        ],
        "provider": {
            "name": provider.name,
            "usable": provider.is_usable,
            "state": provider.words,
        },
    }

    def drawn(width: int) -> list[Line]:
        files = [line for notebook, entries in held for line in _file(notebook, entries, width)]
        if target:
            return files
        return [*files, *_projects(projects), *_provider(provider)]

    opened.answer(value, lambda view: drawn(view.width))
    return Exit.FAILED if any(isinstance(each, str) for _, each in held) else Exit.DONE


def _held(opened: OpenMemory, notebook: Notebook) -> Entries | str:
    """Return the entries of a file, or why it cannot be read."""
    try:
        return opened.files.entries(notebook)
    except MemoryRefused as error:
        return str(error)


def _fields(opened: OpenMemory, notebook: Notebook, entries: Entries | str) -> dict[str, object]:
    if isinstance(entries, str):
        return {**file_fields(opened, notebook, ()), "problem": entries}
    findings = [f"{each.excerpt}: {each.reason}" for entry in entries for each in screen(entry)]
    return {**file_fields(opened, notebook, entries), "suspicious": findings}


def _file(notebook: Notebook, entries: Entries | str, width: int) -> list[Line]:
    heading = Span(f"{notebook.file:<{_NAME}}", "bold")
    if isinstance(entries, str):
        return [(heading, Span(entries, "bold red"))]
    lines: list[Line] = [(heading, Span(fullness(notebook, entries), "dim"))]
    for entry in entries:
        first, *rest = wrapped(entry, width - 4)
        lines.append((Span("  - "), Span(first)))
        lines += [(Span("    "), Span(line)) for line in rest]
        lines += [
            (Span("    "), Span(f"not shown to a model: it looks like {each.reason}", "yellow"))
            for each in screen(entry)
        ]
    return lines


def _projects(projects: Sequence[ProjectFile]) -> list[Line]:
    heading = Span(f"{'project':<{_NAME}}", "bold")
    if not projects:
        return [(heading, Span("no project files from here up to the root", "dim"))]
    lines: list[Line] = [(heading, Span(counted(len(projects), "file"), "dim"))]
    for each in projects:
        size = Span(f"  {counted(len(each.text), 'character')}", "dim")
        lines.append((Span("  - "), Span(each.path), size))
        lines += [(Span("    "), Span(note, "yellow")) for note in each.notes]
    return lines


def _provider(provider: ProviderState) -> list[Line]:
    style = "dim" if provider.is_usable or not provider.name else "bold red"
    heading = Span(f"{'external':<{_NAME}}", "bold")
    named = f"{provider.name}: {provider.words}" if provider.name else provider.words
    return [(heading, Span(named, style))]
