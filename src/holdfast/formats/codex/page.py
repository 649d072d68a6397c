"""Writes the lines of a rollout: their envelope, their times, and the first of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import About
from holdfast.formats.codex.about import NOTED, about_of
from holdfast.formats.derived import derived_uuid, is_uuid
from holdfast.formats.document import Style
from holdfast.formats.documents.container import dump
from holdfast.formats.moments import iso
from holdfast.session import Fork

if TYPE_CHECKING:
    from collections.abc import Mapping

__all__ = ["Page"]

_STYLE = Style(None, compact=True)
_EARLIEST = 946_684_800_000
"""The first moment of the year 2000, for a session that nobody knows the time of."""
_STEP = 1000
_NOTHING: Mapping[str, object] = {}


class Page:
    """Counts and dates lines while they are written."""

    def __init__(self) -> None:
        """Begin an empty file."""
        self.about = About()
        self.count = 0
        """How many lines were written."""
        self._now: int | None = None

    @property
    def id(self) -> str:
        """Return the id of the session, which is a UUID in Codex."""
        known = self.about.id
        return known if is_uuid(known) else derived_uuid(f"session {known}")

    def tick(self, at: int | None) -> None:
        """Go on to the time of what is written next; one that is unknown is a little later."""
        start = self.about.started or _EARLIEST
        self._now = at if at is not None else (start if self._now is None else self._now + _STEP)

    def time_note(self, at: int | None) -> dict[str, object]:
        """Return the time of something that stands on a line with another time."""
        return {} if at is None or at == self._now else {"at": iso(at)}

    def line(
        self, kind: str, payload: Mapping[str, object], note: Mapping[str, object] = _NOTHING
    ) -> str:
        """Return a line."""
        if self._now is None:
            self.tick(None)
        self.count += 1
        entry: dict[str, object] = {
            "timestamp": iso(self._now or _EARLIEST),
            "type": kind,
            "payload": payload,
        }
        return dump(entry | {"holdfast": note} if note else entry, _STYLE)

    def meta(self, instructions: str, at: int | None, note: Mapping[str, object]) -> str:
        """Return the first line of the file."""
        self.tick(at if at is not None else self.about.started)
        payload = self._meta()
        if instructions:
            payload["base_instructions"] = {"text": instructions}
        beside = dict(note)
        if missing := _missing(self.about, about_of(payload, {}, None)):
            beside["about"] = missing
        return self.line("session_meta", payload, beside)

    def _meta(self) -> dict[str, object]:
        about, more = self.about, self.about.more
        is_native = isinstance(more.get("originator"), str)
        payload: dict[str, object] = {
            "id": self.id,
            "timestamp": iso(about.started or _EARLIEST),
            "cwd": about.cwd or "/",
            "originator": more["originator"] if is_native else "holdfast",
            "cli_version": (about.version if is_native else "") or "0.0.0",
            "source": more["source"] if is_native and "source" in more else "cli",
        }
        if "model_provider" in more:
            # Codex refuses a session of another provider than its user's, and takes one of none.
            payload["model_provider"] = more["model_provider"]
        git = more.get("git")
        if is_native and isinstance(git, dict):
            payload["git"] = git
        elif about.git_branch:
            payload["git"] = {"branch": about.git_branch}
        if about.fork is not None and is_uuid(about.parent):
            is_task = about.fork is Fork.DELEGATION
            payload["parent_thread_id" if is_task else "forked_from_id"] = about.parent
        return payload


def _missing(about: About, read: About) -> dict[str, object]:
    """Return what a reader of the first line would not know, or get wrong."""
    missing: dict[str, object] = {
        name: getattr(about, name) for name in NOTED if getattr(about, name) != getattr(read, name)
    }
    if about.fork is not read.fork and about.fork is not None:
        missing["fork"] = str(about.fork)
    return missing
