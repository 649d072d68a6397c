"""Proof of what a summary kept: which statements of the turns a reader can still find.

A statement is found word for word, or by its words in one passage: a model rewords, and what it
says counts where the names and most of the words of a statement stand together.
"""

from __future__ import annotations

from collections import Counter
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING

from holdfast.summary.checkpoint import Job
from holdfast.summary.draft import draft
from holdfast.summary.statements import StatementKind
from holdfast.summary.tracing import Passages

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.summary.statements import Statement
    from holdfast.transcript import Message

_ASKED_FOR = frozenset(
    map(StatementKind, "ask constraint value decision result change open state".split())
)
"""The kinds that a reader needs; how something was found out is not among them."""
_LISTED = 200
_ALL = 1_000_000
"""A budget for which everything is read closely."""


@dataclass(frozen=True, slots=True)
class Stated:
    """A statement by its kind and its words."""

    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class Audit:
    """How many statements a compaction kept."""

    statements: int = 0
    """Statements looked for."""
    retained_by_summary: int = 0
    """Statements that the record tells."""
    retained: int = 0
    """Statements in everything that the model sees afterwards."""
    kinds: tuple[tuple[str, int, int], ...] = ()
    """For each kind, how many were looked for and how many are in the window."""
    lost: tuple[Stated, ...] = ()
    """What is only in the store, the newest first, up to two hundred."""
    superseded: int = 0
    """Statements that are not looked for, since later words of users took them back."""

    def as_json(self) -> dict[str, object]:
        """Return the figures as plain JSON values."""
        kinds = {
            kind: {"statements": wanted, "retained": kept} for kind, wanted, kept in self.kinds
        }
        figures: dict[str, object] = asdict(self)
        return figures | {"kinds": kinds, "lost": list(map(asdict, self.lost))}


def audit(
    statements: Sequence[Statement], record: str, window: str, outdated: Sequence[str] = ()
) -> Audit:
    """Return how many of the statements stand in the record, and in the whole window."""
    wanted = [each for each in statements if each.kind in _ASKED_FOR]
    summary, rest = Passages(record), Passages(window.removeprefix(record))
    untold = [each for each in wanted if not summary.tell(each.text)]
    lost = [each for each in untold if not rest.tell(each.text)]
    looked_for = Counter(each.kind for each in wanted)
    gone = Counter(each.kind for each in lost)
    kinds = [(kind, looked_for[kind]) for kind in StatementKind if looked_for[kind]]
    return Audit(
        statements=len(wanted),
        retained_by_summary=len(wanted) - len(untold),
        retained=len(wanted) - len(lost),
        kinds=tuple((kind.value, times, times - gone[kind]) for kind, times in kinds),
        lost=tuple(Stated(each.kind.value, each.text) for each in reversed(lost[-_LISTED:])),
        superseded=len({*outdated}.difference(each.text for each in statements)),
    )


def compared(
    messages: Sequence[Message], window: str, redact: Callable[[str], str]
) -> tuple[list[Stated], list[Stated]]:
    """Return which statements of messages still stand in a window, and which do not."""
    passages = Passages(window)
    kept, lost = list[Stated](), list[Stated]()
    for each in draft(Job(messages, None, _ALL, 0, len, redact, "")).statements:
        if each.message >= 0 and each.kind in _ASKED_FOR:
            stated = Stated(each.kind.value, each.text)
            (kept if passages.tell(each.text) else lost).append(stated)
    return kept, lost
