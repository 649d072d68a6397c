"""What a model is shown: a window, with the system prompt and the goal as they are now.

The window of a live session is kept in memory: a look at the store costs only what is new. Prompt
and goal may change while the log stays, so they are put in place when a window is shown. They are
no part of what undo takes back.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from holdfast.compaction.fold import with_note
from holdfast.compaction.plan import SYSTEM_NOTE
from holdfast.compaction.repair import repair
from holdfast.compaction.truncation import LEFT_OUT
from holdfast.errors import UnknownSession
from holdfast.session import Head, Window
from holdfast.tokens import Load
from holdfast.transcript import Message, Role, Synthetic, Text
from holdfast.wire import DIALECTS, Body, SharedPrefix

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.ports import Store, WindowEngine
    from holdfast.session import Entry, Session, SessionState, Span
    from holdfast.transcript import Transcript

PROMPT_KEY = "system_prompt"
"""Where a session's metadata keep a prompt that has taken the place of the first one."""
_NOTES = (SYSTEM_NOTE, LEFT_OUT)
"""What a pass may have added to a system prompt."""
_GOAL = "The goal of this conversation, as its user set it:"


@dataclass(frozen=True, slots=True)
class Heading:
    """What is shown above the log."""

    prompt: str = ""
    """The system prompt that takes the place of the log's; empty where that still holds."""
    goal: str = ""


def heading_of(session: Session) -> Heading:
    """Return what stands above a session."""
    prompt = session.metadata.get(PROMPT_KEY)
    return Heading(prompt if isinstance(prompt, str) else "", session.goal)


def bare_prompt(transcript: Transcript) -> str:
    """Return the system prompt that a transcript begins with, without our note."""
    if not transcript or transcript[0].role is not Role.SYSTEM:
        return ""
    text = transcript[0].text
    for note in (*_NOTES, *_NOTES):
        # Each may stand before the other, when the engine was changed between two passes.
        text = text.removesuffix(note).rstrip()
    return text


def with_prompt(transcript: Transcript, prompt: str) -> Transcript:
    """Return the transcript with another system prompt, and with our note if it had it."""
    if not prompt or bare_prompt(transcript) == prompt:
        return transcript
    system = Message(Role.SYSTEM, (Text(prompt),))
    if not transcript or transcript[0].role is not Role.SYSTEM:
        return (system, *transcript)
    for note in _NOTES:
        if note in transcript[0].text:
            system = with_note(system, note)
    return (system, *transcript[1:])


def with_goal(transcript: Transcript, goal: str) -> Transcript:
    """Return the transcript with the goal at the end of its system prompt."""
    if not goal:
        return transcript
    note = f"{_GOAL}\n{goal}"
    if transcript and transcript[0].role is Role.SYSTEM:
        system = transcript[0]
        joined = replace(system, parts=(*system.parts, Text(f"\n\n{note}")))
        if len(system.parts) == 1 and isinstance(system.parts[0], Text):
            words = replace(system.parts[0], text=f"{system.parts[0].text}\n\n{note}")
            joined = replace(system, parts=(words,))
        return (joined, *transcript[1:])
    return (Message(Role.SYSTEM, (Text(note),), synthetic=Synthetic.NOTE), *transcript)


@dataclass(frozen=True, slots=True)
class Presence:
    """Which messages stand in a session's window."""

    session: str = ""
    root: str = ""
    spans: tuple[Span, ...] = ()
    upto: int = 0

    def shows(self, session: str, position: int) -> bool:
        """Say whether a message stands in the window as it was said."""
        if session == self.session and position > self.upto:
            return True
        return any(
            span.session == session and span.first <= position <= span.last for span in self.spans
        )


NOWHERE = Presence()
"""There is no current session."""


def presence_of(store: Store, id_: str | None) -> Presence:
    """Return which messages the window of a session shows; none for one that is not stored here."""
    if not id_:
        return NOWHERE
    try:
        session, head = store.session(id_), store.head(id_)
    except UnknownSession:
        return NOWHERE
    if head.view is None:
        return Presence(id_, session.root)
    view = next(view for view in store.views(id_) if view.id == head.view)
    return Presence(id_, session.root, view.spans, view.upto)


@dataclass(frozen=True, slots=True)
class _Written:
    """The window as OpenAI chat messages, written once and handed out as copies."""

    prefix: SharedPrefix
    messages: tuple[dict[str, object], ...] = ()
    nested: tuple[int, ...] = ()
    """Which messages have more in them than words: a copy of the outermost is not enough."""

    def plus(self, fresh: Sequence[dict[str, object]]) -> _Written:
        """Return it with messages more at its end."""
        start = len(self.messages)
        nested = [
            index
            for index, each in enumerate(fresh, start)
            if any(isinstance(value, (dict, list)) for value in each.values())
        ]
        return _Written(self.prefix, (*self.messages, *fresh), (*self.nested, *nested))

    def body(self) -> Body:
        """Return a body whose receiver may do with it what it likes, down to the last part."""
        messages = list(map(dict[str, object].copy, self.messages))
        for index in self.nested:
            messages[index] = _copied(self.messages[index])
        return Body(messages, prefix=self.prefix)

    def shared(self) -> Body:
        """Return a body whose list is its receiver's, and whose messages are not."""
        return Body(list(self.messages), prefix=self.prefix)


class LiveWindow:
    """Mirrors what the store shows of a session.

    Other processes may write to the same session. Every look is one read of the session's state;
    it brings messages that were appended, and the whole window if another view shows now.
    """

    def __init__(self, store: Store, engine: WindowEngine, id_: str) -> None:
        """Begin with nothing; the first `refresh` reads the window."""
        self._store = store
        self._engine = engine
        self._id = id_
        self._window = Window(Head(-1, None, 0), ())
        self._pins: frozenset[int] = frozenset()
        self._load: Load | None = None
        self._wire: _Written | None = None
        self._heading = Heading()
        self.tokens = 0
        """What the messages weighed when they were stored: how much is kept in memory."""

    @property
    def window(self) -> Window:
        """Return what was read last."""
        return self._window

    @property
    def load(self) -> Load:
        """Return what the window asks of a provider."""
        if self._load is None:
            self._load = self._engine.load(self._shown())
        return self._load

    def refresh(self) -> SessionState:
        """Bring the window up to date with the store, in one read; returns the session's state."""
        known = self._window.head if self._window.head.generation >= 0 else None
        read = self._store.refresh(self._id, known)
        state = read.state
        if read.is_whole:
            self._window, self._load, self._wire = Window(state.head, read.entries), None, None
            self.tokens = sum([entry.tokens for entry in read.entries])
            # Those that were shown are other objects, and would be held for ever.
            self._engine.forget_weights()
        elif read.entries or state.head != known:
            self._extend(read.entries, state.head)
        if read.is_whole or state.pins != self._pins:
            # A pin changes no generation, whoever sets it. What a compaction has rewritten is
            # pinned when the message is that it stands for.
            self._pins = state.pins
            entries = tuple(_pinned(entry, state.pins) for entry in self._window.entries)
            self._window = Window(self._window.head, entries)
        heading = heading_of(state.session)
        if heading != self._heading:
            self._heading, self._load, self._wire = heading, None, None
        return state

    def wrote(self, entries: Sequence[Entry]) -> None:
        """Take in messages that this process has just appended.

        Where another process wrote in between, the next refresh reads everything in order.
        """
        known = self._window.head
        if entries and entries[0].position == known.size + 1:
            self._extend(entries, dataclasses.replace(known, size=entries[-1].position))

    def body(self, dialect: str) -> Body:
        """Return the window as a provider reads it, valid whatever happened to its calls."""
        if dialect != "openai":
            return DIALECTS[dialect].encode(self._shown())
        return self._written().body()

    def shared_body(self, dialect: str) -> Body:
        """Return the same for a receiver that changes no message: they are the window's own.

        To copy a window of thousands of messages takes longer than all else that a call needs.
        """
        return self._written().shared() if dialect == "openai" else self.body(dialect)

    def _written(self) -> _Written:
        if self._wire is None:
            messages = DIALECTS["openai"].encode(self._shown()).messages
            self._wire = _Written(SharedPrefix()).plus(messages)
        return self._wire

    def _extend(self, entries: Sequence[Entry], head: Head) -> None:
        before = self._window.entries
        if not before and self._heading == Heading():
            # What is said first is weighed as it comes, as all that follows is.
            self._load = Load()
        self._window = Window(head, (*before, *entries))
        self.tokens += sum([entry.tokens for entry in entries])
        fresh = tuple(entry.message for entry in entries)
        if self._load is not None:
            self._load += self._engine.load(fresh)
        if self._wire is not None:
            # The first message may be the system prompt, which takes the heading in.
            self._wire = _grown(self._wire, _waiting(before), fresh) if before else None

    def _shown(self) -> Transcript:
        shown = with_prompt(repair(self._window.transcript), self._heading.prompt)
        return with_goal(shown, self._heading.goal)


def _pinned(entry: Entry, pins: frozenset[int]) -> Entry:
    is_pinned = entry.id in pins or entry.stands_for in pins
    if entry.message.pinned == is_pinned:
        return entry
    return replace(entry, message=replace(entry.message, pinned=is_pinned))


def _copied(fields: dict[str, object]) -> dict[str, object]:
    return {key: value if type(value) is str else _own(value) for key, value in fields.items()}


def _own(value: object) -> object:
    if isinstance(value, dict):
        return _copied(cast("dict[str, object]", value))
    if isinstance(value, list):
        return [_own(each) for each in cast("list[object]", value)]
    return value


def _grown(wire: _Written, waiting: list[str] | None, fresh: Transcript) -> _Written | None:
    """Return the wire messages with the new ones; None if all must be written anew.

    A message is written on its own, unless it comes between calls and their results.
    """
    if waiting is None:
        return None
    for message in fresh:
        if message.role is Role.TOOL:
            answered = [result.call_id for result in message.results]
            if not answered or answered != waiting[: len(answered)]:
                return None
            del waiting[: len(answered)]
        elif waiting:
            return None
        else:
            # An id that a message uses twice is answered once.
            waiting = list(dict.fromkeys(call.id for call in message.calls))
    return wire.plus(DIALECTS["openai"].encode(fresh).messages)


def _waiting(entries: Sequence[Entry]) -> list[str] | None:
    """Return the calls at the end of the window that still wait, in order.

    Where several messages in a row made calls, they are answered as a group, and nothing that
    follows is written on its own: then there is no answer. Nor is there one where a later call
    was answered before an earlier one, because the answers change places when all are in.
    """
    answered: set[str] = set()
    for index in range(len(entries) - 1, -1, -1):
        message = entries[index].message
        if message.role is not Role.TOOL:
            asked = dict.fromkeys(call.id for call in message.calls)
            if asked and index and entries[index - 1].message.calls:
                return None
            waiting = [id_ for id_ in asked if id_ not in answered]
            return waiting if waiting == list(asked)[len(asked) - len(waiting) :] else None
        answered.update(result.call_id for result in message.results)
    return []
