"""When an answer is not a record, and how to ask once more.

An answer is accepted when at least three of the thirteen sections are in it, or eight headings
in order when it translated them, and any of them has an entry. Sections it left out are taken
from the previous record, so half a record loses nothing.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.summary.prompts import OPENING, hints, repair_note
from holdfast.summary.reader import read

if TYPE_CHECKING:
    from holdfast.summary.asking import Ask
    from holdfast.summary.record import Record

__all__ = ["problem", "problem_of", "repair"]

_SHORT = 600
_ECHOED = 3


def problem(text: str) -> str | None:
    """Say why an answer is not a record, in words for the model and the user; nothing if it is."""
    return problem_of(text, read(text))


def problem_of(text: str, record: Record | None) -> str | None:
    """Say the same of an answer that was read already.

    Args:
        text: The answer.
        record: What it was read as, if it could be.
    """
    if not text.strip():
        return "it was empty"
    if OPENING in text or sum(hint in text for hint in hints()) >= _ECHOED:
        return "it repeated the request"
    if record is None:
        short = len(text) < _SHORT
        return "it was a reply or a refusal" if short else "it had none of the headings"
    return None if record else "every section was empty"


def repair(ask: Ask, text: str, problem: str) -> Ask:
    """Return the ask once more, with what was wrong with its answer.

    The faulty text is not sent back: the room for it may not exist.
    """
    del text
    return replace(ask, prompt=f"{ask.prompt}\n\n{repair_note(problem)}", purpose="repair")
