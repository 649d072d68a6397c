"""What makes a ShareGPT conversation useless to those who read it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.transcript import Role, Violation
from holdfast.wire.fields import Wire, known_string, records
from holdfast.wire.sharegpt import ROLES
from holdfast.wire.sharegpt_parts import has_parts

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.wire.body import Body

__all__ = ["validate"]


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every turn that breaks a rule."""
    found: list[Violation] = []
    before: Role | None = None
    for index, turn in enumerate(body.messages):
        found += _shape(index, turn)
        role = ROLES.get(known_string(turn, "role" if has_parts(turn) else "from"))
        found += _ordering(index, role, before)
        before = role
    return tuple(found)


def _shape(index: int, turn: Wire) -> Iterator[Violation]:
    speaker = turn.get("role" if has_parts(turn) else "from")
    if speaker not in ROLES:
        yield Violation(index, "unknown-role", f"there is no role {speaker!r}")
    if has_parts(turn):
        if not all("type" in part and "value" in part for part in records(turn["content"])):
            yield Violation(index, "shape", "a part of a turn has a type and a value")
    elif not isinstance(turn.get("value"), str):
        yield Violation(index, "shape", "the value of a turn is text")


def _ordering(index: int, role: Role | None, before: Role | None) -> Iterator[Violation]:
    if role is Role.TOOL and before not in (Role.ASSISTANT, Role.TOOL):
        yield Violation(index, "ordering", "a result must follow the turn that called")
