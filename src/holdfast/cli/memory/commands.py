"""The commands of `holdfast memory`: look at the memory files, and edit them."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import wraps
from pathlib import Path
from typing import TYPE_CHECKING, ParamSpec, TypeVar

import click

from holdfast.cli.files import PIPE
from holdfast.cli.flags import configuration, json_flag, profile_flag
from holdfast.cli.root import Exit, examples
from holdfast.cli.screen import Styled, Unusable, input_bytes, show_answer, tell, wrapped
from holdfast.errors import HoldfastError, MemoryRefused
from holdfast.memory import NOTEBOOKS, Add, Edited, Remove, Replace, screen, size_of, usage
from holdfast.system.project_files import project_files
from holdfast.views.words import counted
from holdfast.wiring.memories import memory_files_of, memory_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence
    from typing import Concatenate

    from holdfast.cli.screen import Line, OutputScreen
    from holdfast.config import Settings
    from holdfast.memory import Edit, Entries, Notebook, ProjectFile
    from holdfast.memory_providers.memory_files import MemoryFiles

_P = ParamSpec("_P")
_R = TypeVar("_R")
target_flag = click.option(
    "--target",
    type=click.Choice(list(NOTEBOOKS)),
    default="memory",
    show_default=True,
    help="Which file: notes about work, or what is known of you.",
)
_NAME = 12


@dataclass(frozen=True, slots=True)
class OpenMemory:
    """The memory files of a profile, and how the command is to answer."""

    settings: Settings
    files: MemoryFiles
    as_json: bool

    def answer(self, value: object, drawn: Callable[[OutputScreen], Sequence[Line]]) -> None:
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


def _file_fields(opened: OpenMemory, notebook: Notebook, entries: Entries) -> dict[str, object]:
    """Return a file as the fields of its JSON."""
    return {
        "target": notebook.name,
        "path": str(opened.files.path(notebook)),
        "entries": list(entries),
        "characters": size_of(entries),
        "limit": notebook.limit,
    }


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
    held: list[tuple[Notebook, Entries | str]] = []
    for notebook in chosen:
        try:
            held.append((notebook, opened.files.entries(notebook)))
        except MemoryRefused as error:
            held.append((notebook, str(error)))
    projects = () if target else project_files(Path.cwd())
    provider = provider_state(opened.settings)
    value = {
        "folder": str(opened.files.folder),
        "files": [_shown_fields(opened, notebook, entries) for notebook, entries in held],
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
        style = "dim" if provider.is_usable or not provider.name else "bold red"
        heading = Styled(f"{'external':<{_NAME}}", "bold")
        named = f"{provider.name}: {provider.words}" if provider.name else provider.words
        return [*files, *_projects(projects), (heading, Styled(named, style))]

    opened.answer(value, lambda view: drawn(view.width))
    return Exit.FAILED if any(isinstance(each, str) for _, each in held) else Exit.DONE


def _shown_fields(
    opened: OpenMemory, notebook: Notebook, entries: Entries | str
) -> dict[str, object]:
    if isinstance(entries, str):
        return {**_file_fields(opened, notebook, ()), "problem": entries}
    findings = [f"{each.excerpt}: {each.reason}" for entry in entries for each in screen(entry)]
    return {**_file_fields(opened, notebook, entries), "suspicious": findings}


def _file(notebook: Notebook, entries: Entries | str, width: int) -> list[Line]:
    heading = Styled(f"{notebook.file:<{_NAME}}", "bold")
    if isinstance(entries, str):
        return [(heading, Styled(entries, "bold red"))]
    # How full a file is, in words.
    if not entries:
        fullness = f"empty; {notebook.limit:,} characters fit"
    else:
        count = f"{len(entries)} {'entry' if len(entries) == 1 else 'entries'}"
        fullness = f"{count}, {usage(notebook, entries)}"
    lines: list[Line] = [(heading, Styled(fullness, "dim"))]
    for entry in entries:
        first, *rest = wrapped(entry, width - 4)
        lines.append((Styled("  - "), Styled(first)))
        lines += [(Styled("    "), Styled(line)) for line in rest]
        lines += [
            (Styled("    "), Styled(f"not shown to a model: it looks like {each.reason}", "yellow"))
            for each in screen(entry)
        ]
    return lines


def _projects(projects: Sequence[ProjectFile]) -> list[Line]:
    heading = Styled(f"{'project':<{_NAME}}", "bold")
    if not projects:
        return [(heading, Styled("no project files from here up to the root", "dim"))]
    lines: list[Line] = [(heading, Styled(counted(len(projects), "file"), "dim"))]
    for each in projects:
        size = Styled(f"  {counted(len(each.text), 'character')}", "dim")
        lines.append((Styled("  - "), Styled(each.path), size))
        lines += [(Styled("    "), Styled(note, "yellow")) for note in each.notes]
    return lines


@dataclass(frozen=True, slots=True)
class MemoryProviderState:
    """What is known of a provider without asking it anything."""

    name: str
    """Empty when none is configured."""
    words: str
    is_usable: bool


def provider_state(settings: Settings) -> MemoryProviderState:
    """Return the state of the provider that the settings name; nothing is sent anywhere."""
    name = settings.memory.provider
    if name is None:
        return MemoryProviderState(
            "", "none; the setting memory.provider names one", is_usable=False
        )
    try:
        memory_of(settings, os.environ)
    except HoldfastError as error:
        return MemoryProviderState(name, str(error), is_usable=False)
    waits = f"a turn waits up to {settings.memory.deadline:g} s for it"
    return MemoryProviderState(name, f"in place; {waits}", is_usable=True)


@click.command(
    "add",
    epilog=examples(
        'holdfast memory add "The staging port is 8443"',
        'holdfast memory add --target user "Prefers short answers"',
        "git log -1 --format=%s | holdfast memory add -",
    ),
)
@click.argument("text")
@target_flag
@with_memory
def add_command(opened: OpenMemory, text: str, *, target: str) -> Exit:
    """Remember something in every session to come.

    TEXT is one fact in a sentence or two, or - for standard input. Secrets are masked. The exit
    code is 3 when it is remembered already.
    """
    return _edit(opened, Add(target, _text(text)))


@click.command(
    "replace",
    epilog=examples('holdfast memory replace 8443 "The staging port is 9443 since the move"'),
)
@click.argument("old")
@click.argument("text")
@target_flag
@with_memory
def replace_command(opened: OpenMemory, old: str, text: str, *, target: str) -> Exit:
    """Put another entry in the place of one.

    OLD is a piece of text that only one entry has. TEXT is the whole entry that takes its place, or
    - for standard input.
    """
    return _edit(opened, Replace(target, old, _text(text)))


@click.command(
    "remove",
    epilog=examples(
        'holdfast memory remove "staging port"',
        'holdfast memory remove --target user "short answers"',
    ),
)
@click.argument("old")
@target_flag
@with_memory
def remove_command(opened: OpenMemory, old: str, *, target: str) -> Exit:
    """Forget an entry.

    OLD is a piece of text that only one entry has.
    """
    return _edit(opened, Remove(target, old))


def _edit(opened: OpenMemory, edit: Edit) -> Exit:
    edition = opened.files.edit(edit)
    is_done = isinstance(edition, Edited)
    if not is_done and not opened.as_json:
        tell(edition.words)
        return Exit.NOTHING_TO_DO
    fields = _file_fields(opened, NOTEBOOKS[edit.target], edition.entries)
    opened.answer(
        {"done": is_done, "message": edition.words, **fields},
        lambda _: [(Styled(edition.words),)],
    )
    return Exit.DONE if is_done else Exit.NOTHING_TO_DO


def _text(given: str) -> str:
    if given != PIPE:
        return given
    try:
        return input_bytes().read().decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise Unusable(f"standard input is not UTF-8 text (byte {error.start})") from None


@click.command(
    "path",
    epilog=examples("holdfast memory path", '$EDITOR "$(holdfast memory path --target user)"'),
)
@target_flag
@with_memory
def path_command(opened: OpenMemory, *, target: str) -> None:
    """Print where the memory files are, or would be.

    They are yours to edit: an entry is a paragraph or an item of a list, or what stands between
    lines with nothing but a section sign.
    """
    file = opened.files.path(NOTEBOOKS[target])
    opened.answer({"path": str(file), "exists": file.exists()}, lambda _: [(Styled(str(file)),)])
