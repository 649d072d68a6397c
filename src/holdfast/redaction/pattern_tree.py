"""Read a regular expression into values of our own.

The standard library parses patterns but publishes no tree. Writing another parser would risk
disagreeing with it about what a pattern means, so this module, and only this one, reads the
private tree; what the rest of the package sees is defined here.
"""

# pyright: reportPrivateUsage=false, reportAttributeAccessIssue=false
# pyright: reportUnknownMemberType=false, reportUnknownVariableType=false

from __future__ import annotations

import re
import re._parser as parser  # type: ignore[import-not-found]
from dataclasses import dataclass
from typing import Any, TypeAlias, cast

__all__ = ["Chars", "Choice", "Look", "Node", "Recall", "Repeat", "Series", "read_pattern"]

_BEYOND = 256
"""Stands for every character that is not in the first 256."""
EVERY: frozenset[int] = frozenset(range(_BEYOND + 1))


@dataclass(frozen=True, slots=True)
class Chars:
    """One character out of a set."""

    options: frozenset[int]


@dataclass(frozen=True, slots=True)
class Series:
    """Nodes one after the other."""

    nodes: tuple[Node, ...]


@dataclass(frozen=True, slots=True)
class Choice:
    """One of several branches."""

    branches: tuple[Series, ...]


@dataclass(frozen=True, slots=True)
class Repeat:
    """A series again and again."""

    body: Series
    least: int
    most: int | None
    """None when there is no limit."""
    atomic: bool
    """Whether the matcher never gives back what it took."""


@dataclass(frozen=True, slots=True)
class Look:
    """A look ahead or behind, which takes no characters."""

    body: Series


@dataclass(frozen=True, slots=True)
class Recall:
    """A reference to an earlier group."""


Node: TypeAlias = Chars | Series | Choice | Repeat | Look | Recall


def read_pattern(pattern: str) -> Series:
    """Return the tree of a valid pattern; anchors and word boundaries are left out."""
    tree: Any = parser.parse(pattern)
    flags = cast("int", tree.state.flags)
    return _series(tree, ignore_case=bool(flags & re.IGNORECASE))


def _series(tree: Any, *, ignore_case: bool) -> Series:
    found = (_node(str(op), argument, ignore_case=ignore_case) for op, argument in tree)
    return Series(tuple(node for node in found if node is not None))


def _node(op: str, argument: Any, *, ignore_case: bool) -> Node | None:
    match op:
        case "LITERAL" | "NOT_LITERAL" | "ANY" | "IN":
            return Chars(_cased(_options(op, argument), ignore_case=ignore_case))
        case "MAX_REPEAT" | "MIN_REPEAT" | "POSSESSIVE_REPEAT":
            least, most, body = argument
            limit = None if str(most) == "MAXREPEAT" else int(most)
            series = _series(body, ignore_case=ignore_case)
            return Repeat(series, int(least), limit, atomic=op == "POSSESSIVE_REPEAT")
        case "BRANCH":
            return Choice(tuple(_series(part, ignore_case=ignore_case) for part in argument[1]))
        case "SUBPATTERN" | "ATOMIC_GROUP":
            inner = argument[-1] if op == "SUBPATTERN" else argument
            return _series(inner, ignore_case=ignore_case)
        case "ASSERT" | "ASSERT_NOT":
            return Look(_series(argument[1], ignore_case=ignore_case))
        case "AT":
            return None
        case _:
            return Recall()


def _options(op: str, argument: Any) -> frozenset[int]:
    match op:
        case "LITERAL":
            return frozenset({min(argument, _BEYOND)})
        case "NOT_LITERAL":
            return EVERY - {argument}
        case "RANGE":
            low, high = argument
            return frozenset(range(min(low, _BEYOND), min(high, _BEYOND) + 1))
        case "CATEGORY":
            return _category(str(argument))
        case "IN":
            return _class(argument)
        case _:
            return EVERY


def _class(members: Any) -> frozenset[int]:
    negated = bool(members) and str(members[0][0]) == "NEGATE"
    options: frozenset[int] = frozenset()
    for op, argument in members:
        if str(op) != "NEGATE":
            options |= _options(str(op), argument)
    return (EVERY - options) | {_BEYOND} if negated else options


_CATEGORIES = {"DIGIT": r"\d", "SPACE": r"\s", "WORD": r"\w"}


def _category(name: str) -> frozenset[int]:
    """Return the characters of a category; each has members beyond the first 256."""
    letter = _CATEGORIES[name.rsplit("_", 1)[-1]]
    inside = frozenset(code for code in range(_BEYOND) if re.match(letter, chr(code)))
    return (EVERY - inside if "NOT_" in name else inside) | {_BEYOND}


def _cased(options: frozenset[int], *, ignore_case: bool) -> frozenset[int]:
    if not ignore_case:
        return options
    letters = {
        ord(turned)
        for code in options
        if code < _BEYOND
        for turned in (chr(code).lower(), chr(code).upper())
        if len(turned) == 1
    }
    return options | frozenset(min(code, _BEYOND) for code in letters)
