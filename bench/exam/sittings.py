"""The sessions and questions of the exam, read from the folder of real material."""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import TYPE_CHECKING

from bench.report import shared
from bench.windows import stand_together

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SPAN = 600
"""Characters within which all of an answer must stand."""


@dataclass(frozen=True, slots=True)
class Question:
    """A question by its kind and the keys of its answer."""

    kind: str
    keys: tuple[tuple[str, ...], ...]
    """Groups of alternatives; an answer has one of each group."""
    text: str = ""


@dataclass(frozen=True, slots=True)
class Sitting:
    """A session at the point where its agent compacted, and what is asked about it."""

    session: str
    messages: list[dict[str, object]]
    own_summary: str
    """What the agent's own model wrote at that point; its length is the size 1x."""
    questions: tuple[Question, ...]


def sittings() -> tuple[Sitting, ...]:
    """Return the sessions of the exam, none where the folder of real material is missing."""
    folder = shared()
    exam = folder / "data" / "exam" / "exam.json" if folder else None
    if exam is None or not exam.is_file():
        return ()
    found: list[Sitting] = []
    for session, asked in json.loads(exam.read_text("utf-8")).items():
        value = json.loads((exam.parent / f"{session}.json").read_text("utf-8"))
        questions = tuple(
            Question(each["kind"], tuple(map(tuple, each["keys"])), each["q"]) for each in asked
        )
        found.append(Sitting(session, value["messages"], value["own_summary"], questions))
    return tuple(found)


def present(text: str, keys: Sequence[Sequence[str]]) -> bool:
    """Say whether an answer stands in the text, by the rule of the exam.

    Some stretch of 600 characters must have one alternative of every group of keys; case does not
    matter. A list of bare names does not satisfy it.
    """
    lower = text.lower()
    places = [sorted(at for each in group for at in _places(lower, each)) for group in keys]
    return stand_together(places, SPAN)


def _places(text: str, key: str) -> Iterator[int]:
    at = text.find(key.lower())
    while at >= 0:
        yield at
        at = text.find(key.lower(), at + 1)
