"""Memory and project files as the block that stands in the system prompt.

Every part says who wrote it: a model obeys what it takes for an order, and none of this is one by
itself. The block is made once for a session, so that the prompt before it stays in the cache.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.memory.entries import SEPARATOR, size_of
from holdfast.memory.screening import softened
from holdfast.memory.scrubber import without_tags

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from holdfast.memory.entries import Entries
    from holdfast.memory.notebooks import Notebook

__all__ = ["ProjectFile", "prompt_block", "usage"]

_PROJECT_LABEL = (
    "written by whoever keeps this project; it says how work is done here, the nearest file last, "
    "and the user's own words come before it"
)
_PATIENCE = 2
"""How many times its limit a file that grew by hand is shown."""


@dataclass(frozen=True, slots=True)
class ProjectFile:
    """A file in which a project tells agents how to work on it."""

    path: str
    """As a person finds it from the working directory."""
    text: str
    """What of it may be shown."""
    notes: tuple[str, ...] = ()
    """What was left out of it, and why, as sentences."""


def prompt_block(
    notebooks: Iterable[tuple[Notebook, Entries]], projects: Sequence[ProjectFile] = ()
) -> str:
    """Return the block, empty when nothing is kept and no project speaks."""
    sections = [_section(notebook, entries) for notebook, entries in notebooks if entries]
    if projects:
        files = "\n\n".join(map(_file, projects))
        sections.append(f"## Project files\n[Reference: {_PROJECT_LABEL}.]\n\n{files}")
    return "\n\n".join(sections)


def usage(notebook: Notebook, entries: Entries) -> str:
    """Return how full a file is, in words."""
    size = size_of(entries)
    return f"{size * 100 // notebook.limit} % of {notebook.limit:,} characters"


def _section(notebook: Notebook, entries: Entries) -> str:
    whole = f"\n{SEPARATOR}\n".join(entries)
    room = notebook.limit * _PATIENCE
    text, _ = softened(without_tags(whole[:room]))
    heading = f"## {notebook.title} ({notebook.file}, {usage(notebook, entries)})"
    left = f"\n[{len(whole) - room:,} characters do not fit and are left out; shorten the file]"
    rest = left if len(whole) > room else ""
    return f"{heading}\n[Reference: {notebook.label}.]\n{text}{rest}"


def _file(project: ProjectFile) -> str:
    notes = "".join(f"\n[{note}]" for note in project.notes)
    return f"### {project.path}\n{project.text}{notes}"
