"""A session as one page that needs nothing else, with its context map drawn to scale."""

from __future__ import annotations

import base64
import hashlib
from collections import Counter
from dataclasses import dataclass, field
from importlib.resources import files
from itertools import pairwise
from typing import TYPE_CHECKING, assert_never, cast

from holdfast import __version__
from holdfast.formats.events import native_of
from holdfast.session import Usage, places_of
from holdfast.transcript import Media, Role, Summary, ToolCall, ToolResult
from holdfast.transfer import FOLD
from holdfast.views.context_map import ContentKind
from holdfast.views.html.parts import attribute, escaped, folded, line_of, part_shown, summary_shown
from holdfast.views.messages import Visibility, speaker_of
from holdfast.views.sessions import state_of, title_of
from holdfast.views.timeline import (
    TimelineCompaction,
    TimelineFork,
    TimelineMessage,
    TimelineRewind,
)
from holdfast.views.words import clock_time, counted, iso_time

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.session import CompactionRecord, Session
    from holdfast.transcript import Part
    from holdfast.views.context_map import WeighedMessage, WeighedWindow, WindowLimits
    from holdfast.views.timeline import TimelineEvent

_BLOCKS = 240
"""Blocks of the map in order: more could not be told apart, and a finger needs fewer."""
_WIDTH = 1000
_HEIGHT = 20


@dataclass(frozen=True, slots=True)
class _Block:
    """A stretch of the map."""

    kind: ContentKind
    tokens: int
    heaviest: WeighedMessage
    """The message that has the most to do with it."""


def map_shown(found: WeighedWindow, limits: WindowLimits, places: frozenset[int]) -> str:
    """Return the map with its legend.

    Args:
        places: The ids of the messages that the page has a place for.
    """
    total = found.tokens
    share = f"{total / max(limits.window, 1):.0%}"
    words = (
        f"{counted(len(found.weights), 'message')}, {total:,} of {limits.window:,} tokens, "
        f"{share} used. A compaction is due at {limits.threshold:,} tokens, the dashed line."
    )
    if total > limits.window:
        words += " The window ends at the other line."
    kinds = list(_kinds(found))
    scale = max(limits.window, total, 1)
    rows = "".join(_row(block, total, places) for block in kinds)
    heavy = "".join(
        f"<li>{_link(weight, f'{tokens:,} tokens', places)} {escaped(beginning)}</li>"
        for tokens, weight, beginning in found.heaviest
    )
    return (
        f'<section class="map" aria-labelledby="map"><h2 id="map">The window</h2><p>{words}</p>'
        f"{_bar(kinds, scale, places, _lines(limits, scale))}"
        f"<p>From beginning to end:</p>{_bar(list(_in_order(found)), max(total, 1), places)}"
        "<table><caption>What fills it</caption><thead><tr>"
        '<th scope="col">kind</th><th scope="col">tokens</th><th scope="col">share</th></tr>'
        f"</thead><tbody>{rows}</tbody></table>"
        f"<details><summary>The heaviest messages</summary><ol>{heavy}</ol></details></section>"
    )


def _kinds(found: WeighedWindow) -> Iterator[_Block]:
    totals = Counter[ContentKind]()
    heaviest: dict[ContentKind, tuple[int, WeighedMessage]] = {}
    for weight in found.weights:
        for kind, tokens in weight.pieces:
            totals[kind] += tokens
            if kind not in heaviest or tokens > heaviest[kind][0]:
                heaviest[kind] = (tokens, weight)
    for kind in ContentKind:
        if totals[kind]:
            yield _Block(kind, totals[kind], heaviest[kind][1])


def _in_order(found: WeighedWindow) -> Iterator[_Block]:
    """Merge neighbors until each block is wide enough to be seen."""
    least = found.tokens / _BLOCKS
    waiting: list[tuple[ContentKind, int, WeighedMessage]] = []
    held = 0
    for weight in found.weights:
        for kind, tokens in weight.pieces:
            waiting.append((kind, tokens, weight))
            held += tokens
            if held >= least:
                yield _merged(waiting, held)
                waiting, held = [], 0
    if held:
        yield _merged(waiting, held)


def _merged(pieces: Sequence[tuple[ContentKind, int, WeighedMessage]], tokens: int) -> _Block:
    totals = Counter[ContentKind]()
    for kind, weight, _ in pieces:
        totals[kind] += weight
    return _Block(totals.most_common(1)[0][0], tokens, max(pieces, key=lambda each: each[1])[2])


def _bar(blocks: Iterable[_Block], scale: int, places: frozenset[int], over: str = "") -> str:
    drawn: list[str] = []
    start = 0.0
    for block in blocks:
        width = block.tokens / scale * _WIDTH
        title = f"{block.kind}: {block.tokens:,} tokens"
        rectangle = (
            f'<rect class="{_name(block.kind)}" x="{start:.2f}" y="0" width="{width:.2f}" '
            f'height="{_HEIGHT}"><title>{attribute(title)}</title></rect>'
        )
        # The table and the list below lead the same way for who walks with the keyboard.
        drawn.append(_link(block.heaviest, rectangle, places, ' tabindex="-1"'))
        start += width
    return (
        f'<svg class="bar" viewBox="0 0 {_WIDTH} {_HEIGHT}" preserveAspectRatio="none" '
        f'aria-hidden="true" focusable="false">{"".join(drawn)}{over}</svg>'
    )


def _lines(limits: WindowLimits, scale: int) -> str:
    """Return where the limits are; the window's own end needs no line where the bar ends."""
    found = {"threshold": limits.threshold}
    if scale > limits.window:
        found["limit"] = limits.window
    return "".join(
        f'<line class="{name}" x1="{x:.2f}" x2="{x:.2f}" y1="0" y2="{_HEIGHT}"/>'
        for name, tokens in found.items()
        for x in (tokens / scale * _WIDTH,)
    )


def _row(block: _Block, total: int, places: frozenset[int]) -> str:
    swatch = (
        '<svg class="swatch" viewBox="0 0 10 10" aria-hidden="true">'
        f'<rect class="{_name(block.kind)}" width="10" height="10"/></svg>'
    )
    return (
        f'<tr><th scope="row">{swatch} {_link(block.heaviest, str(block.kind), places)}</th>'
        f"<td>{block.tokens:,}</td><td>{block.tokens / max(total, 1):.1%}</td></tr>"
    )


def _link(weight: WeighedMessage, content: str, places: frozenset[int], more: str = "") -> str:
    """Lead to the message, to the one that it stands for, or nowhere if neither is in the page."""
    place = next((id_ for id_ in (weight.id, weight.stands_for) if id_ in places), None)
    return content if place is None else f'<a href="#{anchor(place)}"{more}>{content}</a>'


def _name(kind: ContentKind) -> str:
    return f"kind-{kind.name.lower()}"


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
    usage = session.usage
    used = [
        counted(usage.calls, "call") if usage.calls else "",
        f"{usage.input_tokens:,} tokens in",
        f"{usage.output_tokens:,} out",
        f"{usage.cache_read_tokens:,} from caches" if usage.cache_read_tokens else "",
        f"{usage.cache_write_tokens:,} into caches" if usage.cache_write_tokens else "",
        f"${usage.cost:,.2f}" if usage.cost else "",
    ]
    yield "usage", "" if usage == Usage() else ", ".join(filter(None, used)) + alone
    yield "came from", ", ".join(map(_session_named, lineage.ancestors))
    children = "".join(
        f"<li>{_session_named(each)} ({escaped(str(each.fork or 'child'))})</li>"
        for each in lineage.children
    )
    yield "led to", children and f"<ul>{children}</ul><p>What was said in them is not here.</p>"


def _session_named(session: Session) -> str:
    title = f" {escaped(session.title)}" if session.title else ""
    return f"<code>{escaped(session.id)}</code>{title}"


_WIDEST = 120
_FOLDED = frozenset({"system", "injected", "output"})
"""Whose words are folded: nobody typed them into the conversation."""
_NOTHING = '<p class="aside">[nothing]</p>'


def anchor(message_id: int) -> str:
    """Return the name of the place where a message stands in the page."""
    return f"m{message_id}"


class Jumps:
    """Leads from each message of the user to the one before and the one after."""

    def __init__(self, asked: Sequence[int]) -> None:
        """Take the ids of the user's messages in order."""
        self._after = dict(pairwise(asked))
        self._before = {after: before for before, after in pairwise(asked)}

    def shown(self, message_id: int) -> str:
        """Return the links of a message; none for one of somebody else."""
        ways = (("\u2191", "previous", self._before), ("\u2193", "next", self._after))
        return "".join(
            f' <a class="jump" href="#{anchor(found)}" aria-label="{way} message of the user">'
            f"{arrow}</a>"
            for arrow, way, others in ways
            if (found := others.get(message_id)) is not None
        )


def event_shown(event: TimelineEvent, jumps: Jumps | None = None) -> str:
    """Return what happened as markup."""
    match event:
        case TimelineMessage():
            entry, message = event.entry, event.message
            role = "summary" if message.summary else str(message.role)
            speaker = speaker_of(message)
            seen = "" if event.visibility is Visibility.GONE else " seen"
            folds = speaker in _FOLDED
            parts = "".join(part_shown(part, folds=folds) for part in message.parts)
            name = anchor(entry.id)
            return (
                f'<article id="{name}" class="{role}{seen}"><header>'
                f'<h3><a href="#{name}">{speaker.capitalize()}</a></h3> {_marks(event)}'
                f"{jumps.shown(entry.id) if jumps else ''}</header>{parts or _NOTHING}</article>"
            )
        case TimelineCompaction():
            record = event.record
            figures = ", ".join(_figures(record))
            # What a compaction wrote; its other words stand in the conversation already.
            written = "".join(
                f'<div id="{anchor(entry.id)}">'
                f"{summary_shown(entry.message.summary) if entry.message.summary else ''}</div>"
                for entry in event.summaries
            )
            if not written and record.summary:
                written = summary_shown(Summary(record.summary))
            words = f"{time_shown(record.at)} {escaped(figures)}{_since(is_undone=event.is_undone)}"
            return (
                f'<section class="compaction mark"><h3>Compaction</h3> <p>{words}.</p>'
                f"{written}</section>"
            )
        case TimelineRewind(at, is_undone):
            words = f"{time_shown(at)} The last turns were taken back{_since(is_undone=is_undone)}."
            return f'<section class="mark"><h3>Rewind</h3> <p>{words}</p></section>'
        case TimelineFork(session):
            words = (
                f"Here begins session <code>{escaped(session.id)}</code>, "
                f"{escaped(title_of(session))} ({escaped(str(session.fork or 'another'))})."
            )
            return f'<section class="mark"><h3>Session</h3> <p>{words}</p></section>'
        case _:
            assert_never(event)


def time_shown(at: int) -> str:
    """Return a moment in words, and for programs."""
    return f'<time datetime="{iso_time(at) or ""}">{clock_time(at)}</time>'


def _marks(said: TimelineMessage) -> str:
    entry, message = said.entry, said.message
    marks = [
        time_shown(entry.at),
        line_of(native_of(message).model, _WIDEST),
        counted(entry.tokens, "token") if entry.tokens else "",
        "pinned" if message.pinned else "",
        "written by holdfast" if message.synthetic and not message.summary else "",
        "" if said.visibility is Visibility.SEEN else str(said.visibility),
        f"#{entry.id}",
    ]
    return " ".join(f"<span>{mark}</span>" for mark in marks if mark)


def _figures(record: CompactionRecord) -> Iterator[str]:
    said = record.report.get(FOLD)
    agent = cast("dict[str, object]", said if isinstance(said, dict) else {})
    report = {**agent, **record.report}
    cause = agent.get("trigger") or record.trigger
    yield "by its agent" if cause == FOLD else str(cause or "without a known cause")
    for name in ("messages", "tokens"):
        before, after = report.get(f"{name}_before"), report.get(f"{name}_after")
        if isinstance(before, int) and isinstance(after, int):
            yield f"{before:,} to {after:,} {name}"
        elif isinstance(before, int):
            yield f"{before:,} {name} before"
    if record.focus:
        yield f"with a focus on {record.focus}"


def _since(*, is_undone: bool) -> str:
    return ", and undone since" if is_undone else ""


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
