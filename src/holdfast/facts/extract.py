"""Facts in one text, whoever wrote it."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING

from holdfast.facts.cues import constraints, decisions, verdicts
from holdfast.facts.rules import read_run, runs
from holdfast.facts.sources import clipped

if TYPE_CHECKING:
    from holdfast.facts.rules import Fact

__all__ = ["extract"]


def extract(text: str) -> tuple[Fact, ...]:
    """Return the facts in a text: each once, names in order of appearance, then whole lines.

    Lines are looked for where prose is short, names everywhere. Commands and errors are facts of a
    tool call and its result, so `gather` finds those.
    """
    names = chain.from_iterable(map(read_run, dict.fromkeys(runs(text))))
    prose = clipped(text)
    lines = chain(constraints(prose), decisions(prose), verdicts(prose))
    return tuple(dict.fromkeys(chain(names, lines)))
