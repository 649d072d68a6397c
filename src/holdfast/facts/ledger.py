"""The evidence ledger: exact names that a record does not tell, each in the words it was used in.

A name without what it is tells nobody anything, so a line is a few words of the statement in which
somebody used the name last: a command that was run, a sentence that was said.
"""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING, Protocol

from holdfast.facts.rules import names_in, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

__all__ = ["ledger"]

_names = lru_cache(maxsize=4096)(names_in)
_READ = 500
"""How many of the newest statements are looked at."""
_OFTEN = 2.0
"""As how many uses a line of the ledger before counts."""
_HALF = 40
"""How many newer statements take half of what a use counts more for being new."""
_WHOLE, _AROUND = 160, 60
"""Characters of a text that is told whole; of a longer one, those on each side of a name."""


class Used(Protocol):
    """Words in which names were used."""

    @property
    def text(self) -> str:
        """Return the words."""
        ...


def ledger(
    untold: Sequence[Used],
    *,
    present: str,
    budget: int,
    count: Callable[[str], int],
    earlier: Sequence[Used] = (),
    around: str = "",
) -> str:
    """Return lines that hold the names which a window lacks, within a budget.

    Args:
        untold: What was said and done and is not told, oldest first.
        present: Everything that the summary tells.
        budget: The most that the lines may weigh.
        count: Weighs them.
        earlier: The lines of the ledger before this one. What stood there was used often, and
            stays also where it is used again right now: what stands around the summary goes on.
        around: What stands around the summary.
    """
    if budget <= 0:
        return ""
    known = set(runs(present))
    shown = known | set(runs(around))
    read = [*((each, _OFTEN) for each in earlier), *((each, 1.0) for each in untold[-_READ:])]
    found: dict[str, str] = {}
    worth: dict[str, float] = {}
    for newer, (each, uses) in enumerate(reversed(read)):
        for name in _names(each.text):
            worth[name] = worth.get(name, 0.0) + uses + 0.5 * _HALF / (_HALF + newer)
            if name not in found and name.encode() not in (shown if uses == 1.0 else known):
                found[name] = _words_around(each.text, name)
    lines: dict[str, None] = {}
    told = ""
    for name in sorted(found, key=lambda name: -worth[name]):
        if name in told:
            continue
        line = f"- {found[name]}"
        cost = count(line) + 1
        if cost > budget:
            continue
        budget -= cost
        lines[line] = None
        told += line
    return "\n".join(lines)


def _words_around(text: str, name: str) -> str:
    """Return the name with a few words on each side of it, cut between words."""
    if len(text) <= _WHOLE:
        return " ".join(text.split())
    at = text.find(name)
    start, end = max(at - _AROUND, 0), min(at + len(name) + _AROUND, len(text))
    if start:
        start = text.find(" ", start, at) + 1 or at
    if end < len(text):
        end = max(text.rfind(" ", at + len(name), end), at + len(name))
    before, after = "… " * bool(start), " …" * (end < len(text))
    return f"{before}{' '.join(text[start:end].split())}{after}"
