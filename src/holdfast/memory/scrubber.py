"""Takes recalled memory out of what a model says, however its words are cut into pieces.

A model that is shown a block of memory may repeat it. What stands between the tags is not for the
user's eyes a second time, and must not become part of what was said.
"""

from __future__ import annotations

import re

from holdfast.wire.markers import ANY_TAG, TAG

__all__ = ["LONGEST_TAG", "Scrubber", "scrub", "without_tags"]

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
