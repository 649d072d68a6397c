"""Everything that the text of a summary holds, and the jobs and asks that pass to a summarizer.

The words of users, the evidence and the live state are not the summarizer's to reword. They
have headings of their own after the thirteen sections, and read back exactly as written.
"""

from __future__ import annotations

import re
from collections import defaultdict
from dataclasses import dataclass
from enum import StrEnum
from itertools import groupby
from typing import TYPE_CHECKING, Literal, TypeAlias

from holdfast.summary.reader import adopt, reading
from holdfast.summary.record import HEADINGS, render

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

    from holdfast.summary.record import Record
    from holdfast.transcript import Message
    from holdfast.transcript.toolkit import PlanItem

_EVIDENCE = "## Evidence"
_SAID = "## Said by the User"
_LASTING = "## Standing Words of the User"
_LIVE = "## Live State"
_NOTE = "## About This Summary"
# Content never stands at the margin with a `#`, so these can only be our own headings.
_HEADING = re.compile(
    rf"^({'|'.join((_EVIDENCE, _SAID, _LASTING, _LIVE, _NOTE))})[^\S\n]*(?:\n|\Z)", re.MULTILINE
)


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A record with the evidence, the users' words and the live state beside it."""

    record: Record
    evidence: str = ""
    said: tuple[str, ...] = ()
    """What users said, word for word."""
    live: str = ""
    lasting: tuple[str, ...] = ()
    """What users said that holds beyond its turn, word for word; earlier versions wrote it."""
    note: str = ""
    """Who wrote the summary, and how to get at what it stands for."""

    def __post_init__(self) -> None:
        """Drop blank space around the texts that are laid out again each time."""
        for name in ("evidence", "live", "note"):
            object.__setattr__(self, name, getattr(self, name).strip())


def render_checkpoint(checkpoint: Checkpoint) -> str:
    """Write the checkpoint; parts that are empty leave no heading."""
    parts = {
        _EVIDENCE: _escaped(checkpoint.evidence),
        _LASTING: _quoted(checkpoint.lasting),
        _SAID: _quoted(checkpoint.said),
        _LIVE: _escaped(checkpoint.live),
        _NOTE: _escaped(checkpoint.note),
    }
    told = [f"{heading}\n{text}" for heading, text in parts.items() if text]
    return "\n\n".join([render(checkpoint.record), *told])


def read_checkpoint(text: str, origin: str = "holdfast") -> Checkpoint:
    """Read a checkpoint back, from this system or from another.

    Text that is no record of ours is adopted: whatever it says stays in some section.
    """
    record, *parts = _HEADING.split(text)
    found = reading(record)
    if found is None or len(found.present) < len(HEADINGS):
        # What we write has all its sections; anything else may hold words outside of them.
        return Checkpoint(adopt(text, origin))
    under: defaultdict[str, str] = defaultdict(str)
    for heading, words in zip(parts[::2], parts[1::2], strict=True):
        under[heading] += words
    return Checkpoint(
        found.record,
        _unescaped(under[_EVIDENCE]),
        _unquoted(under[_SAID]),
        _unescaped(under[_LIVE]),
        _unquoted(under[_LASTING]),
        _unescaped(under[_NOTE]),
    )


def _escaped(text: str) -> str:
    """Return the text with a backslash before each line that could pass for a heading."""
    lines = text.split("\n")
    return "\n".join(f"\\{line}" if line.startswith(("#", "\\")) else line for line in lines)


def _unescaped(text: str) -> str:
    return "\n".join(line.removeprefix("\\") for line in text.strip().split("\n"))


def _quoted(quotes: Iterable[str]) -> str:
    lines = ([f"> {line}" if line else ">" for line in words.split("\n")] for words in quotes)
    return "\n\n".join(map("\n".join, lines))


def _unquoted(text: str) -> tuple[str, ...]:
    blocks = groupby(text.split("\n"), key=lambda line: line.startswith(">"))
    return tuple(
        "\n".join(line[1:].removeprefix(" ") for line in lines)
        for quotes, lines in blocks
        if quotes
    )


@dataclass(frozen=True, slots=True)
class Ask:
    """A request for one piece of writing."""

    prompt: str
    max_tokens: int
    """How long the answer may get."""
    purpose: Literal["first", "update", "repair"]
    step: int = 1
    """Which chunk of the folded turns this is, from 1."""
    steps: int = 1
    """How many chunks there are."""


@dataclass(frozen=True, slots=True)
class Written:
    """What the summarizer wrote."""

    text: str
    model: str = ""


class Failure(StrEnum):
    """Why there is no answer; decides what happens next."""

    AUTH = "auth"
    MISSING = "missing"
    TRANSIENT = "transient"
    MISREAD = "misread"
    EMPTY = "empty"
    MALFORMED = "malformed"
    COOLDOWN = "cooldown"
    UNCONFIGURED = "unconfigured"


@dataclass(frozen=True, slots=True)
class Declined:
    """No answer, and why."""

    failure: Failure
    reason: str
    retry_after: float | None = None
    """Seconds after which another try makes sense, where that is known."""


Answer: TypeAlias = Written | Declined


@dataclass(frozen=True, slots=True)
class Job:
    """Everything that writing a record needs to know."""

    messages: Sequence[Message]
    """The turns to be folded, unpruned."""
    previous: Checkpoint | None
    """What an earlier compaction left; it is updated, never quoted as a turn."""
    budget: int
    """How many tokens the record may have."""
    window: int
    """How many tokens the summarizer accepts, its answer included."""
    count: Callable[[str], int]
    redact: Callable[[str], str]
    today: str
    """The date, which prompts give to the model."""
    focus: str = ""
    """The topic that gets most of the room, where somebody named one."""
    hint: str = ""
    """What the newest turns are about: it biases, and takes no room from the rest."""
    task: str = ""
    """The newest user input of the whole conversation; it may stand after these turns."""
    opening: str = ""
    """The first user input of the whole conversation; it may stand before these turns."""
    context: Sequence[Message] = ()
    """The conversation that these turns are part of, as far as it is not summarized."""
    head: int = 0
    """Where the turns to be folded begin in the context: what precedes them may stay for long."""
    fresh: int = 0
    """Where in the context begins what the previous checkpoint's record does not know yet."""
    plan: Sequence[PlanItem] = ()
    """The agent's plan as it stands; it is told beside the record."""

    @property
    def whole(self) -> Sequence[Message]:
        """Return the turns with what stands around them and stays in the window."""
        return self.context or self.messages


@dataclass(frozen=True, slots=True)
class Composed:
    """A record that a summarizer wrote, read and checked."""

    record: Record
    chunks: int
    """How many answers it took."""
    model: str = ""
    warnings: tuple[str, ...] = ()
