"""A search from within a conversation: what was found, with the words around the match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.recall import Filters, parse, snippet
from holdfast.session import searchable

if TYPE_CHECKING:
    from holdfast.ports import Store
    from holdfast.session import Entry

__all__ = ["Found", "find"]


@dataclass(frozen=True, slots=True)
class Found:
    """One message that a search found."""

    entry: Entry
    snippet: str
    """The words around the match, which stands between `>>>` and `<<<`."""


def find(store: Store, query: str, *, limit: int, now: int) -> tuple[Found, ...]:
    """Return the best matches in the whole store, best first."""
    asked = parse(query)
    hits = store.search(query, Filters(), limit=limit, now=now)
    return tuple(
        Found(store.entry(hit.message_id), snippet(searchable(store.whole(hit.message_id)), asked))
        for hit in hits
    )
