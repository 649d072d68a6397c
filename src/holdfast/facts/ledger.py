"""The evidence ledger: exact names that a record does not tell, each in the words it was used in.

A name without what it is tells nobody anything, so a line is the statement in which somebody used
the name last: a command that was run, a sentence that was said. It is whole or not there: half a
statement says less than the room it takes.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from holdfast.facts.rules import names_in, runs

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_READ = 500
"""How many of the newest statements are looked at."""
_OFTEN = 2.0
"""As how many uses a line of the ledger before counts."""
_HALF = 40
"""How many newer statements take half of what a use counts more for being new."""
_LONGEST = 160
"""Characters of a statement that is a line."""
_CUT = ("…", "...")
"""How a text ends that was cut before."""


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
    known, shown = runs(present), runs(around)
    read = [*((each, _OFTEN) for each in earlier), *((each, 1.0) for each in untold[-_READ:])]
    found: dict[str, tuple[str, float]] = {}
    worth: dict[str, float] = {}
    for newer, (each, uses) in enumerate(reversed(read)):
        words = each.text.strip("`\"' \n")
        # Short, and not cut before.
        is_line = len(words) <= _LONGEST and not (words.startswith(_CUT) or words.endswith(_CUT))
        for name in names_in(each.text):
            worth[name] = worth.get(name, 0.0) + uses + 0.5 * _HALF / (_HALF + newer)
            is_told = name.encode() in known or (uses == 1.0 and name.encode() in shown)
            if is_line and not is_told and name not in found:
                found[name] = " ".join(each.text.split()), uses
    lines: dict[str, None] = {}
    told = ""
    for name in sorted(found, key=lambda name: -worth[name]):
        words, uses = found[name]
        line = f"- {words}"
        cost = count(line) + 1
        # A name may stand beside other characters, which belong to the same run.
        is_told = name in told or name in present or (uses == 1.0 and name in around)
        if is_told or cost > budget:
            continue
        budget -= cost
        lines[line] = None
        told += line
    return "\n".join(lines)
