"""A session as one page that needs nothing else: for a browser, without a network."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from typing import TYPE_CHECKING

from holdfast import __version__
from holdfast.formats.events import native_of
from holdfast.session import Usage, places_of
from holdfast.transcript import Media, Role, ToolCall, ToolResult
from holdfast.views.html.events import Jumps, anchor, event_shown, time_shown
from holdfast.views.html.parts import folded
from holdfast.views.html.text import attribute, escaped, line_of
from holdfast.views.html.window_map import map_shown
from holdfast.views.messages import speaker_of
from holdfast.views.sessions import state_of, title_of
from holdfast.views.timeline import TimelineCompaction, TimelineMessage
from holdfast.views.words import counted

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping

    from holdfast.session import Session
    from holdfast.transcript import Part
    from holdfast.views.context_map import WeighedWindow, WindowLimits
    from holdfast.views.timeline import TimelineEvent

__all__ = [
    "SessionLineage",
    "SessionPage",
    "TimelineCounts",
    "count_timeline",
    "head_shown",
    "html_pieces",
]

_ASKED = 100
"""Characters of each message of the user in the list that leads to them."""
_TOOLS = """\
<div class="tools" role="group" aria-label="tools" hidden>
<label>Only messages with <input type="search" id="filter"></label>
<output id="matches" for="filter"></output>
<button type="button" id="open">Unfold all</button>
<button type="button" id="close">Fold all</button>
<button type="button" id="theme">Light or dark</button>
</div>
"""


@dataclass(frozen=True, slots=True)
class TimelineCounts:
    """How many messages and parts of them a timeline has."""

    messages: int
    parts: Mapping[str, int]
    """How many calls, errors, images and compactions there are, by what they are called."""
    models: tuple[str, ...]
    """The models that answered, the most frequent first."""
    places: frozenset[int]
    """The ids of the messages that have a place in the page."""
    asked: Mapping[int, str] = field(default_factory=dict[int, str])
    """How each message of the user begins, as markup, by its id and in order."""


def count_timeline(events: Iterable[TimelineEvent]) -> TimelineCounts:
    """Count what a story tells."""
    counts, models = Counter[str](), Counter[str]()
    places: set[int] = set()
    asked: dict[int, str] = {}
    messages = 0
    for event in events:
        if isinstance(event, TimelineMessage):
            messages += 1
            places.add(event.entry.id)
            if speaker_of(event.message) == Role.USER:
                asked[event.entry.id] = line_of(event.message.text, _ASKED)
            models[native_of(event.message).model] += 1
            for part in event.message.parts:
                counts.update(_counted(part))
        elif isinstance(event, TimelineCompaction):
            counts["compaction"] += 1
            places.update(entry.id for entry in event.summaries)
    named = tuple(model for model, _ in models.most_common() if model)
    return TimelineCounts(messages, counts, named, frozenset(places), asked)


def _counted(part: Part) -> Iterator[str]:
    match part:
        case ToolCall():
            yield "tool call"
        case ToolResult():
            if part.is_error:
                yield "tool error"
            for piece in part.content:
                yield from _counted(piece)
        case Media(kind="image"):
            yield "image"
        case _:
            return


@dataclass(frozen=True, slots=True)
class SessionLineage:
    """A session with those it came from and those that came from it."""

    session: Session
    ancestors: tuple[Session, ...]
    children: tuple[Session, ...]


def head_shown(lineage: SessionLineage, counts: TimelineCounts) -> str:
    """Return the title and a list of what is known."""
    facts = "".join(
        f"<dt>{label}</dt><dd>{words}</dd>" for label, words in _facts(lineage, counts) if words
    )
    title = escaped(title_of(lineage.session))
    return f'<header class="head"><h1 dir="auto">{title}</h1><dl>{facts}</dl></header>'


def _facts(lineage: SessionLineage, counts: TimelineCounts) -> Iterator[tuple[str, str]]:
    session = lineage.session
    yield "session", f"<code>{escaped(session.id)}</code>, {escaped(state_of(session))}"
    yield "from", escaped(session.source)
    yield "model", escaped(", ".join(counts.models) or session.model)
    yield "goal", escaped(session.goal)
    yield "used", f"{time_shown(session.started)} to {time_shown(session.touched)}"
    for label, place in places_of((*lineage.ancestors, session)).items():
        yield label, f"<code>{escaped(place)}</code>"
    held = (counted(number, name) for name, number in counts.parts.items())
    yield "holds", ", ".join([counted(counts.messages, "message"), *held])
    alone = " (this session alone, without those it came from)" if lineage.ancestors else ""
    yield "usage", "" if session.usage == Usage() else _usage(session.usage) + alone
    yield "came from", ", ".join(map(_session_named, lineage.ancestors))
    children = "".join(map(_child, lineage.children))
    yield "led to", children and f"<ul>{children}</ul><p>What was said in them is not here.</p>"


def _usage(usage: Usage) -> str:
    words = [
        counted(usage.calls, "call") if usage.calls else "",
        f"{usage.input_tokens:,} tokens in",
        f"{usage.output_tokens:,} out",
        f"{usage.cache_read_tokens:,} from caches" if usage.cache_read_tokens else "",
        f"{usage.cache_write_tokens:,} into caches" if usage.cache_write_tokens else "",
        f"${usage.cost:,.2f}" if usage.cost else "",
    ]
    return ", ".join(filter(None, words))


def _child(session: Session) -> str:
    return f"<li>{_session_named(session)} ({escaped(str(session.fork or 'child'))})</li>"


def _session_named(session: Session) -> str:
    title = f" {escaped(session.title)}" if session.title else ""
    return f"<code>{escaped(session.id)}</code>{title}"


@dataclass(frozen=True, slots=True)
class SessionPage:
    """What stands on the page above the conversation."""

    lineage: SessionLineage
    counts: TimelineCounts
    window: WeighedWindow
    limits: WindowLimits
    is_log: bool
    """Whether everything that was said follows, or what the model sees now."""


def html_pieces(page: SessionPage, events: Iterable[TimelineEvent]) -> Iterator[str]:
    """Return the page piece by piece, so that no more than a message of it is held at a time."""
    style, script = _asset("page.css"), _asset("page.js")
    title = attribute(title_of(page.lineage.session))
    policy = (
        "default-src 'none'; img-src data:; base-uri 'none'; form-action 'none'; "
        f"style-src {_hash(style)}; script-src {_hash(script)}"
    )
    yield (
        '<!DOCTYPE html>\n<html lang="en">\n<head>\n<meta charset="utf-8">\n'
        f'<meta http-equiv="Content-Security-Policy" content="{policy}">\n'
        '<meta name="viewport" content="width=device-width, initial-scale=1">\n'
        '<meta name="color-scheme" content="light dark">\n'
        '<meta name="referrer" content="no-referrer">\n'
        f"<title>{title}</title>\n<style>{style}</style>\n</head>\n<body>\n"
        '<a class="skip" href="#conversation">To the conversation</a>\n'
    )
    yield head_shown(page.lineage, page.counts) + "\n<main>\n"
    yield map_shown(page.window, page.limits, page.counts.places) + "\n"
    if page.is_log:
        words = "Everything that was said. A bar at the side marks what the model still sees."
    else:
        words = "What the model sees now."
    yield (
        '<section id="conversation" aria-labelledby="said" tabindex="-1">'
        f'<h2 id="said">The conversation</h2><p>{words}</p>\n{_asked(page.counts)}{_TOOLS}'
    )
    jumps = Jumps((*page.counts.asked,))
    for event in events:
        yield event_shown(event, jumps) + "\n"
    yield (
        f"</section>\n</main>\n<footer>Written by holdfast {__version__}.</footer>\n"
        f"<script>{script}</script>\n</body>\n</html>\n"
    )


def _asked(counts: TimelineCounts) -> str:
    """Return the list of what the user said, each line a way to it."""
    if len(counts.asked) <= 1:
        return ""
    items = "".join(
        f'<li><a href="#{anchor(id_)}" dir="auto">{words or "[no words]"}</a></li>'
        for id_, words in counts.asked.items()
    )
    heading = f"{counted(len(counts.asked), 'message')} of the user"
    return f'<nav aria-label="{heading}">{folded("asked", heading, f"<ol>{items}</ol>")}</nav>\n'


def _hash(text: str) -> str:
    digest = hashlib.sha256(text.encode()).digest()
    return f"'sha256-{base64.b64encode(digest).decode()}'"


def _asset(name: str) -> str:
    return files("holdfast.views.html").joinpath(name).read_text("utf-8")
