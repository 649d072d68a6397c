"""What the Gemini API refuses."""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.transcript import Violation
from holdfast.wire.fields import Wire, known_string, own, records
from holdfast.wire.gemini_parts import answer_key, call_key

if TYPE_CHECKING:
    from collections.abc import Iterator

    from holdfast.wire.body import Body

__all__ = ["validate"]

_ROLES = frozenset({"user", "model", "function"})


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every turn that the API would refuse, and the rule it breaks."""
    found: list[Violation] = [*_first_role(body.messages), *_pairing(body.messages)]
    for index, content in enumerate(body.messages):
        for rule in (_role, _empty, _arguments):
            found += rule(index, content)
    return tuple(sorted(found, key=lambda violation: violation.index))


def _role(index: int, content: Wire) -> Iterator[Violation]:
    role = content.get("role", "user")
    if role not in _ROLES:
        yield Violation(index, "unknown-role", f"there is no role {role!r}")


def _first_role(contents: list[Wire]) -> Iterator[Violation]:
    if contents and contents[0].get("role") == "model":
        yield Violation(0, "first-role", "the first turn must be the user's")


def _empty(index: int, content: Wire) -> Iterator[Violation]:
    parts = content.get("parts")
    if not isinstance(parts, list):
        yield Violation(index, "shape", "a turn has a list of parts")
    elif not parts:
        yield Violation(index, "empty-text", "a turn needs at least one part")
    if any(part == {"text": ""} or not part for part in records(content.get("parts"))):
        yield Violation(index, "empty-text", "a part is empty")


def _arguments(index: int, content: Wire) -> Iterator[Violation]:
    for part in records(content.get("parts")):
        for key in filter(None, (call_key(part), answer_key(part))):
            inner = own(part, key)
            name = known_string(inner, "name")
            if not name:
                yield Violation(index, "shape", f"a {key} has no name")
            arguments = inner.get("response" if key == answer_key(part) else "args", {})
            if not isinstance(arguments, dict):
                problem = f"what {name!r} takes or gives is not an object"
                yield Violation(index, "arguments-json", problem)


def _pairing(contents: list[Wire]) -> Iterator[Violation]:
    """Yield turns with calls that the next turn does not answer, name by name.

    Calls of the last turn are no violation: their tools may still be running.
    """
    waiting: tuple[int, list[str]] = (0, [])
    for index, content in enumerate(contents):
        parts = records(content.get("parts"))
        answers = [
            known_string(own(part, key), "name") for part in parts if (key := answer_key(part))
        ]
        at, calls = waiting
        if sorted(calls) != sorted(answers):
            place = at if len(calls) > len(answers) else index
            problem = f"calls of {_named(calls)} are followed by results of {_named(answers)}"
            yield Violation(place, "pairing", problem)
        asked = [known_string(own(part, key), "name") for part in parts if (key := call_key(part))]
        waiting = (index, asked)


def _named(names: list[str]) -> str:
    return ", ".join(names) or "nothing"
