"""What a search found: the conversation, when and where it was said, and the words around it."""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from holdfast.recall import matches, parse
from holdfast.recall.passages import pieced
from holdfast.recall.shapes import Excerpts, QuotedPassages, fitted
from holdfast.recall.values import MatchTier, agent_of
from holdfast.recall.wording import DEFAULT_MARKS
from holdfast.session.titles import short_title
from holdfast.tokens import Estimator
from holdfast.views.sessions import UNTITLED

if TYPE_CHECKING:
    from holdfast.recall import Query
    from holdfast.recall.shapes import Quote, Result
    from holdfast.recall.values import Told

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
    """The words around the match, which stands between `>>>` and `<<<`; of one conversation,
    all that is quoted of a message."""

    @staticmethod
    def pieces(snippet: str) -> list[tuple[str, bool]]:
        """Return the words of a snippet in pieces, each with whether it is a match."""
        parts = ((part, _MARKED.fullmatch(part) is not None) for part in _MARKED.split(snippet))
        return [(part[3:-3] if is_match else part, is_match) for part, is_match in parts]


def search_hits(found: Result) -> tuple[SearchHit, ...]:
    """Return what was found, best first: conversations, or the messages of one that are quoted."""
    if isinstance(found, QuotedPassages):
        query = parse(found.query)

        def hit(quotes: list[Quote]) -> SearchHit:
            message, session = quotes[0].message, quotes[0].session
            text = pieced(message.text, [each.piece for each in quotes])
            return SearchHit(
                title=short_title(found.title) or UNTITLED,
                session=session.id,
                message=message.id,
                at=message.at,
                agent=agent_of(session.source),
                speaker=_speaker(message),
                is_partial=all(each.tier is MatchTier.SOME for each in quotes),
                snippet=marked_lines(text, query),
            )

        return tuple(hit(each) for run in found.runs(len(found.quotes)) for each in run)
    if not isinstance(found, Excerpts):
        return ()
    return tuple(
        SearchHit(
            title=short_title(each.title) or UNTITLED,
            session=each.session.id,
            message=each.focus.id,
            at=each.focus.at,
            agent=agent_of(each.session.source),
            speaker=_speaker(each.focus),
            is_partial=each.tier is MatchTier.SOME,
            snippet=each.snippet,
        )
        for each in found.excerpts
    )


def marked_lines(text: str, query: Query) -> str:
    """Return a text line by line, each match between its marks and no line empty."""
    pieces, at = list[str](), 0
    for start, end in matches(text, query):
        pieces += [text[at:start], DEFAULT_MARKS[0], text[start:end], DEFAULT_MARKS[1]]
        at = end
    lines = "".join([*pieces, text[at:]]).splitlines()
    return "\n".join(filter(None, (" ".join(line.split()) for line in lines)))


def _speaker(message: Told) -> str:
    if message.summary_by:
        return f"summary by {message.summary_by}"
    return f"{message.role} {message.tool}".rstrip()


def search_json(found: Result, limit: int) -> dict[str, object]:
    """Return what was found as plain JSON values of a size that a model can read."""
    return fitted(found, _TOKENS_EACH * limit, Estimator())
