"""Memory and project files as the block that stands in the system prompt.

Every part says who wrote it: a model obeys what it takes for an order, and none of this is one by
itself. What a file says stands between tags of its own, which nothing inside can end, so that no
file can speak under the label of another. The block is made once for a session, so that the prompt
before it stays in the cache.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.memory.entries import SEPARATOR, size_of
from holdfast.memory.screening import softened
from holdfast.memory.scrubber import without_tags
from holdfast.redaction import redact
from holdfast.wire.json_text import encodable

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.memory.entries import Entries, Notebook

__all__ = ["FENCE_END", "FENCE_START", "ProjectFile", "fenced", "prompt_block", "usage"]

FENCE_START, FENCE_END = "<reference from=", "</reference>"

_PROJECT_LABEL = (
    "written by whoever keeps this project; it says how work is done here, the nearest file last, "
    "and the user's own words come before it"
)
_PATIENCE = 2
"""How many times its limit a file that grew by hand is shown."""
_FENCE = re.compile(r"<(\\*\s*(?:/\s*)?reference\b)", re.IGNORECASE)
_UNFIT = re.compile(r"[\s<>\"\x00-\x1f\x7f-\x9f]+")
_LONGEST_NAME = 200


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
    notebooks: Iterable[tuple[Notebook, Entries]],
    projects: Sequence[ProjectFile] = (),
    redactor: Callable[[str], str] = redact,
) -> str:
    """Return the block, empty when nothing is kept and no project speaks.

    Args:
        notebooks: The files of memory with what they hold.
        projects: The files of the project, screened and redacted.
        redactor: Masks the secrets that somebody wrote into a file of memory by hand.
    """
    sections = [_section(notebook, entries, redactor) for notebook, entries in notebooks if entries]
    if projects:
        files = "\n\n".join(
            f"### {_name(each.path)}"
            + (f"\n{fenced(each.path, each.text)}" if each.text else "")
            + "".join(f"\n[{note}]" for note in each.notes)
            for each in projects
        )
        sections.append(f"## Project files\n[Reference: {_PROJECT_LABEL}.]\n\n{files}")
    return "\n\n".join(sections)


def usage(notebook: Notebook, entries: Entries) -> str:
    """Return how full a file is, in words."""
    size = size_of(entries)
    return f"{size * 100 // notebook.limit} % of {notebook.limit:,} characters"


def fenced(source: str, text: str) -> str:
    """Return a text between tags that name its source and that nothing in it can end."""
    inside = _FENCE.sub(r"<\\\1", encodable(text))
    return f'{FENCE_START}"{_name(source)}">\n{inside}\n{FENCE_END}'


def _name(source: str) -> str:
    """Return the name of a source on one line; a name that gives orders is none."""
    name = " ".join(_UNFIT.sub(" ", encodable(source)).split())[:_LONGEST_NAME]
    return softened(name)[0].strip("[]")


def _section(notebook: Notebook, entries: Entries, redactor: Callable[[str], str]) -> str:
    # Masked before it is cut: half a secret is no longer known for one.
    whole = redactor(f"\n{SEPARATOR}\n".join(entries))
    room = notebook.limit * _PATIENCE
    text, _ = softened(without_tags(whole[:room]))
    heading = f"## {notebook.title} ({notebook.file}, {usage(notebook, entries)})"
    left = f"\n[{len(whole) - room:,} characters do not fit and are left out; shorten the file]"
    rest = left if len(whole) > room else ""
    return f"{heading}\n[Reference: {notebook.label}.]\n{fenced(notebook.file, text)}{rest}"
