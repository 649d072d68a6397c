"""What a search asks of an index: messages by patterns of words, and words by parts of them.

A pattern is a query's own tree, with terms that were made up beside those that somebody typed. A
store answers in whatever way it likes: by a full-text index, or by lists of its own.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Protocol

from holdfast.recall.folding import root_of
from holdfast.recall.query import Either, Term

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping, Sequence

    from holdfast.recall.query import Node
    from holdfast.recall.ranking import Candidate

__all__ = ["TermIndex", "beginning_of", "either", "phrase", "shortest"]

_SHORT_HASH = re.compile("[0-9a-f]{7,63}")
"""What programs that name things by hashes show of one at least."""
_MOST_SPELLINGS = 40
"""Words with a part in them that are looked up: the shortest come closest to the part."""


class TermIndex(Protocol):
    """One store as it is at one moment, within the filters of one search."""

    def total(self) -> int:
        """Return about how many messages there are, within the filters or not."""
        ...

    def newest(self, pattern: Node, count: int) -> Sequence[Candidate]:
        """Return the newest messages that match and pass the filters, newest first."""
        ...

    def ids(self, pattern: Node, count: int) -> Sequence[int]:
        """Return the ids of the newest messages that match, newest first.

        Some may be outside the filters where looking at each would take long.
        """
        ...

    def messages(self, ids: Sequence[int]) -> Sequence[Candidate]:
        """Return the messages with these ids that pass the filters."""
        ...

    def standing_at(self, places: Sequence[int]) -> Sequence[Candidate]:
        """Return the messages at these places that pass the filters."""
        ...

    def narrowed(self) -> TermIndex | None:
        """Return the index with `ids` held against the filters, if they were not before."""
        ...

    def words_holding(self, parts: Sequence[str]) -> Mapping[str, Sequence[str]]:
        """Return for each part of a word the `shortest` stored words that hold it."""
        ...

    def words_beginning(self, prefix: str) -> Sequence[str]:
        """Return stored words that begin with a prefix, in any order."""
        ...

    def texts(self, ids: Sequence[int]) -> Mapping[int, str]:
        """Return the searchable text of messages by id."""
        ...

    def names(self, keys: Sequence[int]) -> Mapping[int, tuple[str, str]]:
        """Return the ids of sessions and of their roots by the sessions' keys."""
        ...


def phrase(words: Sequence[str], *, is_prefix: bool = False) -> Term:
    """Return words that must follow each other; a lone ideograph stands for all its pairs."""
    is_open = is_prefix or (len(words[-1]) == 1 and not words[-1].isascii())
    return Term(" ".join(words), tuple(words), is_prefix=is_open)


def either(patterns: Iterable[Node]) -> Either:
    """Return alternatives of which one must be found."""
    return Either(tuple(dict.fromkeys(patterns)))


def beginning_of(word: str) -> str:
    """Return the beginning that words share which somebody means by this one, or nothing.

    The beginning of a hash stands for the hash, and what the forms of a word share for the word.
    """
    return word if _SHORT_HASH.fullmatch(word) else root_of(word)


def shortest(words: Iterable[str], most: int = _MOST_SPELLINGS) -> list[str]:
    """Return the shortest words, in the order of their length and of the alphabet."""
    return sorted(words, key=lambda word: (len(word), word))[:most]
