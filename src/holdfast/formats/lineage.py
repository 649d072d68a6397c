"""Puts sessions that came from one another into an order that an import can follow."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

__all__ = ["parents_first"]


def parents_first(parents: Mapping[str, str]) -> Iterator[str]:
    """Return the names of sessions in their order, save that a parent goes before its children.

    Each is returned once, also where sessions claim to be parents of each other.

    Args:
        parents: The parent of each session, which need not be among them.
    """
    done: set[str] = set()
    for name in parents:
        path: list[str] = []
        at = name
        while at in parents and at not in done:
            done.add(at)
            path.append(at)
            at = parents[at]
        yield from reversed(path)
