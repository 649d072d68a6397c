"""What a search found: the conversation, when and where it was said, and the words around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.recall.trimming import fitted
from holdfast.recall.values import MatchTier, agent_of
from holdfast.session.titles import short_title
from holdfast.tokens import Estimator
from holdfast.views.sessions import UNTITLED

if TYPE_CHECKING:
    from holdfast.recall.shapes import Excerpts, Result

__all__ = ["SearchHit", "search_hits", "search_json"]

_TOKENS_EACH = 2_000
_MARKED = re.compile(r"(>>>(?:(?!>>>).)*?<<<)")


@dataclass(frozen=True, slots=True, kw_only=True)
class SearchHit:
    """A match in a conversation."""

    title: str
    session: str
    message: int
    at: int
    """When it was said, in milliseconds since the epoch."""
    agent: str
    """The agent whose session it is; empty for a conversation of ours."""
    speaker: str
    """Who said it: a role with its tool, or whose summary it is."""
    is_partial: bool
    """Whether only some of the words were found."""
    snippet: str
    """The words around the match, which stands between `>>>` and `<<<`."""

    @staticmethod
    def pieces(snippet: str) -> list[tuple[str, bool]]:
        """Return the words of a snippet in pieces, each with whether it is a match."""
        parts = ((part, _MARKED.fullmatch(part) is not None) for part in _MARKED.split(snippet))
        return [(part[3:-3] if is_match else part, is_match) for part, is_match in parts]


def search_hits(found: Excerpts) -> tuple[SearchHit, ...]:
    """Return what was found, best first."""
    return tuple(
        SearchHit(
            title=short_title(each.title) or UNTITLED,
            session=each.session.id,
            message=each.focus.id,
            at=each.focus.at,
            agent=agent_of(each.session.source),
            speaker=f"summary by {each.focus.summary_by}"
            if each.focus.summary_by
            else f"{each.focus.role} {each.focus.tool}".rstrip(),
            is_partial=each.tier is MatchTier.SOME,
            snippet=each.snippet,
        )
        for each in found.excerpts
    )


def search_json(found: Result, limit: int) -> dict[str, object]:
    """Return what was found as plain JSON values of a size that a model can read."""
    return fitted(found, _TOKENS_EACH * limit, Estimator())
