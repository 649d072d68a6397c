"""Decide whether a user's pattern is linear on every text, before it sees one.

A matcher that backtracks is slow for one of two reasons: it can read the same characters in
more than one way, or it reads them again from every start. Patterns that allow either are
refused, with the part that does and what to write instead.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias, assert_never

from holdfast.redaction.pattern_tree import Chars, Choice, Look, Recall, Repeat, Series

__all__ = ["Danger", "danger_of"]

_MOST_WORK = 2048
"""Steps that one start may cost."""

_Step: TypeAlias = Chars | Choice | Repeat | Look | Recall
"""A node of a series in which no other series is nested."""


@dataclass(frozen=True, slots=True)
class Danger:
    """Why a pattern may take very long, and what to do about it."""

    reason: str
    advice: str


_RECALL = Danger("it refers back to a group", "write the repeated part out")
_NESTED = Danger(
    "a repeat inside a repeat can read the same text in more than one way",
    "keep one of the two repeats, or put a separator between them that neither can read",
)
_OVERLAP = Danger(
    "alternatives under a repeat begin with the same character",
    "merge them, so that one character decides which is taken",
)
_ADJACENT = Danger(
    "a repeat without a limit is followed by something it can read itself",
    "give it an upper limit, such as {1,64}, or follow it by another character",
)
_OPEN = Danger(
    "a repeat without a limit is tried again from every start",
    "give it an upper limit, such as {1,64}, or begin with a character it cannot read",
)
_WORK = Danger(
    "its repeats multiply to too many steps",
    "lower their limits",
)


def danger_of(tree: Series) -> Danger | None:
    """Return the first danger in a pattern, or None when it is linear on every text."""
    danger = _in_series(_flat(tree), frozenset(), repeated=False)
    return danger or (_WORK if _ways(tree) * _width(tree) > _MOST_WORK else None)


def _in_series(nodes: list[_Step], after: frozenset[int], *, repeated: bool) -> Danger | None:
    for index, node in enumerate(nodes):
        follow = _first(nodes[index + 1 :])
        if _nullable(nodes[index + 1 :]):
            follow |= after
        danger = _in_node(node, follow, nodes[:index], repeated=repeated)
        if danger:
            return danger
    return None


def _in_node(
    node: _Step,
    follow: frozenset[int],
    before: list[_Step],
    *,
    repeated: bool,
) -> Danger | None:
    match node:
        case Chars():
            return None
        case Recall():
            return _RECALL
        case Look(body):
            return _in_series(_flat(body), follow, repeated=repeated)
        case Choice(branches):
            if repeated and _overlap(branches):
                return _OVERLAP
            found = (_in_series(_flat(branch), follow, repeated=repeated) for branch in branches)
            return next((danger for danger in found if danger), None)
        case Repeat():
            return _in_repeat(node, follow, before, repeated=repeated)
        case _:
            assert_never(node)


def _in_repeat(
    node: Repeat,
    follow: frozenset[int],
    before: list[_Step],
    *,
    repeated: bool,
) -> Danger | None:
    body = _flat(node.body)
    opening = _first(body)
    many = node.most is None or node.most > 1
    if node.least != node.most and not node.atomic and opening & follow:
        if repeated:
            return _NESTED
        if node.most is None:
            return _ADJACENT
    if node.most is None and (follow or repeated) and not _fenced(before, _every(body)):
        return _NESTED if repeated else _OPEN
    if many and _nullable(body):
        return _NESTED
    return _in_series(body, follow | opening if many else follow, repeated=repeated or many)


def _fenced(before: list[_Step], options: frozenset[int]) -> bool:
    """Return whether a character that the repeat cannot read must come before it.

    Then no start lies inside what the repeat has read, and nothing is read again.
    """
    return any(isinstance(node, Chars) and not node.options & options for node in before)


def _flat(series: Series) -> list[_Step]:
    nodes: list[_Step] = []
    for node in series.nodes:
        nodes.extend(_flat(node) if isinstance(node, Series) else [node])
    return nodes


def _first(nodes: list[_Step]) -> frozenset[int]:
    options: frozenset[int] = frozenset()
    for node in nodes:
        options |= _opening(node)
        if not _nullable([node]):
            break
    return options


def _opening(node: _Step) -> frozenset[int]:
    match node:
        case Chars(options):
            return options
        case Choice(branches):
            return frozenset(option for branch in branches for option in _first(_flat(branch)))
        case Repeat(body=body) | Look(body=body):
            return _first(_flat(body))
        case Recall():
            return frozenset()
        case _:
            assert_never(node)


def _every(nodes: list[_Step]) -> frozenset[int]:
    """Return every character that these nodes can read."""
    options: frozenset[int] = frozenset()
    for node in nodes:
        match node:
            case Chars(found):
                options |= found
            case Choice(branches):
                options = options.union(*(_every(_flat(branch)) for branch in branches))
            case Repeat(body=body):
                options |= _every(_flat(body))
            case Look() | Recall():
                pass
            case _:
                assert_never(node)
    return options


def _nullable(nodes: list[_Step]) -> bool:
    return all(_is_nullable(node) for node in nodes)


def _is_nullable(node: _Step) -> bool:
    match node:
        case Chars():
            return False
        case Choice(branches):
            return any(_nullable(_flat(branch)) for branch in branches)
        case Repeat(body=body, least=least):
            return least == 0 or _nullable(_flat(body))
        case Look() | Recall():
            return True
        case _:
            assert_never(node)


def _overlap(branches: tuple[Series, ...]) -> bool:
    taken: frozenset[int] = frozenset()
    for branch in branches:
        opening = _first(_flat(branch))
        if opening & taken:
            return True
        taken |= opening
    return False


def _ways(series: Series) -> int:
    """Return a bound on the ways in which limited repeats can share the same characters."""
    ways = 1
    nodes = _flat(series)
    for index, node in enumerate(nodes):
        match node:
            case Repeat(body, least, most, atomic):
                shared = _first(_flat(body)) & _first(nodes[index + 1 :])
                if most is not None and not atomic and shared:
                    ways *= most - least + 1
                ways *= _ways(body)
            case Choice(branches):
                ways *= max((_ways(branch) for branch in branches), default=1)
            case Look(body):
                ways *= _ways(body)
            case Chars() | Recall():
                pass
            case _:
                assert_never(node)
    return ways


def _width(series: Series) -> int:
    """Return how many characters one start may read, fenced repeats without limit apart."""
    width = 1
    for node in _flat(series):
        match node:
            case Chars() | Recall():
                width += 1
            case Repeat(body=body, most=most):
                width += (most or 1) * _width(body)
            case Choice(branches):
                width += max((_width(branch) for branch in branches), default=0)
            case Look(body):
                width += _width(body)
            case _:
                assert_never(node)
    return width
