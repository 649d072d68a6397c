"""The record: what a reader who never saw the folded turns has to know, in thirteen sections.

It is a typed value so that updates work on entries. `render` writes it, `reader` reads it.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.summary.statements import StatementKind

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator


@dataclass(frozen=True, slots=True)
class Section:
    """All that is known of a section of the record."""

    heading: str
    hint: str
    """What a model is told to write there."""
    variants: str
    """Near variants of the heading, as models write them."""
    foreign: str
    """Headings of other systems' summaries, for what their words mean here."""
    kind: StatementKind | None = None
    """What its entries are; without one they are told by their words."""


# What other systems tell of errors was mostly mended, and what they list of a user's messages is
# history.
SECTIONS: dict[str, Section] = {
    "task": Section(
        "Historical Task Snapshot",
        hint="the user's newest request that is not fulfilled yet, word for word",
        variants="task snapshot; current task; user task; task; historical task",
        foreign="primary request; user request; latest request; active task; most recent request",
        kind=StatementKind.OPEN,
    ),
    "goal": Section(
        "Goal",
        hint="what the user is after overall",
        variants="goals; overall goal; user goal; objective",
        foreign="primary request and intent; intent; purpose; session intent; user intent;"
        " mission; overview; context and goal; what the user wants; background",
        kind=StatementKind.ASK,
    ),
    "constraints": Section(
        "Constraints & Preferences",
        hint="style, tools, standing rules, what to do and what to leave alone",
        variants="constraints; preferences; constraints and user preferences",
        foreign="user preferences; rules; instructions; requirements; guidelines; conventions;"
        " preferences and constraints; user constraints; corrections; user feedback",
        kind=StatementKind.CONSTRAINT,
    ),
    "actions": Section(
        "Completed Actions",
        hint="the story of the work, one number for each request of the user, in order: the"
        " request in the user's words; what was done about it that changed something, as ACTION"
        " target - outcome [tool: name]; how it ended. Reading and searching is a count or a"
        " path",
        variants="actions completed; completed; completed work; actions; completed steps",
        foreign="done; progress; what was done; work done; accomplished; work completed;"
        " history; analysis; chronological analysis; timeline; session history; all user"
        " messages; user messages; completed tasks; what has been done; changes made; changes;"
        " summary of work",
    ),
    "state": Section(
        "Active State",
        hint="directory, branch, files changed and not committed, test counts, running processes",
        variants="state; current state; active status; environment state",
        foreign="current work; status; environment; working state; current status; git state;"
        " where things stand; repository state; current state of work",
        kind=StatementKind.STATE,
    ),
    "in_progress": Section(
        "Historical In-Progress State",
        hint="what was under way in the last of these turns",
        variants="in progress state; in progress; historical in progress; current progress",
        foreign="work in progress; ongoing; under way; active work",
        kind=StatementKind.OPEN,
    ),
    "blocked": Section(
        "Blocked",
        hint="what stood in the way, with the exact error text",
        variants="blockers; blocked on; blocking issues; blocked items",
        foreign="issues; problems; open issues; known issues; failures; open problems",
        kind=StatementKind.OPEN,
    ),
    "decisions": Section(
        "Key Decisions",
        hint="what was decided, and why",
        variants="decisions; key decisions made; decisions made",
        foreign="technical decisions; design decisions; rationale; decisions and rationale; key"
        " decisions and rationale; design",
        kind=StatementKind.DECISION,
    ),
    "resolved": Section(
        "Resolved Questions",
        hint="questions with the answers they got",
        variants="resolved; questions resolved; answered questions; resolved user questions",
        foreign="problem solving; questions and answers; findings; discoveries; lessons;"
        " results; errors; errors and fixes; fixes; problems solved; key findings; learnings",
    ),
    "pending": Section(
        "Historical Pending User Asks",
        hint="requests without an answer, as they stood",
        variants="pending user asks; pending asks; pending user requests; pending",
        foreign="open questions; open requests; user asks; unanswered questions",
        kind=StatementKind.OPEN,
    ),
    "files": Section(
        "Relevant Files",
        hint="path - read, changed or created, and one note",
        variants="files; key files; relevant files and code; files touched",
        foreign="files and code sections; modified files; read files; artifact trail; code"
        " changes; files modified; files changed; key files modified; important files",
        kind=StatementKind.CHANGE,
    ),
    "remaining": Section(
        "Historical Remaining Work",
        hint="what was left to do, told as context",
        variants="remaining work; remaining; remaining tasks; historical remaining",
        foreign="next steps; next step; pending tasks; optional next step; to do; todo; next;"
        " what is left; open tasks; what remains; open items; still open; remaining steps",
        kind=StatementKind.OPEN,
    ),
    "critical": Section(
        "Critical Context",
        hint="exact values and settings that stand nowhere else",
        variants="critical; critical information; important context",
        foreign="context; key details; important details; references; notes; important notes;"
        " summary; key technical concepts; technical context; technical details; key facts;"
        " facts",
    ),
}
"""The sections of the record by the names of their fields, in the order of the page.

Headings are declarative and historical, so that a model does not read them as fresh orders.
"""
HEADINGS = {name: section.heading for name, section in SECTIONS.items()}

NOTHING = frozenset(
    """
    - none (none) n/a nothing keine nichts aucun aucune rien ninguno ninguna nada nenhum nenhuma
    нет ничего 无 無 没有 暂无 なし 特になし 없음
    """.split()
) | {""}
"""What an empty section says, without case and final punctuation."""


@dataclass(frozen=True, slots=True)
class Record:
    """A working record that replaces turns.

    `SECTIONS` says what stands in each. Entries are kept stripped, each once, without empty ones.
    Every completed action begins with its own number (`12. RAN make test - exit 0`): numbers only
    rise, so that they stay the same when older actions go, and later ones continue them.
    """

    task: tuple[str, ...] = ()
    goal: tuple[str, ...] = ()
    constraints: tuple[str, ...] = ()
    actions: tuple[str, ...] = ()
    state: tuple[str, ...] = ()
    in_progress: tuple[str, ...] = ()
    blocked: tuple[str, ...] = ()
    decisions: tuple[str, ...] = ()
    resolved: tuple[str, ...] = ()
    pending: tuple[str, ...] = ()
    files: tuple[str, ...] = ()
    remaining: tuple[str, ...] = ()
    critical: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        """Bring every entry into the one form in which it is written and read back."""
        for name, given in self.sections():
            entries = (entry.replace("\r\n", "\n").strip() for entry in given)
            kept = [each for each in entries if each.rstrip(".。").casefold() not in NOTHING]
            told = renumbered(kept) if name == "actions" else tuple(dict.fromkeys(kept))
            object.__setattr__(self, name, told)

    def __bool__(self) -> bool:
        """Say whether the record holds anything."""
        return any(entries for _, entries in self.sections())

    def sections(self) -> Iterator[tuple[str, tuple[str, ...]]]:
        """Yield each field's name with its entries, in the order of the page."""
        for name in HEADINGS:
            yield name, getattr(self, name)


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
        "\n".join([f"## {HEADINGS[name]}", *(render_entry(name, e) for e in entries or (EMPTY,))])
        for name, entries in record.sections()
    )


def render_entry(section: str, entry: str) -> str:
    """Write one entry of the section; an action brings its own number."""
    if entry == EMPTY:
        return entry
    first, *rest = entry.split("\n")
    indented = "\n".join([first, *(f"  {line}" if line else "" for line in rest)])
    return indented if section == "actions" else f"- {indented}"
