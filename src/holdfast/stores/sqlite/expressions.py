"""Patterns in the language of FTS5; every word is quoted, so that none is taken for syntax."""

from __future__ import annotations

from typing import TYPE_CHECKING, assert_never

from holdfast.recall import All, Either, Term, Without

if TYPE_CHECKING:
    from holdfast.recall import Node

__all__ = ["expression"]


def expression(pattern: Node) -> str:
    """Return a whole pattern."""
    match pattern:
        case Term(words=words, is_prefix=is_prefix):
            return f'"{" ".join(words)}"' + (" *" if is_prefix else "")
        case All(parts):
            return f"({' AND '.join(map(expression, parts))})"
        case Either(parts):
            return f"({' OR '.join(map(expression, parts))})"
        case Without(wanted, unwanted):
            return f"({expression(wanted)} NOT {expression(unwanted)})"
        case _:
            assert_never(pattern)
