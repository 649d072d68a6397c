"""Session files as generated events, so that each format's writer and reader meet every case.

`event_streams(sayable)` draws what a file may tell; `comparable(events)` makes two tellings of one
session equal lists.
"""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from functools import cache
from typing import TYPE_CHECKING, Literal
from uuid import UUID

from hypothesis import strategies as st
from msgspec.structs import replace

from holdfast.formats.content import summarized
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.session import Fork, Usage
from holdfast.testing.strategies import arguments, sentences, thinking, words
from holdfast.transcript import (
    NO_EXTRAS,
    Media,
    Message,
    Role,
    Text,
    ToolCall,
    ToolResult,
)
from tests.formats.comparing import comparable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from hypothesis.strategies import DrawFn, SearchStrategy

    from holdfast.formats.events import Event
    from holdfast.transcript import Content, Part, Thinking

__all__ = ["Sayable", "comparable", "event_streams"]

_START = 1_700_000_000_000
_PIXEL = "iVBORw0KGgoAAAANSUhEUg=="
# Built once: strategies are checked at their first draw, which costs more than a draw.
_MAYBE = st.booleans()
_RARELY = st.integers(0, 5).map(lambda number: number == 0)
_UPTO_TWO = st.integers(0, 2)
_ONE_OR_TWO = st.integers(1, 2)
_TOOLS = st.sampled_from(("Bash", "Read", "mcp__search__find"))
_MODELS = st.sampled_from(("model-1", "model-2"))
_TRIGGERS = st.sampled_from(("auto", "manual"))
_COUNTS = st.integers(0, 100_000)
_USAGE = st.builds(Usage, st.just(1), st.integers(1, 9_000), _COUNTS, _COUNTS, _COUNTS)
_SENTENCES = sentences()
_ARGUMENTS = arguments()
_WORDS = words()


@dataclass(frozen=True, slots=True, kw_only=True)
class Sayable:
    """What a format has words for; everything else is not drawn."""

    dialect: str = "anthropic"
    """Whose signatures the thinking carries."""
    origin: str = "claude-code"
    """Which system's summaries the compactions tell."""
    ids: Literal["uuid", "hex", "none"] = "uuid"
    """How messages are named: 36 letters, 8 letters, or by their place alone."""
    about: tuple[str, ...] = ("id", "title", "cwd", "git_branch", "version", "started")
    """The fields of About that a file can say; `started` is the time of the first message."""
    is_split: bool = True
    """Whether each part of an answer is told by itself, with results between the calls."""
    has_models: bool = True
    has_usage: bool = True
    has_times: bool = True
    has_blanks: bool = False
    """Whether texts may be empty or blank."""
    has_thinking: bool = True
    has_images: bool = True
    has_result_images: bool = True
    has_errors: bool = True
    has_result_names: bool = False
    """Whether a result names its tool."""
    has_system: bool = False
    """Whether a system prompt may be told first."""
    has_compactions: bool = True
    has_kept: bool = True
    """Whether a compaction may leave messages after its summary as they were."""
    has_heads: bool = False
    """Whether a compaction may leave messages before its summary as they were."""
    has_triggers: bool = True
    """Whether a compaction says who asked for it and what it weighed before."""
    has_tokens_after: bool = True
    has_rewinds: bool = False
    """Whether a user may take turns back in the same strand."""
    has_branches: bool = True
    has_delegations: bool = True


@dataclass(slots=True)
class _Pen:
    """Writes events with keys and times of their own."""

    says: Sayable
    events: list[Event] = field(default_factory=list["Event"])
    windows: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """What each strand shows."""
    turns: dict[str, list[str]] = field(default_factory=dict[str, list[str]])
    """The last key of each turn of a strand: where it may be cut."""
    count: int = 0

    def key(self) -> str:
        """Return a name that no other message has."""
        self.count += 1
        match self.says.ids:
            case "uuid":
                return str(UUID(int=self.count << 64 | self.count, version=4))
            case "hex":
                return f"{self.count:08x}"
            case "none":
                return f"#{self.count}"

    def at(self) -> int | None:
        """Return a time after all others."""
        return _START + 1_000 * self.count if self.says.has_times else None

    def tell(self, strand: str, message: Message, native: SourceMetadata | None = None) -> str:
        """Tell one message and return its key."""
        key = self.key()
        name = "" if self.says.ids == "none" else key
        found = replace(native or SourceMetadata(), id=name, at=self.at())
        self.events.append(
            MessageEvent(strand=strand, line=self.count, key=key, message=message, native=found)
        )
        self.windows.setdefault(strand, []).append(key)
        return key

    def end_turn(self, strand: str) -> None:
        """Remember that the strand may be cut here."""
        self.turns.setdefault(strand, []).append(self.windows[strand][-1])


def event_streams(sayable: Sayable | None = None) -> SearchStrategy[list[Event]]:
    """Return the events of one session file: a main strand, its compactions, its forks."""
    return _event_streams(sayable or Sayable())


@st.composite
def _event_streams(draw: DrawFn, says: Sayable) -> list[Event]:
    pen = _Pen(says)
    first = _START + 1_000 if says.has_times else None
    pen.events.append(StrandStarted(strand=MAIN, line=1, about=_about(draw, says, first)))
    if says.has_system and draw(_MAYBE):
        pen.tell(MAIN, Message(Role.SYSTEM, (Text(draw(_SENTENCES)),)))
        pen.end_turn(MAIN)
    for _ in range(draw(st.integers(1, 3))):
        _turn(draw, pen, MAIN, has_tasks=says.has_delegations)
    for _ in range(draw(_UPTO_TWO) if says.has_compactions else 0):
        _compaction(draw, pen)
        _turn(draw, pen, MAIN, has_tasks=False)
    if says.has_rewinds and draw(_MAYBE):
        _rewind(draw, pen)
        _turn(draw, pen, MAIN, has_tasks=False)
    if says.has_branches and len(pen.turns[MAIN]) > 1 and draw(_MAYBE):
        _branch(draw, pen)
    return pen.events


def _about(draw: DrawFn, says: Sayable, first: int | None) -> About:
    name = str(UUID(int=draw(st.integers(1, 1 << 120)), version=4))
    known = {
        "id": name,
        "title": draw(_SENTENCES).strip(),
        "model": "model-1",
        "cwd": "/srv/shop",
        "git_branch": draw(st.sampled_from(("main", "fix/é"))),
        "version": "2.1.7",
        "started": first,
    }
    return About(**{key: value for key, value in known.items() if key in says.about})  # type: ignore[arg-type]


def _turn(draw: DrawFn, pen: _Pen, strand: str, *, has_tasks: bool) -> None:
    """Tell what a user says and what follows from it."""
    pen.tell(strand, _said(draw, pen.says))
    _answers(draw, pen, strand, has_tasks=has_tasks)
    pen.end_turn(strand)


def _answers(draw: DrawFn, pen: _Pen, strand: str, *, has_tasks: bool) -> None:
    for _ in range(draw(_UPTO_TWO)):
        calls = [
            ToolCall(f"toolu_{pen.count}_{place}", draw(_TOOLS), draw(_ARGUMENTS))
            for place in range(draw(_ONE_OR_TWO))
        ]
        task = has_tasks and draw(_MAYBE)
        if task:
            asked = f"{draw(_SENTENCES)} {pen.count}"
            fields = json.dumps({"description": "a task", "prompt": asked}, ensure_ascii=False)
            calls = [ToolCall(f"toolu_{pen.count}_t", "Task", fields)]
        _reply(draw, pen, strand, calls)
        if task:
            _delegation(draw, pen, strand, calls[0])
            _result(draw, pen, strand, calls[0])
    if draw(_MAYBE):
        _reply(draw, pen, strand, [])


def _delegation(draw: DrawFn, pen: _Pen, strand: str, call: ToolCall) -> None:
    """Tell how a sub-agent worked on the task of a call, before the call is answered."""
    asked = str(json.loads(call.arguments)["prompt"])
    name = str(UUID(int=pen.count + 1 << 64 | pen.count + 1, version=4))
    about = About(title="a task", more={"call": call.id})
    pen.events.append(
        StrandStarted(strand=name, line=pen.count, about=about, of=strand, fork=Fork.DELEGATION)
    )
    pen.tell(name, Message(Role.USER, (Text(asked),)))
    _answers(draw, pen, name, has_tasks=False)


def _reply(draw: DrawFn, pen: _Pen, strand: str, calls: Sequence[ToolCall]) -> None:
    """Tell one answer of the model with the results of its calls, but for those of tasks."""
    says = pen.says
    parts: list[Part] = []
    if says.has_thinking and draw(_MAYBE):
        parts.append(draw(_thinking(says.dialect)))
    if not calls or draw(_MAYBE):
        parts.append(Text(draw(_words(says))))
    name = f"msg_{pen.count}"
    native = SourceMetadata(
        reply=name,
        model=draw(_MODELS) if says.has_models else "",
        usage=draw(_USAGE) if says.has_usage else None,
    )
    waiting = [call for call in calls if call.name != "Task"]
    if not says.is_split:
        pen.tell(strand, Message(Role.ASSISTANT, (*parts, *calls)), native)
    for part in (*parts, *calls) if says.is_split else ():
        pen.tell(strand, Message(Role.ASSISTANT, (part,)), native)
        native = replace(native, usage=None)
        if part in waiting and draw(_MAYBE):
            _result(draw, pen, strand, waiting.pop(waiting.index(part)))
    for call in draw(st.permutations(waiting)):
        _result(draw, pen, strand, call)


def _result(draw: DrawFn, pen: _Pen, strand: str, call: ToolCall) -> None:
    says = pen.says
    content: list[Content] = [Text(draw(_words(says)))]
    if says.has_result_images and draw(_RARELY):
        content.append(_picture(says))
    is_error = says.has_errors and draw(_MAYBE)
    name = call.name if says.has_result_names else ""
    result = ToolResult(call.id, tuple(content), is_error=is_error, name=name)
    pen.tell(strand, Message(Role.TOOL, (result,)))


def _compaction(draw: DrawFn, pen: _Pen) -> None:
    """Tell a summary, and the window that it leaves."""
    says, window, ends = pen.says, pen.windows[MAIN], pen.turns[MAIN]
    seams = [0, *(window.index(key) + 1 for key in ends if key in window)]
    places = st.sampled_from(seams)
    head = window[: draw(places)] if says.has_heads else []
    start = max(draw(places), len(head)) if says.has_kept else len(window)
    tail = window[start:] if start else []
    text = draw(_SENTENCES).strip()
    summary = pen.tell(MAIN, summarized(text, says.origin))
    shows = (*head, summary, *tail)
    pen.windows[MAIN] = list(shows)
    pen.turns[MAIN] = [key for key in (*ends, summary) if key in shows]
    pen.events.append(
        CompactionEvent(
            strand=MAIN,
            line=pen.count,
            id=f"fold-{pen.key()}",
            shows=shows,
            at=pen.at(),
            trigger=draw(_TRIGGERS) if says.has_triggers else "",
            tokens_before=draw(_COUNTS) + 1 if says.has_triggers else None,
            tokens_after=draw(_COUNTS) + 1 if says.has_tokens_after else None,
        )
    )


def _rewind(draw: DrawFn, pen: _Pen) -> None:
    window, ends = pen.windows[MAIN], pen.turns[MAIN]
    back = draw(st.sampled_from(ends[:-1] or ends))
    shows = window[: window.index(back) + 1]
    pen.count += 1
    pen.windows[MAIN] = shows
    pen.turns[MAIN] = [key for key in ends if key in shows]
    pen.events.append(RewindEvent(strand=MAIN, line=pen.count, shows=tuple(shows), at=pen.at()))


def _branch(draw: DrawFn, pen: _Pen) -> None:
    """Tell how a user went back to the end of an earlier turn and on from there."""
    after = draw(st.sampled_from(pen.turns[MAIN][:-1]))
    shared = pen.windows[MAIN][: pen.windows[MAIN].index(after) + 1]
    name = str(UUID(int=pen.count + 1 << 64 | pen.count + 1, version=4))
    pen.windows[name] = shared
    pen.events.append(
        StrandStarted(
            strand=name, line=pen.count, about=About(), of=MAIN, fork=Fork.BRANCH, after=after
        )
    )
    for _ in range(draw(_ONE_OR_TWO)):
        _turn(draw, pen, name, has_tasks=False)


def _said(draw: DrawFn, says: Sayable) -> Message:
    parts: list[Part] = [Text(draw(_words(says)))]
    if says.has_images and draw(_RARELY):
        parts.append(_picture(says))
    return Message(Role.USER, tuple(parts))


def _picture(says: Sayable) -> Media:
    extras = {"anthropic": {}} if says.dialect == "anthropic" else NO_EXTRAS
    return Media(media_type="image/png", data=_PIXEL, extras=extras)


@cache
def _words(says: Sayable) -> SearchStrategy[str]:
    return _WORDS if says.has_blanks else _WORDS.filter(lambda text: bool(text.strip()))


@cache
def _thinking(dialect: str) -> SearchStrategy[Thinking]:
    return thinking(dialect)
