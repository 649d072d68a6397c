"""Sentences about an invented project, for what people and agents say to each other."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from bench.project import Dice, Project

_FOLDER = Path(__file__).resolve().parent / "sentences"


def sentences(name: str) -> tuple[str, ...]:
    """Return a stock of sentences, or of parts of them, one from each line of its file."""
    return tuple((_FOLDER / f"{name}.txt").read_text("utf-8").splitlines())


_SUBJECTS, _ACTIONS, _REASONS = map(sentences, ("subjects", "actions", "reasons"))
_REQUESTS, _THOUGHTS = map(sentences, ("requests", "thoughts"))


def sentence(dice: Dice, names: Project) -> str:
    """Return one sentence about the project."""
    subject = dice.any(_SUBJECTS).replace("{service}", dice.pick(names.services))
    action, reason = dice.any(_ACTIONS), dice.any(_REASONS)
    return f"{subject.capitalize()} {action} {dice.any(names.functions)} {reason}."


def request(dice: Dice, names: Project) -> str:
    """Return what a user asks for, sometimes with a story around it."""
    asked = _filled(dice.any(_REQUESTS), dice, names)
    story = [sentence(dice, names) for _ in range(dice.below(5))]
    return "\n\n".join([asked, *([" ".join(story)] if story else [])])


def thought(dice: Dice, names: Project) -> str:
    """Return what an agent says between two tool calls."""
    said = [_filled(dice.any(_THOUGHTS), dice, names) for _ in range(1 + dice.below(3))]
    if dice.random() < 0.15:
        said.append(f"\u2192 {dice.pick(names.paths)}")
    return " ".join(said)


def _filled(template: str, dice: Dice, names: Project) -> str:
    return template.format(
        path=dice.pick(names.paths),
        function=dice.pick(names.functions),
        class_name=dice.pick(names.classes),
        setting=dice.pick(names.settings),
        commit=dice.pick(names.commits),
        service=dice.pick(names.services),
        number=dice.below(9_000),
        reason=dice.any(_REASONS),
    )
