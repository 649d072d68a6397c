"""A session as Markdown, for people to read.

What was said is Markdown of its own, and nothing of it may pass for the page's: a heading, an
image to fetch, live HTML or a fence left open. Such marks are escaped, and a text that cannot be
tamed so stands in a fence.
"""

from __future__ import annotations

import re
from functools import cache
from typing import TYPE_CHECKING, assert_never

from holdfast.transcript import Message, Summary, Text, Thinking, ToolCall, ToolResult
from holdfast.views.messages import Visibility, full_text, speaker_of
from holdfast.views.sessions import title_of
from holdfast.views.timeline import (
    TimelineCompaction,
    TimelineFork,
    TimelineMessage,
    TimelineRewind,
)
from holdfast.views.words import clean, clock_time, visible

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from markdown_it import MarkdownIt
    from markdown_it.token import Token

    from holdfast.session import Session
    from holdfast.transcript import Part, Role, Transcript
    from holdfast.views.timeline import TimelineEvent

_TICKS = re.compile(r"`{3,}")
_LONGEST = 200_000
"""Characters up to which the Markdown of a text is read; what is longer stands in a fence."""
_TRIES = 3
_DEEPEST = 16
"""Levels that are read in a text; those who render the page may read more of them."""
_LAST_LINE = "the end of the text"
_LEADS = re.compile(r"(?:https?:|mailto:|[^:]*$|[./#])", re.IGNORECASE)
"""How an address begins that a reader may follow: a page of the web, or a place of this one."""
_LIVE = re.compile(r"(?<!`)(`+)(?!`).+?(?<!`)\1(?!`)|<(?=[a-z/!?])|!(?=\[)|\](?=\()", re.IGNORECASE)
"""What is live in a line; spans of code are passed over."""
_SPECIAL = re.compile(r"[\\`<*]|\](?=\()|!(?=\[)")
_ATX = re.compile(r"#")
_SETEXT = re.compile(r"[=-]")
_DEFINITION = re.compile(r"\[")


def markdown_pieces(session: Session, events: Iterable[TimelineEvent]) -> Iterator[str]:
    """Return the session piece by piece, with a heading for each message.

    What tools say stands in fences. A heading says so if the model no longer sees the message.
    """
    yield _head(session)
    for event in events:
        yield "".join(f"\n{block}\n" for block in _blocks(event))


def as_markdown(session: Session, transcript: Transcript) -> str:
    """Return messages alone, wherever they come from, in the same layout."""
    blocks = (block for message in transcript for block in _message(message))
    return _head(session) + "".join(f"\n{block}\n" for block in blocks)


def _head(session: Session) -> str:
    known = [f"session {session.id}", session.model, f"begun {clock_time(session.started)}"]
    goal = f"\nGoal: {_in_line(session.goal)}\n" if session.goal else ""
    return f"# {_in_line(title_of(session))}\n\n{_in_line(', '.join(filter(None, known)))}\n{goal}"


def _blocks(event: TimelineEvent) -> Iterator[str]:
    match event:
        case TimelineMessage(_, message, visibility):
            yield from _message(
                message, "" if visibility is Visibility.SEEN else f" ({visibility})"
            )
        case TimelineCompaction(record, summaries, is_undone):
            yield f"*Compaction of {clock_time(record.at)}{_since(is_undone=is_undone)}.*"
            written = (entry.message.summary for entry in summaries)
            found = [summary for summary in written if summary is not None]
            if not found and record.summary:
                found = [Summary(record.summary)]
            yield from map(_summary, found)
        case TimelineRewind(at, is_undone):
            when = f"{clock_time(at)}{_since(is_undone=is_undone)}"
            yield f"*Rewind of {when}: the last turns were taken back.*"
        case TimelineFork(session):
            yield f"*Here begins session {session.id}.*"
        case _:
            assert_never(event)


def _message(message: Message, seen: str = "") -> Iterator[str]:
    yield f"## {speaker_of(message).capitalize()}{seen}"
    for part in message.parts:
        words = _part(part, message.role)
        if words:
            yield words


def _part(part: Part, role: Role) -> str:
    words = full_text(Message(role, (part,)))
    match part:
        case ToolCall() | ToolResult():
            title, _, content = words.partition("\n")
            return f"{_in_line(title)}\n\n{_fenced(visible(content))}"
        case Thinking(text):
            return "\n".join(f"> {line}".rstrip() for line in _tamed(text).split("\n"))
        case Summary():
            return _summary(part)
        case Text(text):
            return _tamed(text)
        case _:
            return _tamed(words)


def _summary(summary: Summary) -> str:
    origin = f" by {summary.origin}" if summary.origin else ""
    return f"*Summary{_in_line(origin)} of what was folded:*\n\n{_tamed(summary.text)}"


def _fenced(text: str) -> str:
    """Return the text in a fence that is longer than any in the text."""
    longest = max((len(ticks) for ticks in _TICKS.findall(text)), default=2)
    fence = "`" * (longest + 1)
    return f"{fence}\n{text}\n{fence}"


def _in_line(text: str) -> str:
    """Return the text as words in a line of the page, without any Markdown of its own."""
    return _SPECIAL.sub(r"\\\g<0>", clean(text))


def _tamed(text: str) -> str:
    """Return the text so that a reader of the page sees it and no program obeys it."""
    words = visible(text)
    lines = words.split("\n")

    def backslashed(found: re.Match[str]) -> str:
        return found[0] if found[0].startswith("`") else f"\\{found[0]}"

    for _ in range(_TRIES if len(words) <= _LONGEST else 0):
        escapes = _escapes("\n".join(lines))
        if escapes is None:
            break
        if not escapes:
            return "\n".join(lines)
        for place, marks in escapes:
            lines[place] = marks.sub(backslashed, lines[place], count=int(marks is not _LIVE))
    return _fenced(words)


def _escapes(text: str) -> set[tuple[int, re.Pattern[str]]] | None:
    """Return the lines of a text that are live, with their marks; None where no escape helps."""
    # What ends the text must still be read as what it is.
    source = f"{text}\n\n# {_LAST_LINE}"
    known: dict[str, dict[str, dict[str, list[int]]]] = {}
    try:
        tokens = _parser().parse(source, known)
    except RecursionError:
        return None
    ending = [(token.type, token.level, token.content) for token in tokens[-3:-1]]
    is_closed = ending == [("heading_open", 0, ""), ("inline", 1, _LAST_LINE)]
    if not is_closed or any(token.level > _DEEPEST for token in tokens):
        return None
    found: set[tuple[int, re.Pattern[str]]] = set()
    for token in tokens[:-3]:
        first, end = token.map or (0, text.count("\n") + 1)
        if token.type == "heading_open":
            found.add((first, _ATX) if token.markup.startswith("#") else (end - 1, _SETEXT))
        elif token.type == "html_block" or any(map(_is_live, token.children or ())):
            found |= {(place, _LIVE) for place in range(first, end)}
    for definition in known.get("references", {}).values():
        found.add((definition["map"][0], _DEFINITION))
    return found


def _is_live(token: Token) -> bool:
    """Say whether a piece of a line is HTML, is fetched, or leads to what is no page."""
    if token.type == "link_open":
        return not _LEADS.match(str(token.attrs.get("href", "")))
    return token.type in {"html_inline", "image"}


@cache
def _parser() -> MarkdownIt:
    # Imported only here: whoever exports no Markdown needs none of it.
    from markdown_it import MarkdownIt

    parser = MarkdownIt("commonmark").enable("table")
    parser.validateLink = lambda url: True  # noqa: ARG005 - as the parser calls it
    return parser


def _since(*, is_undone: bool) -> str:
    return ", undone since" if is_undone else ""
