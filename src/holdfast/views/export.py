"""A stored session as a file: a request to a provider, a page, or the session of another agent."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from functools import partial
from typing import TYPE_CHECKING, TypeAlias

from msgspec import structs

from holdfast.compaction.repair import repair
from holdfast.conversation.window import with_goal
from holdfast.formats import Document, write
from holdfast.formats.catalog import SESSIONS
from holdfast.formats.documents import window_events
from holdfast.formats.events import MAIN, About, MessageEvent, MetadataUpdated, StrandStarted
from holdfast.session import Fork, children_of, path_to
from holdfast.session.lineage_reader import count_until, said_until, window_entries
from holdfast.tokens import Scale
from holdfast.training.reading import labelled_entries
from holdfast.transfer import export_session
from holdfast.views.context_map import WindowLimits, ratio_of, weigh_window, weighed
from holdfast.views.html.page import SessionLineage, SessionPage, count_timeline, html_pieces
from holdfast.views.markdown import markdown_pieces
from holdfast.views.timeline import TimelineMessage, timeline, window_timeline
from holdfast.views.words import counted
from holdfast.wire import DIALECTS
from holdfast.wire.provenance import written_labels

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.compaction import Policy
    from holdfast.formats.events import Event
    from holdfast.ports import Store
    from holdfast.session import Session
    from holdfast.tokens import Counter
    from holdfast.transcript import Transcript
    from holdfast.views.timeline import TimelineEvent

_AGENT_WRITERS = {each.format.name: each.write for each in SESSIONS if each.write is not None}
AGENT_FORMATS: tuple[str, ...] = tuple(_AGENT_WRITERS)
"""The agents whose files can be written."""
_NOUNS = {
    Fork.BRANCH: ("branch", "branches"),
    Fork.DELEGATION: ("sub-agent", "sub-agents"),
}
_NAMED = 3
"""How many sessions are named that a file has no place for."""
_HELD: dict[str, frozenset[Fork]] = {
    "claude-code": frozenset({Fork.BRANCH, Fork.DELEGATION}),
    "pi": frozenset({Fork.BRANCH}),
    "openclaw": frozenset({Fork.BRANCH}),
}
"""What the file of one session can hold besides it."""


@dataclass(frozen=True, slots=True)
class ForkedSessions:
    """The sessions that came from one: those that are in its file, and those that cannot be."""

    agent: str
    along: tuple[ForkedSession, ...]
    left_out: tuple[ForkedSession, ...]

    def sentences(self) -> Iterator[str]:
        """Say what went along and what was left out."""
        if self.along:
            yield f"with it: {_summed(self.along)}"
        if self.left_out:
            few = ", ".join(each.session.id for each in self.left_out[:_NAMED])
            more = len(self.left_out) - _NAMED
            named = f"{few} and {more:,} more" if more > 0 else few
            reason = f"a {self.agent} file has no place for them"
            yield f"left out: {_summed(self.left_out)}; {reason}: {named}"

    def as_json(self) -> dict[str, object]:
        """Return the sessions by their ids."""
        return {
            "along": [each.session.id for each in self.along],
            "left_out": [each.session.id for each in self.left_out],
        }


@dataclass(frozen=True, slots=True)
class ForkedSession:
    """A branch or a sub-agent, and how much was said in it."""

    session: Session
    messages: int


def forked_sessions(store: Store, id_: str, name: str) -> ForkedSessions:
    """Return what came from a session, as far as the file of an agent can hold it."""
    lineage = store.lineage(id_)
    held: list[ForkedSession] = []
    others: list[ForkedSession] = []
    pending: list[tuple[str, bool]] = []
    # A session and those that were compacted into it are told as one.
    for each in reversed(path_to(lineage, id_)):
        pending.append((each.id, True))
        if each.fork is not Fork.COMPRESSION:
            break
    while pending:
        parent, fits = pending.pop()
        for child in children_of(lineage, parent):
            if child.fork not in _NOUNS or child.trashed is not None or child.id == id_:
                continue
            has_place = fits and child.fork in _HELD.get(name, frozenset())
            relative = ForkedSession(child, store.count_said(child.id, child.size))
            (held if has_place else others).append(relative)
            pending.append((child.id, has_place))
    return ForkedSessions(name, tuple(held), tuple(others))


def named_for_agent(events: Iterable[Event], id_: str, folder: str, now: int) -> Iterator[Event]:
    """Return events under another id and in another working directory, for the agent they go to.

    What has no date begins now.
    """
    for event in events:
        match event:
            case StrandStarted(strand=strand) if strand == MAIN:
                started = event.about.started or now
                about = replace(event.about, id=id_, cwd=folder, started=started)
                yield replace(event, about=about)
            case MetadataUpdated(strand=strand) if strand == MAIN:
                about = replace(event.about, id="", cwd="")
                yield replace(event, about=about)
            case MessageEvent(native=native) if "sessionId" in native.more:
                more = {key: value for key, value in native.more.items() if key != "sessionId"}
                yield structs.replace(event, native=structs.replace(native, more=more))
            case _:
                yield event


def _lines(events: Iterable[Event], name: str) -> Iterator[str]:
    return (f"{line}\n" for line in _AGENT_WRITERS[name](events))


def _summed(relatives: Sequence[ForkedSession]) -> str:
    words: list[str] = []
    for fork, (one, several) in _NOUNS.items():
        said = [each.messages for each in relatives if each.session.fork is fork]
        if said:
            noun = one if len(said) == 1 else several
            words.append(f"{len(said):,} {noun} ({counted(sum(said), 'message')})")
    return ", ".join(words)


@dataclass(frozen=True, slots=True)
class ExportRequest:
    """What is to be written; without a choice, the format knows what suits it."""

    store: Store
    session: Session
    policy: Policy
    counter: Counter
    log: bool | None = None
    """Whether everything that was said is written, or what the model sees now."""

    def window(self, *, labels: bool = False) -> Transcript:
        """Return what the model would get, with the goal at the end of its system prompt.

        Args:
            labels: Whether messages that nobody said are labelled as such, as files have it;
                no provider ever gets a label.
        """
        window = self.store.window(self.session.id)
        found = labelled_entries(self.store, window.entries) if labels else window.transcript
        return with_goal(repair(found), self.session.goal)


@dataclass(frozen=True, slots=True)
class SessionExport:
    """A text on its way out."""

    messages: int
    pieces: Iterable[str]
    forked: ForkedSessions | None = None
    """What came from the session, for the file of an agent."""


SessionExporter: TypeAlias = Callable[[ExportRequest], SessionExport]


def everything_said(store: Store, id_: str) -> Transcript:
    """Return all messages on the way to a session and in it, as they were said."""
    return tuple(
        store.whole(entry.id) if entry.shortened else entry.message
        for entry in said_until(store, id_)
    )


def _request(dialect: str, wanted: ExportRequest) -> SessionExport:
    # Without a choice it is a request that can be sent; a window that was asked for is data.
    is_data = wanted.log is False
    if wanted.log:
        transcript = everything_said(wanted.store, wanted.session.id)
    else:
        transcript = wanted.window(labels=is_data)
    document = Document(format="session", dialect="openai", transcript=transcript)
    shown = repair(transcript)
    text = write(document, written_labels(shown, dialect) if is_data else shown, to=dialect)
    return SessionExport(len(transcript), (text,))


def _session_file(agent: str, wanted: ExportRequest) -> SessionExport:
    store, id_ = wanted.store, wanted.session.id
    if wanted.log is False:
        transcript = wanted.window()
        first = next(iter(export_session(store, id_)))
        about = first.about if isinstance(first, StrandStarted) else About()
        return SessionExport(len(transcript), _lines(window_events(transcript, about), agent))
    return SessionExport(
        count_until(store, id_),
        _lines(export_session(store, id_, family=True), agent),
        forked_sessions(store, id_, agent),
    )


def resumable_export(
    agent: str, wanted: ExportRequest, id_: str, folder: str, now: int
) -> SessionExport:
    """Return a session as the file of an agent that goes on with it under an id, in a folder.

    What has no date begins now.
    """
    store, session = wanted.store, wanted.session.id
    if wanted.log is False:
        transcript = wanted.window()
        about = About(
            id=id_,
            cwd=folder,
            title=wanted.session.title,
            started=wanted.session.touched or wanted.session.started or now,
        )
        events = window_events(transcript, about)
        return SessionExport(len(transcript), _lines(events, agent))
    events = named_for_agent(export_session(store, session, family=True), id_, folder, now)
    forked = forked_sessions(store, session, agent)
    return SessionExport(count_until(store, session), _lines(events, agent), forked)


def _markdown(wanted: ExportRequest) -> SessionExport:
    store, session = wanted.store, wanted.session
    if wanted.log is False:
        count = sum(1 for _ in window_entries(store, session.id))
        return SessionExport(count, markdown_pieces(session, window_timeline(store, session)))
    count = count_until(store, session.id)
    return SessionExport(count, markdown_pieces(session, timeline(store, session)))


def _html(wanted: ExportRequest) -> SessionExport:
    store, session, policy = wanted.store, wanted.session, wanted.policy
    ratio = ratio_of(session)
    window = weigh_window(window_entries(store, session.id), Scale(wanted.counter, ratio=ratio))
    is_log = wanted.log is not False

    def events() -> Iterator[TimelineEvent]:
        told = timeline(store, session, window.visibility) if is_log else None
        for each in told or window_timeline(store, session):
            if isinstance(each, TimelineMessage):
                (entry,) = weighed([each.entry], ratio)
                yield replace(each, entry=entry)
            else:
                yield each

    lineage = store.lineage(session.id)
    page = SessionPage(
        lineage=SessionLineage(
            session, path_to(lineage, session.id)[:-1], children_of(lineage, session.id)
        ),
        counts=count_timeline(events()),
        window=window,
        limits=WindowLimits(policy.context_length, policy.threshold_tokens),
        is_log=is_log,
    )
    return SessionExport(page.counts.messages, html_pieces(page, events()))


EXPORTERS: dict[str, SessionExporter] = {
    **{dialect: partial(_request, dialect) for dialect in DIALECTS},
    **{agent: partial(_session_file, agent) for agent in AGENT_FORMATS},
    "markdown": _markdown,
    "html": _html,
}
"""What writes each format."""
