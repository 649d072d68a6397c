"""What a file holds: a transcript, and everything needed to write it back where it came from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.errors import HoldfastError

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.formats.events import About, Problem
    from holdfast.formats.json_access import JsonObject
    from holdfast.transcript import Transcript

__all__ = ["Aside", "Document", "Envelope", "Guess", "ReadOnlyFormat", "Style"]


@dataclass(frozen=True, slots=True)
class Guess:
    """What a text seems to be."""

    format: str
    """A name in `FORMATS`, or nothing when no format fits."""
    confidence: float
    """From 0 to 1: 1 for a signature that no other format has."""
    reason: str


@dataclass(frozen=True, slots=True)
class Style:
    """How JSON was laid out."""

    indent: str | None = None
    compact: bool = False
    """Whether separators are written without a space after them."""
    final_newline: bool = False


@dataclass(frozen=True, slots=True)
class Aside:
    """An entry among the messages that no model ever sees, such as Hermes' `session_meta`."""

    following: int
    """How many messages stand after it: a compaction keeps the end of a conversation."""
    value: JsonObject


@dataclass(frozen=True, slots=True)
class Envelope:
    """The container of a conversation, with a hole where the conversation was."""

    rest: JsonObject | None
    """The object around the conversation, in its own order; None for a bare list of messages."""
    key: str = ""
    """Where in `rest` the messages belong."""
    system_key: str = ""
    """Where in `rest` the system prompt belongs; empty when the source had none."""
    lines: bool = False
    """Whether a bare list is written one message a line."""
    asides: tuple[Aside, ...] = ()
    style: Style = Style()
    messages: Sequence[dict[str, object]] = ()
    """The messages as they were read, which go out again where they did not change."""


@dataclass(frozen=True, slots=True)
class Document:
    """A file that was read.

    The transcript is the whole file in order, also what stood before a compaction.
    """

    format: str
    dialect: str
    transcript: Transcript
    envelope: Envelope | None = None
    """None for the session file of an agent."""
    problems: tuple[Problem, ...] = ()
    about: About | None = None
    """What the session file of an agent tells besides what was said."""
    window: Transcript | None = None
    """What the model saw at the end of a session file; None where that is everything."""

    @property
    def model(self) -> str:
        """Return which model it was held with, where the file says so."""
        if self.about is not None:
            return self.about.model
        named = (self.envelope.rest or {}).get("model") if self.envelope else ""
        return named if isinstance(named, str) else ""

    @property
    def live(self) -> Transcript:
        """Return what the model sees: a session file keeps what it does not see any more."""
        return self.transcript if self.window is None else self.window


class ReadOnlyFormat(HoldfastError):
    """A format can be read and not written; the message names the formats that can."""

    def __init__(self, name: str, choices: tuple[str, ...]) -> None:
        """Keep the name and what may be chosen in its place."""
        options = "|".join(choices)
        super().__init__(f"{name} can be read, not yet written; choose --to {options}")
        self.name = name
        self.choices = choices
