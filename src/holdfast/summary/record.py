"""The record: what a reader who never saw the folded turns has to know, in thirteen sections.

It is a typed value so that updates work on entries. `render` writes it, `reader` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

__all__ = ["HEADINGS", "Record", "last_number", "number_of", "render", "renumbered", "words_of"]

HEADINGS: dict[str, str] = {
    "task": "Historical Task Snapshot",
    "goal": "Goal",
    "constraints": "Constraints & Preferences",
    "actions": "Completed Actions",
    "state": "Active State",
    "in_progress": "Historical In-Progress State",
    "blocked": "Blocked",
    "decisions": "Key Decisions",
    "resolved": "Resolved Questions",
    "pending": "Historical Pending User Asks",
    "files": "Relevant Files",
    "remaining": "Historical Remaining Work",
    "critical": "Critical Context",
}
"""The heading of each section, by the name of its field, in the order of the page.

Headings are declarative and historical, so that a model does not read them as fresh orders.
"""

NOTHING = frozenset(
    [
        *("", "-", "none", "(none)", "n/a", "nothing", "keine", "nichts", "aucun", "aucune"),
        *("rien", "ninguno", "ninguna", "nada", "nenhum", "nenhuma", "нет", "ничего"),
        *("无", "無", "没有", "暂无", "なし", "特になし", "없음"),
    ]
)
"""What an empty section says, without case and final punctuation."""


@dataclass(frozen=True, slots=True)
class Record:
    """A working record that replaces turns.

    Entries are kept stripped, each once, without empty ones. Every completed action begins with
    its own number (`12. RAN make test - exit 0`): numbers only rise, so that they stay the same
    when older actions go, and later ones continue them.
    """

    task: tuple[str, ...] = ()
    """The user's newest unfulfilled input, word for word."""
    goal: tuple[str, ...] = ()
    """What the user is after overall."""
    constraints: tuple[str, ...] = ()
    """Style, tools, standing rules."""
    actions: tuple[str, ...] = ()
    """What was done, numbered, with outcomes."""
    state: tuple[str, ...] = ()
    """Directory, branch, changed files, test counts, processes."""
    in_progress: tuple[str, ...] = ()
    """What was under way."""
    blocked: tuple[str, ...] = ()
    """Blockers with exact error texts."""
    decisions: tuple[str, ...] = ()
    """What was decided and why."""
    resolved: tuple[str, ...] = ()
    """Questions with their answers."""
    pending: tuple[str, ...] = ()
    """Asks without an answer, for reference."""
    files: tuple[str, ...] = ()
    """Files read, changed or created, one note each."""
    remaining: tuple[str, ...] = ()
    """What was left, as context and never as a command."""
    critical: tuple[str, ...] = ()
    """Exact values that stand nowhere else."""

    def __post_init__(self) -> None:
        """Bring every entry into the one form in which it is written and read back."""
        for field in fields(self):
            kept = _kept(getattr(self, field.name))
            numbered = field.name == "actions"
            entries = renumbered(kept) if numbered else tuple(dict.fromkeys(kept))
            object.__setattr__(self, field.name, entries)

    def __bool__(self) -> bool:
        """Say whether the record holds anything."""
        return any(entries for _, entries in self.sections())

    def sections(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each field's name with its entries, in the order of the page."""
        for name in HEADINGS:
            yield name, getattr(self, name)


def _kept(entries: Iterable[str]) -> Iterator[str]:
    for entry in entries:
        stripped = entry.replace("\r\n", "\n").strip()
        if stripped.rstrip(".。").casefold() not in NOTHING:
            yield stripped


def renumbered(entries: Iterable[str], after: int = 0) -> tuple[str, ...]:
    """Return the entries with numbers that rise from above `after`.

    A number that already rises is kept: gaps tell that something was condensed.
    """
    found: list[str] = []
    for entry in entries:
        own = number_of(entry)
        after = own if own > after else after + 1
        found.append(entry if own == after else f"{after}. {words_of(entry)}")
    return tuple(found)


def number_of(entry: str) -> int:
    """Return the number that an action begins with, or 0."""
    digits, dot, words = entry.partition(". ")
    plain = dot and digits.isascii() and digits.isdecimal() and len(digits) < 9
    return int(digits) if plain and digits == str(int(digits)) and words.strip() else 0


def words_of(entry: str) -> str:
    """Return an action without its number."""
    return entry.partition(". ")[2].strip() if number_of(entry) else entry


def last_number(entries: tuple[str, ...]) -> int:
    """Return the number of the newest action, or 0."""
    return number_of(entries[-1]) if entries else 0


EMPTY = "None."
"""What an empty section says."""


def render(record: Record) -> str:
    """Write the record.

    Nothing in an entry can pass for a heading or for another entry: its first line stands behind
    a bullet or a number, and its further lines are indented.
    """
    return "\n\n".join(
        f"## {HEADINGS[name]}\n"
        + "\n".join(render_entry(name, each) for each in entries or (EMPTY,))
        for name, entries in record.sections()
    )


def render_entry(section: str, entry: str) -> str:
    """Write one entry of the section; an action brings its own number."""
    if entry == EMPTY:
        return entry
    indented = entry if "\n" not in entry else _indented(entry)
    return indented if section == "actions" else f"- {indented}"


def _indented(entry: str) -> str:
    first, *rest = entry.split("\n")
    return "\n".join([first, *(f"  {line}" if line else "" for line in rest)])
