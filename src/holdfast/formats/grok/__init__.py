"""Reads the sessions of Grok's command line, each a folder of files.

Files show `chat_history.jsonl`, what the model sees, and beside it `summary.json` with id, title,
folder, branch, model and times. Its messages have no time and no id of their own. The wording of a
thought comes with a sealed form, as Responses has it; tools that ran at the provider have no
result. Going by the program's source and by other readers: `updates.jsonl` holds what was shown on
the screen, `compaction_checkpoints` what each compaction left, and a folder `subagents` in the
session of a parent a `meta.json` for each child, whose files may lie beside that. What a turn cost
has in it what the sub-agents of the turn cost, so theirs is not counted again. A session is held
while it is read, because what is known about it comes last.
"""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.grok.display import (
    ANSWERS,
    CompactionStep,
    RewindStep,
    ScreenLog,
    ScreenMessage,
    is_update,
    item_message,
)
from holdfast.formats.json_access import (
    is_array,
    is_object,
    mapping,
    mappings,
    milliseconds,
    string,
    whole,
)
from holdfast.formats.reader import (
    LIKELY,
    SURE,
    Format,
    KeyAllocator,
    SessionReader,
    Sign,
    everywhere,
    folder_of,
)
from holdfast.formats.source import SourceRecord
from holdfast.formats.window_tracking import WindowTracker
from holdfast.session import Fork
from holdfast.transcript import Media, Message, Role, Thinking, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject

_ITEM_FIELDS = ("prompt_index", "synthetic_reason")
_KEPT = -1
"""The turn of what no way back takes."""


@dataclass(frozen=True, slots=True, kw_only=True)
class SessionFiles:
    """The files of one session."""

    strand: str
    chat: Sequence[SourceRecord]
    """What the model sees, one item a line."""
    display: ScreenLog
    kept: Mapping[str, SourceRecord] = field(default_factory=dict[str, SourceRecord])
    """What compactions left, each by its name."""


def session_events(pages: SessionFiles) -> Iterator[Event]:
    """Yield the events of a session that has begun."""
    desk = _HistoryReader(pages)
    steps = pages.display.steps
    # The places of what was taken back, and the turns of what was not.
    dead: set[int] = set()
    live: dict[int, int] = {}
    for index, each in enumerate(steps):
        if isinstance(each, ScreenMessage):
            live[index] = each.turn
        elif isinstance(each, RewindStep):
            dead |= {place for place, turn in live.items() if turn >= each.turn}
            live = {place: turn for place, turn in live.items() if turn < each.turn}
    last = max((n for n, step in enumerate(steps) if isinstance(step, CompactionStep)), default=-1)
    changed = last >= 0 or any(isinstance(step, RewindStep) for step in steps)
    for place, step in enumerate(steps) if changed or not pages.chat else ():
        is_newest = place == last and bool(pages.chat)
        match step:
            case CompactionStep():
                yield from desk.fold(step, is_newest=is_newest)
            case RewindStep():
                yield from desk.back(step)
            case ScreenMessage() if place < last or place in dead or not pages.chat:
                yield from desk.show(step)
            case ScreenMessage():
                yield from desk.reach(step)
    yield from desk.finish()


class _HistoryReader:
    """Yields the events of a session, and tracks what its model sees."""

    def __init__(self, pages: SessionFiles) -> None:
        self._pages = pages
        self._keys = KeyAllocator()
        self._next = 0
        """The first line of what the model sees that was not told yet."""
        self._reply = ""
        self._window = WindowTracker[int]()
        """What the model sees, each with the turn that it belongs to."""
        self._hints = _Hints(pages.display)

    def show(self, step: ScreenMessage) -> Iterator[Event]:
        """Yield a message that only the screen still has."""
        self._window.add(step.turn, step.key)
        native = SourceMetadata(at=step.at)
        yield MessageEvent(
            strand=self._pages.strand,
            line=step.line,
            key=step.key,
            message=step.message,
            native=native,
        )

    def reach(self, step: ScreenMessage) -> Iterator[Event]:
        """Yield what the model sees up to a prompt and what belongs to it."""
        if step.prompt is not None:
            yield from self._until(step.prompt + 1)

    def back(self, step: RewindStep) -> Iterator[Event]:
        """Take back what was said since a prompt."""
        shows = self._window.keep(lambda turn: turn < step.turn)
        yield RewindEvent(strand=self._pages.strand, line=step.line, shows=shows, at=step.at)

    def fold(self, step: CompactionStep, *, is_newest: bool) -> Iterator[Event]:
        """Yield what a compaction left: the newest left how the other file begins."""
        self._window.show(())
        kept = self._pages.kept.get(step.id, SourceRecord(step.line, {}))
        items = mappings(mapping(kept.value).get("compacted_history"))
        if not is_newest:
            for item in items:
                key = f"{kept.file}~{self._keys.take('', kept.line)}"
                yield from self._item(SourceRecord(kept.line, item, kept.file), key)
        elif items:
            yield from self._lines(min(len(items), len(self._pages.chat)))
        else:
            yield from self._until(step.prompt)
        if shows := self._window.shows:
            yield CompactionEvent(
                strand=self._pages.strand,
                line=step.line,
                id=f"{step.id or step.line}/fold",
                shows=shows,
                at=step.at,
                tokens_before=step.before,
                tokens_after=step.after,
            )

    def finish(self) -> Iterator[Event]:
        """Yield the rest of what the model sees."""
        yield from self._lines(len(self._pages.chat))

    def _until(self, prompt: int) -> Iterator[Event]:
        chat = self._pages.chat
        numbers = (
            (n, whole(mapping(chat[n].value).get("prompt_index")))
            for n in range(self._next, len(chat))
        )
        past = (n for n, number in numbers if number is not None and number >= prompt)
        yield from self._lines(next(past, len(chat)))

    def _lines(self, end: int) -> Iterator[Event]:
        for record in self._pages.chat[self._next : end]:
            key = f"{self._pages.strand}{self._keys.take('', record.line)}"
            yield from self._item(record, key)
        self._next = max(self._next, end)

    def _item(self, record: SourceRecord, key: str) -> Iterator[Event]:
        entry = mapping(record.value)
        # A thought, an answer and what ran at the provider are one until somebody else speaks.
        self._reply = (self._reply or key) if string(entry.get("type")) in ANSWERS else ""
        message = item_message(entry)
        if isinstance(message, str):
            yield Problem(record.line, message, record.file)
        elif message is not None and message.parts:
            # Whatever the model still sees in the end was never taken back.
            self._window.add(_KEPT, key)
            yield MessageEvent(
                strand=self._pages.strand,
                line=record.line,
                key=key,
                message=self._hints.completed(entry, message),
                native=SourceMetadata(
                    id=string(entry.get("id")),
                    reply=self._reply,
                    model=string(entry.get("model_id")),
                    at=self._hints.time_of(entry, message),
                    more={
                        name: entry[name]
                        for name in _ITEM_FIELDS
                        if isinstance(entry.get(name), int | str)
                    },
                ),
            )


def _said(message: Message) -> list[str]:
    """Return names for what an answer says, which the screen may have shown as well."""
    if message.role is not Role.ASSISTANT:
        return []
    thoughts = [part.text for part in message.parts if isinstance(part, Thinking)]
    names = [f"thought {text.strip()}" for text in thoughts]
    return [*names, f"words {message.text.strip()}"] if message.text else names


class _Hints:
    """What the screen knows about messages that the model sees."""

    def __init__(self, display: ScreenLog) -> None:
        self._failed = display.failed
        self._prompts: dict[int, ScreenMessage] = {}
        self._times: dict[str, int | None] = {}
        """By what was said, or by the call that it is about."""
        for step in display.steps:
            if isinstance(step, ScreenMessage):
                if step.prompt is not None:
                    self._prompts[step.prompt] = step
                for call in step.message.calls:
                    self._times[f"call {call.id}"] = step.at
                for result in step.message.results:
                    self._times[f"result {result.call_id}"] = step.at
                for name in _said(step.message):
                    self._times[name] = step.at

    def time_of(self, entry: JsonObject, message: Message) -> int | None:
        """Return when a message was said, where the screen tells."""
        number = whole(entry.get("prompt_index"))
        if number is not None and message.role is Role.USER:
            return self._prompts[number].at if number in self._prompts else None
        names = [f"result {each.call_id}" for each in message.results]
        names += [f"call {each.id}" for each in message.calls]
        names += _said(message)
        return next((self._times[name] for name in names if name in self._times), None)

    def completed(self, entry: JsonObject, message: Message) -> Message:
        """Return a message with what only the screen shows: pictures, and that a tool failed."""
        number = whole(entry.get("prompt_index"))
        shown = None if number is None else self._prompts.get(number)
        if shown is not None and message.role is Role.USER:
            has_pictures = any(isinstance(part, Media) for part in message.parts)
            seen = tuple(part for part in shown.message.parts if isinstance(part, Media))
            return (
                message if has_pictures else structs.replace(message, parts=(*message.parts, *seen))
            )
        if not any(each.call_id in self._failed for each in message.results):
            return message
        parts = tuple(
            structs.replace(part, is_error=True) if isinstance(part, ToolResult) else part
            for part in message.parts
        )
        return structs.replace(message, parts=parts)


_TRANSCRIPT = "chat_history.jsonl"
_SCREEN = "updates.jsonl"
_SUMMARY_FIELDS = ("session_kind", "agent_name", "reasoning_effort")
_CHILD = "subagent"


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from Grok; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if _is_summary(entry):
            return Sign("what Grok knows about a session, beside its chat_history.jsonl")
        if _is_link(entry):
            return Sign("what Grok knows about a sub-agent, beside its parent's session")
        if _is_checkpoint(entry):
            return Sign("what a compaction of Grok left, beside its session")
        if is_update(entry):
            return Sign("what Grok showed on its screen", SURE if "params" in entry else LIKELY)
        match entry.get("type"):
            case "backend_tool_call" if is_object(entry.get("kind")):
                return Sign("a line of type backend_tool_call")
            case "assistant" if "model_fingerprint" in entry or "model_id" in entry:
                return Sign("an answer with a model_id")
            case "user" if "prompt_index" in entry or "synthetic_reason" in entry:
                return Sign("a user's line with its place among the prompts", LIKELY)
            case _:
                continue
    return None


def _is_summary(entry: JsonObject) -> bool:
    return is_object(entry.get("info")) and "chat_format_version" in entry


def _is_link(entry: JsonObject) -> bool:
    return "parent_session_id" in entry and "subagent_type" in entry


def _is_checkpoint(entry: JsonObject) -> bool:
    return "checkpoint_id" in entry and is_array(entry.get("compacted_history"))


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of Grok."""
    parents: dict[str, str] = {}
    held: list[_Folder] = []
    for record in records:
        entry = mapping(record.value)
        if _is_link(entry):
            child = string(entry.get("child_session_id")) or folder_of(record.file)
            parents[child] = string(entry.get("parent_session_id"))
            continue
        # The folder of the session that a file belongs to.
        *folders, _ = record.file.replace("\\", "/").split("/")
        is_kept = folders[-1:] == ["compaction_checkpoints"]
        folder = "/".join(folders[:-1] if is_kept else folders)
        while held and held[-1].name and not f"{folder}/".startswith(f"{held[-1].name}/"):
            yield from held.pop().tell(parents)
        if not held or held[-1].name != folder:
            held.append(_Folder(folder))
        held[-1].take(record)
    while held:
        yield from held.pop().tell(parents)


class _Folder:
    """The files of one session."""

    def __init__(self, name: str) -> None:
        self.name = name
        self._summaries: list[JsonObject] = []
        self._transcripts: dict[str, list[SourceRecord]] = {}
        self._displays: dict[str, ScreenLog] = {}
        self._kept: dict[str, SourceRecord] = {}

    def take(self, record: SourceRecord) -> None:
        """Keep a line, or what it says about the session."""
        entry = mapping(record.value)
        if _is_summary(entry):
            self._summaries.append(entry)
        elif _is_checkpoint(entry):
            self._kept[string(entry.get("checkpoint_id"))] = record
        elif is_update(entry):
            self._displays.setdefault(record.file, ScreenLog()).take(record)
        else:
            self._transcripts.setdefault(record.file, []).append(record)

    def tell(self, parents: Mapping[str, str]) -> Iterator[Event]:
        """Yield the events of the session, or of each file where a folder holds several."""
        files = self._transcripts or self._displays
        is_one = len(files) == 1
        screens = list(self._displays.values()) if is_one else []
        for file in files:
            # The id that the folder of a transcript gives it, where Grok itself put
            # it there.
            is_own = file.replace("\\", "/").endswith((f"/{_TRANSCRIPT}", f"/{_SCREEN}"))
            known = About(id=self.name.rpartition("/")[2] if is_own else "")
            if is_one and len(self._summaries) == 1:
                summary = self._summaries[0]
                own = mapping(summary.get("info"))
                known = About(
                    id=string(own.get("id")),
                    title=string(summary.get("generated_title"))
                    or string(summary.get("session_summary")),
                    model=string(summary.get("current_model_id")),
                    cwd=string(own.get("cwd")),
                    git_branch=string(summary.get("head_branch")),
                    started=milliseconds(summary.get("created_at")),
                    parent=string(summary.get("parent_session_id")),
                    more={
                        key: found for key in _SUMMARY_FIELDS if (found := string(summary.get(key)))
                    },
                )
            pages = SessionFiles(
                strand=file or MAIN,
                chat=self._transcripts.get(file, ()),
                display=screens[0] if len(screens) == 1 else self._displays.get(file, ScreenLog()),
                kept=self._kept,
            )
            about = _related(known, self.name, parents)
            told = list(session_events(pages))
            if told:
                is_child = about.fork is Fork.DELEGATION
                is_child = is_child or string(about.more.get("session_kind")).startswith(_CHILD)
                usage = None if is_child else pages.display.usage
                line = pages.chat[0].line if pages.chat else 1
                started = about.started or pages.display.started
                about = replace(about, usage=usage, started=started)
                yield StrandStarted(strand=pages.strand, line=line, about=about)
                yield from told


def _related(about: About, folder: str, parents: Mapping[str, str]) -> About:
    """Return what is known with the session that it came from: it forked, or works for another."""
    match folder.split("/"):
        case [*_, above, "subagents", _]:
            parent = above
        case _:
            parent = ""
    if delegated := parents.get(about.id, parent):
        return replace(about, parent=delegated, fork=Fork.DELEGATION)
    if not about.parent:
        return about
    is_child = string(about.more.get("session_kind")).startswith(_CHILD)
    return replace(about, fork=Fork.DELEGATION if is_child else Fork.BRANCH)


GROK = SessionReader(
    format=Format("grok", "Grok CLI session, a folder", "responses", writable=False),
    recognize=recognize,
    read=read,
    spread=everywhere,
)
