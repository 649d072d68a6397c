"""Memory and project files as a block in the system prompt, and taken out of what models say.

Every part says who wrote it: a model obeys what it takes for an order, and none of this is one by
itself. What a file says stands between tags of its own, which nothing inside can end, so that no
file can speak under the label of another. The block is made once for a session, so that the prompt
before it stays in the cache. A model that is shown it may repeat it: what stands between the tags
is not for the user's eyes a second time, and must not become part of what was said.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.memory.entries import SEPARATOR, Entries, Notebook, size_of
from holdfast.memory.screening import softened
from holdfast.redaction import redact
from holdfast.wire.json_text import encodable
from holdfast.wire.markers import ANY_TAG, TAG

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence


LONGEST_TAG = 1_024
"""What is longer than this between its brackets is text; so at most 1,023 characters wait."""

_LEAD = re.compile(r"<\s*/?\s*")
_REMOVED = "<…>"
"""Stands where a tag was taken out of the middle of what would be another one without it."""


class Scrubber:
    """Removes blocks of memory from a stream of text.

    Tags count in any case, with spaces and attributes. Blocks may stand inside one another. A block
    that nobody closes goes on to the end, and a closing tag without a block is removed as well.
    Where a text is cut never matters: the pieces that come out join to `scrub` of the whole. What
    comes out has no tag itself, also where taking one out has joined the halves of another.
    """

    def __init__(self) -> None:
        """Begin outside every block."""
        self._depth = 0
        self._held = ""
        self._open = ""
        self._has_gap = False

    @property
    def held(self) -> str:
        """Return what may yet become a tag: fewer than `LONGEST_TAG` characters, mostly none."""
        return self._held

    def push(self, delta: str) -> str:
        """Take the next piece of the text; return what of it can be shown now."""
        text = self._held + delta
        self._held = ""
        shown: list[str] = []
        start, here = 0, text.find("<")
        while here >= 0:
            piece = text[here : here + LONGEST_TAG]
            found = ANY_TAG.match(piece)
            if found is None and len(piece) < LONGEST_TAG and _may_become_tag(piece):
                self._held = piece
                break
            if found is not None:
                shown.append(self._seen(text[start:here]))
                if found[1]:
                    self._depth = max(self._depth - 1, 0)
                elif not found[0].endswith("/>"):
                    self._depth += 1
                self._has_gap = True
                start = here + found.end()
            here = text.find("<", max(here + 1, start))
        end = len(text) - len(self._held)
        shown.append(self._seen(text[start:end]))
        return "".join(shown)

    def finish(self) -> str:
        """End the text; return what was held back and turned out to be no tag."""
        rest = self._seen(self._held)
        self._held = ""
        return rest

    def _seen(self, text: str) -> str:
        """Return what is shown of a text, and keep in mind what its end may yet become."""
        if self._depth or not text:
            return ""
        shown = f"{_REMOVED}{text}" if self._has_gap and self._open else text
        self._has_gap = False
        last = f"{self._open}{shown}"[-LONGEST_TAG:]
        start = last.rfind("<")
        self._open = last[start:] if start >= 0 and _may_become_tag(last[start:]) else ""
        return shown


def scrub(text: str) -> str:
    """Return a whole text without blocks of memory."""
    scrubber = Scrubber()
    return scrubber.push(text) + scrubber.finish()


def without_tags(text: str) -> str:
    """Return the text without the tags of memory, and with what stands between them.

    What a provider recalls gets a block of ours; a tag of its own could only end it early.
    """
    while True:
        # Taking a tag out may join what stood around it to another one.
        bare = ANY_TAG.sub("", text)
        if bare == text:
            return bare
        text = bare


def _may_become_tag(piece: str) -> bool:
    """Say whether more text could complete a tag that begins here."""
    lead = _LEAD.match(piece)
    name = piece[lead.end() if lead else 0 :].lower()
    if len(name) <= len(TAG):
        return TAG.startswith(name)
    return name.startswith(TAG) and ANY_TAG.match(f"{piece}>") is not None


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
    sections: list[str] = []
    for notebook, entries in notebooks:
        if not entries:
            continue
        # Masked before it is cut: half a secret is no longer known for one.
        whole = redactor(f"\n{SEPARATOR}\n".join(entries))
        room = notebook.limit * _PATIENCE
        text, _ = softened(without_tags(whole[:room]))
        section = f"## {notebook.title} ({notebook.file}, {usage(notebook, entries)})"
        section += f"\n[Reference: {notebook.label}.]\n{fenced(notebook.file, text)}"
        if len(whole) > room:
            left = f"{len(whole) - room:,} characters do not fit and are left out"
            section += f"\n[{left}; shorten the file]"
        sections.append(section)
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
