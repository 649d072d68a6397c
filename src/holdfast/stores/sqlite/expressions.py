"""Queries in the language of the index; every word is quoted, so that none is taken for syntax."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from holdfast.recall import All, Either, Term, Without
from holdfast.recall.folding import root_of

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from holdfast.recall import Node

__all__ = ["beginning_of", "either", "expression", "phrase"]

_SHORT_HASH = re.compile("[0-9a-f]{7,63}")
"""What programs that name things by hashes show of one at least."""


def phrase(words: Sequence[str], *, is_prefix: bool = False) -> str:
    """Return words that must follow each other; a lone ideograph stands for all its pairs."""
    is_open = is_prefix or (len(words[-1]) == 1 and not words[-1].isascii())
    return f'"{" ".join(words)}"' + (" *" if is_open else "")


def either(written: Sequence[str]) -> str:
    """Return alternatives of which one must be found."""
    return f"({' OR '.join(dict.fromkeys(written))})"


def beginning_of(word: str) -> str:
    """Return the beginning that words share which somebody means by this one, or nothing.

    The beginning of a hash stands for the hash, and what the forms of a word share for the word.
    """
    return word if _SHORT_HASH.fullmatch(word) else root_of(word)


def expression(node: Node, spell: Callable[[Term], str]) -> str:
    """Return a whole query.

    Args:
        node: The query.
        spell: Writes one term.
    """
    match node:
        case Term():
            return spell(node)
        case All(parts):
            return f"({' AND '.join(expression(part, spell) for part in parts)})"
        case Either(parts):
            return either([expression(part, spell) for part in parts])
        case Without(wanted, unwanted):
            return f"({expression(wanted, spell)} NOT {expression(unwanted, spell)})"
