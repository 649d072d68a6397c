"""Reads Gemini CLI chats: one JSON object, or in later releases a message a line.

A message is written again when it grows: what was added is told as another message of the same
answer. Calls hold their results, which are told after the message. A record may replace all
messages, after a compression, change or remove some, or take the newest back. Notices for the
screen are passed over. A sub-agent's file stands in a folder that has the name of its session.
The oldest files hold a `history` in which the model's role is `gemini`, which no provider takes.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Folded, Native, Noted, Rewound, Told
from holdfast.formats.document import Format
from holdfast.formats.gemini_cli_messages import Growths, is_snapshot, usage_of
from holdfast.formats.keys import Keys
from holdfast.formats.loose import mapping, mappings, sequence, string
from holdfast.formats.moments import moment
from holdfast.formats.session_reader import LIKELY, SURE, SessionReader, Sign, summarized
from holdfast.session import Fork
from holdfast.transcript import Role

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record
    from holdfast.session import Usage

__all__ = ["GEMINI_CLI"]

_SPEAKERS = frozenset(["user", "gemini", "model"])
_MORE = ("projectHash", "kind")


def _recognize(records: Sequence[Record]) -> Sign | None:
    likely: Sign | None = None
    for record in records:
        entry = mapping(record.value)
        if any(_is_oldest(each) for each in mappings(entry.get("history"))):
            return Sign("a history with messages of role gemini", LIKELY)
        if entry.get("type") == "gemini" and "content" in entry:
            likely = likely or Sign("a message of type gemini", LIKELY)
        if "sessionId" not in entry:
            continue
        if "projectHash" in entry:
            is_whole = "startTime" in entry or "messages" in entry
            return Sign("a session with a project hash", SURE if is_whole else LIKELY)
        if any(each.get("type") == "gemini" for each in mappings(entry.get("messages"))):
            return Sign("a session with messages of type gemini", LIKELY)
    return likely


def _is_oldest(message: Mapping[str, object]) -> bool:
    return message.get("role") == "gemini" and "parts" in message


def _read(records: Iterable[Record]) -> Iterator[Event]:
    reader = _Reader()
    for record in records:
        reader.file = record.file
        yield from reader.take(record.line, mapping(record.value))


class _Reader:
    """Tells a chat record by record."""

    def __init__(self) -> None:
        self._keys = Keys()
        self._about: About | None = None
        """What was told of the session; None before it has begun."""
        self._grown = Growths()
        """How much of each message was told."""
        self._window: dict[str, list[str]] = {}
        """The ids of the messages that the model sees, each with the names it was told under."""
        self._names: dict[str, list[str]] = {}
        """The same of every message."""
        self._due: Usage | None = None
        """What an answer cost that grew by nothing else, for the next one to tell."""
        self.file = ""
        """Where the record stands."""

    def take(self, line: int, entry: Mapping[str, object]) -> Iterator[Event]:
        """Tell one record."""
        if "$rewindTo" in entry:
            yield from self._rewind(line, string(entry["$rewindTo"]))
        elif string(entry.get("type")) in _SPEAKERS:
            yield from self._begin(line, About())
            yield from self._message(line, entry)
        elif patch := mapping(entry.get("$patch")):
            yield from self._begin(line, About())
            yield from self._patch(line, patch)
        elif changed := mapping(entry.get("$set")):
            yield from self._head(line, changed)
            yield from self._replace(line, mappings(changed.get("messages")))
        elif "sessionId" in entry:
            yield from self._head(line, entry)
            for message in mappings(entry.get("messages")):
                yield from self.take(line, message)
        elif "history" in entry:
            yield from self._head(line, entry)
            for message in mappings(entry["history"]):
                dated = {"timestamp": message.get("ts"), **message}
                yield from self.take(line, {**dated, "type": message.get("role")})

    def _begin(self, line: int, about: About) -> Iterator[Event]:
        if self._about is None:
            self._about = about
            yield Begun(strand=MAIN, line=line, about=about)

    def _head(self, line: int, fields: Mapping[str, object]) -> Iterator[Event]:
        parent = _parent(self.file) if fields.get("kind") == "subagent" else ""
        about = About(
            parent=parent,
            fork=Fork.DELEGATION if parent else None,
            id=string(fields.get("sessionId")),
            title=string(fields.get("summary")),
            model=string(mapping(fields.get("meta")).get("model")),
            started=moment(fields.get("startTime")) or moment(fields.get("start_time")),
            more={name: fields[name] for name in _MORE if isinstance(fields.get(name), str)},
        )
        if self._about is None:
            yield from self._begin(line, about)
        elif about.title and about.title != self._about.title:
            self._about = replace(self._about, title=about.title)
            yield Noted(strand=MAIN, about=About(title=about.title))

    def _message(self, line: int, entry: Mapping[str, object]) -> Iterator[Event]:
        if self._grown.known(string(entry.get("id"))) is None and is_snapshot(entry):
            yield self._summary(line, entry)
            return
        id, model = string(entry.get("id")), string(entry.get("model"))  # noqa: A001
        growth = self._grown.of(id)
        if id and id not in self._window:
            self._window[id] = self._names.setdefault(id, [])
        names = self._names[id] if id else self._window.setdefault(f"#{line}", [])
        if not growth.is_paid and (cost := usage_of(entry)) is not None:
            growth.is_paid = True
            self._due = cost if self._due is None else self._due + cost
        for message in growth.added(entry):
            is_answer = message.role is Role.ASSISTANT
            key = self._keys.take(id, line)
            names.append(key)
            native = Native(
                id=id,
                reply=(id or key) if is_answer else "",
                model=model if is_answer else "",
                usage=self._due if is_answer else None,
                at=moment(entry.get("timestamp")),
            )
            self._due = None if is_answer else self._due
            yield Told(strand=MAIN, line=line, key=key, message=message, native=native)
        yield from self._modeled(model)

    def _modeled(self, model: str) -> Iterator[Event]:
        """Tell which model speaks, when it is another than before."""
        if self._about is not None and model and model != self._about.model:
            self._about = replace(self._about, model=model)
            yield Noted(strand=MAIN, about=About(model=model))

    def _shown(self) -> tuple[str, ...]:
        return tuple(key for names in self._window.values() for key in names)

    def _rewind(self, line: int, id: str) -> Iterator[Event]:  # noqa: A002
        """Tell that a message and all after it were taken back; all, when there is no such one."""
        yield from self._begin(line, About())
        before, kept = self._shown(), list(self._window)
        for known in kept[kept.index(id) if id in self._window else 0 :]:
            del self._window[known]
        if self._shown() != before:
            yield Rewound(strand=MAIN, line=line, shows=self._shown())

    def _patch(self, line: int, patch: Mapping[str, object]) -> Iterator[Event]:
        """Tell what changed in messages, and which of them the model sees from here on."""
        for entry in (patch, *mappings(patch.get("updates"))):
            if (growth := self._grown.known(string(entry.get("id")))) is not None:
                yield from self._message(line, {"type": growth.speaker, **entry})
        removed = [string(each) for each in sequence(patch.get("removeIds"))]
        order = [string(each) for each in sequence(patch.get("orderIds"))]
        if not removed and not order:
            return  # as most are, and the window may be long
        before = self._shown()
        for name in removed:
            self._window.pop(name, None)
        first = {name: self._window[name] for name in order if name in self._window}
        self._window = {**first, **self._window}
        shows = self._shown()
        if shows == before:
            return
        folded = map(self._grown.known, self._window)
        if any(growth is not None and growth.is_summary for growth in folded):
            yield Folded(strand=MAIN, line=line, id=f"#{line}", shows=shows)
        else:
            yield Rewound(strand=MAIN, line=line, shows=shows)

    def _replace(self, line: int, messages: Sequence[Mapping[str, object]]) -> Iterator[Event]:
        """Tell that the model sees these messages and no others."""
        if not messages:
            return
        before = self._shown()
        self._window = {}
        is_folded = False
        for entry in messages:
            if string(entry.get("id")) not in self._names and is_snapshot(entry):
                is_folded = True
                yield self._summary(line, entry)
            elif string(entry.get("type")) in _SPEAKERS:
                yield from self._message(line, entry)
        shows = self._shown()
        if is_folded:
            yield Folded(strand=MAIN, line=line, id=f"#{line}", shows=shows)
        elif shows != before:
            yield Rewound(strand=MAIN, line=line, shows=shows)

    def _summary(self, line: int, entry: Mapping[str, object]) -> Told:
        id = string(entry.get("id"))  # noqa: A001
        key = self._keys.take(id, line)
        self._window[id or key] = self._names[id or key] = [key]
        growth = self._grown.of(id or key)
        growth.is_summary = True
        said = growth.added(entry)[0]
        native = Native(id=id, at=moment(entry.get("timestamp")))
        message = summarized(said.text, "gemini-cli")
        return Told(strand=MAIN, line=line, key=key, message=message, native=native)


def _parent(file: str) -> str:
    """Return the session that a sub-agent's file stands below, where its folder says so."""
    match file.replace("\\", "/").split("/"):
        case [*_, "chats", folder, _]:
            return folder
        case _:
            return ""


GEMINI_CLI = SessionReader(
    format=Format("gemini-cli", "Gemini CLI chat, JSON or JSONL", "gemini", writable=False),
    recognize=_recognize,
    read=_read,
)
