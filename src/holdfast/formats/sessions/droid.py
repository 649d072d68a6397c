"""Reads the sessions of Droid, Factory's agent, and the event streams that it prints.

A session file begins with `session_start` and holds messages as Anthropic writes them; a stream is
read by `droid_stream`. Both are shown by files. That a header names the session that a sub-agent
works for (`callingSessionId`), and that `compaction_state` holds a summary, is what other readers
of these files say; which messages stay beside the summary is not known, so none is said to.
What a session cost stands in a file of settings beside it, as a total, and is not read.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Told
from holdfast.formats.document import Format, Problem
from holdfast.formats.loose import mapping, mappings, string
from holdfast.formats.moments import moment
from holdfast.formats.sessions.decoding import decoded
from holdfast.formats.sessions.droid_stream import StreamDesk, is_stream_line, session_of
from holdfast.formats.sessions.keys import Keys
from holdfast.formats.sessions.reader import SessionReader, Sign, summarized, words
from holdfast.session import Fork
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record

__all__ = ["DROID"]

_HEADER = frozenset(["title", "cwd", "owner", "session"])
"""What a header has, and no other event of its type."""
_TOOLS = frozenset(["tool_use", "tool_result"])
_WEAK = 0.6
_KNOWN = ("owner", "sessionTitle", "callingToolUseId")
"""What else a header says that its own agent may want back."""


def _recognize(records: Sequence[Record]) -> Sign | None:
    weak: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        if entry.get("type") == "session_start" and not _HEADER.isdisjoint(entry):
            return Sign("a header of type session_start")
        if is_stream_line(entry):
            return Sign(f"a line of type {entry['type']} of Droid's event stream")
        if "tokenUsage" in entry and "providerLock" in entry:
            return Sign("Droid's settings of a session, which stand beside it and say nothing")
        blocks = mappings(mapping(entry.get("message")).get("content"))
        if entry.get("type") == "message" and any(
            string(each.get("type")) in _TOOLS for each in blocks
        ):
            weak = weak or Sign("a line of type message with tools as Anthropic has them", _WEAK)
    return weak


def _read(records: Iterable[Record]) -> Iterator[Event]:
    desk = _Desk()
    stream = StreamDesk()
    for record in records:
        # Only the lines of a stream name their session, each of them.
        is_stream = bool(session_of(mapping(record.value))) and not desk.has_begun
        if stream.has_begun or is_stream:
            yield from stream.take(record)
        else:
            yield from desk.take(record)


class _Desk:
    """Reads a session file line by line."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._session: str | None = None
        self._last = ""
        """The id of the entry that was told last."""

    @property
    def has_begun(self) -> bool:
        """Say whether anything was told."""
        return self._session is not None

    def take(self, record: Record) -> Iterator[Event]:
        """Tell what one line says; of lines that come before the header, nothing is known."""
        entry = mapping(record.value)
        match entry.get("type"):
            case "session_start" if self._session is None:
                yield from self._begin(record.line, _about(entry))
            case "message":
                yield from self._begin(record.line, About())
                yield from self._message(record, entry)
            case "compaction_state":
                yield from self._begin(record.line, About())
                yield from self._compaction(record.line, entry)
            case _:
                return

    def _begin(self, line: int, about: About) -> Iterator[Begun]:
        if self._session is None:
            self._session = about.id
            yield Begun(strand=MAIN, line=line, about=about)

    def _message(self, record: Record, entry: Mapping[str, object]) -> Iterator[Event]:
        said = mapping(entry.get("message"))
        found = decoded("anthropic", {key: said.get(key) for key in ("role", "content")})
        if isinstance(found, str):
            yield Problem(record.line, found, record.file)
            return
        own, parent = string(entry.get("id")), string(entry.get("parentId"))
        for message in found:
            model = string(said.get("model")) if message.role is Role.ASSISTANT else ""
            yield Told(
                strand=MAIN,
                line=record.line,
                key=self._keys.take(own, record.line),
                message=message,
                native=Native(
                    id=own,
                    parent="" if parent in {self._last, self._session} else parent,
                    model=model,
                    at=moment(entry.get("timestamp")),
                ),
            )
            self._last = parent = own

    def _compaction(self, line: int, entry: Mapping[str, object]) -> Iterator[Event]:
        summary = entry.get("summary")
        text = string(entry.get("summaryText")) or words(mapping(summary).get("body") or summary)
        if not text:
            return
        own, at = string(entry.get("id")), moment(entry.get("timestamp"))
        key = self._keys.take(own, line)
        message = summarized(text, "droid")
        yield Told(strand=MAIN, line=line, key=key, message=message, native=Native(id=own, at=at))
        yield Folded(strand=MAIN, line=line, id=f"{key}/fold", shows=(key,), at=at)


def _about(entry: Mapping[str, object]) -> About:
    header = {**mapping(entry.get("session")), **entry}
    parent = string(header.get("callingSessionId"))
    return About(
        id=string(header.get("id")),
        title=string(header.get("sessionTitle")) or string(header.get("title")),
        cwd=string(header.get("cwd")),
        version=string(header.get("version")),
        started=moment(header.get("timestamp")),
        parent=parent,
        fork=Fork.DELEGATION if parent else None,
        more={key: found for key in _KNOWN if (found := string(header.get(key)))},
    )


DROID = SessionReader(
    format=Format("droid", "Droid (Factory) session or event stream", "anthropic", writable=False),
    recognize=_recognize,
    read=_read,
)
