"""Reads what OpenHands wrote before its SDK: actions and observations, as outputs or in a folder.

An output holds the events of one task a line. Newer files name the call that an event belongs to;
older ones name the action that caused an observation; the oldest pair them by order alone. Each
line is a conversation of its own. An observation that answers no action is told as a user's
message, as the model gets it; an error has the words behind it that say what it is. Not told are
changes of the agent's state, requests for a condensation, and recalls: what the model saw of those
was put together by the agent and is not in the file as such. Answers say how many tokens they took,
in newer files. Everything else is known of the task only.

A conversation may also be a folder with one file an event. Beside `events`, where a file is named
after the number of its event, `event_cache` holds the same events again in lists of many, and
`metadata.json` says what is known of the conversation. What the program saves as a trajectory is
one such list alone. Numbers decide the order, since names of files do not sort by them.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import groupby
from typing import TYPE_CHECKING

from msgspec import structs

from holdfast.formats.content import answer_in, contents, summarized, thoughts, tokens_in
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    count,
    dollars,
    is_array,
    kind_of,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
)
from holdfast.formats.reader import LIKELY, Format, KeyAllocator, SessionReader, Sign, everywhere
from holdfast.formats.window_tracking import WindowTracker
from holdfast.session import Usage
from holdfast.transcript import Media, Message, Part, Role, Text, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Container, Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord


def total_of(metrics: JsonObject) -> Usage:
    """Return what metrics add up to; calls count as far as they are listed."""
    each = mappings(metrics.get("token_usages"))
    added = mapping(metrics.get("accumulated_token_usage"))
    several = [added] if added else each
    whole = sum((tokens_in(fields) or Usage() for fields in several), Usage())
    calls = max(len(each), len(sequence(metrics.get("costs"))))
    return replace(whole, calls=calls, cost=dollars(metrics.get("accumulated_cost")))


def printed(content: object, about: JsonObject) -> tuple[Text | Media, ...]:
    """Return what a command printed as the model gets it: how it ended stands beside it in files.

    Args:
        content: The output.
        about: What is known of it: the exit code, or `metadata` with what stands around it.
    """
    metadata = mapping(about.get("metadata"))
    suffix = string(metadata.get("suffix"))
    code = metadata.get("exit_code", about.get("exit_code"))
    if not suffix and isinstance(code, int) and code > 0:
        suffix = f"\n[Command finished with exit code {code}]"
    match contents(content):
        case (Text(text),):
            return (Text(f"{string(metadata.get('prefix'))}{text}{suffix}"),)
        case parts:
            return (*parts, Text(suffix.strip())) if suffix else parts


_FAILED = "\n[Error occurred in processing last action]"
"""What the program puts behind an error for the model where no call is known that it answers."""
_STATE = frozenset(["change_agent_state", "agent_state_changed", "null"])
"""Events that are not part of what an agent condenses."""
_QUIET = frozenset(["recall", "condensation_request", *_STATE])
_ABOUT = frozenset(
    ["id", "timestamp", "source", "message", "action", "thought", "cause", "llm_metrics"]
)


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from OpenHands; None when they are not."""
    for record in records:
        past = _events(mapping(record.value))
        is_known = all("action" in each or "observation" in each for each in past)
        if is_known and any(is_telling(each) for each in past):
            return Sign("an object with a `history` of actions and observations")
    return None


def is_telling(event: JsonObject) -> bool:
    """Say whether an event is one of OpenHands: others keep a history of actions too."""
    if "observation" in event:
        return isinstance(event["observation"], str) and "content" in event
    is_placed = "source" in event or "tool_call_metadata" in event
    return is_placed and isinstance(event.get("args"), dict)


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of OpenHands."""
    keys = KeyAllocator()
    for number, record in enumerate(records):
        strand = str(number) if number else MAIN
        entry = mapping(record.value)
        past = _events(entry)
        metadata, issue = mapping(entry.get("metadata")), mapping(entry.get("issue"))
        first = mapping(past[0] if past else None)
        task, run = string(entry.get("instance_id")), string(metadata.get("start_time"))
        about = About(
            # A task is worked on in many runs, so its name alone is no identity.
            id=f"{task}@{run}" if task and run else "",
            title=task or string(issue.get("title")),
            model=string(mapping(metadata.get("llm_config")).get("model")),
            version=string(mapping(first.get("args")).get("openhands_version")),
            started=milliseconds(first.get("timestamp")),
            usage=undivided(total_of(mapping(entry.get("metrics"))), past),
            more={"agent": agent} if (agent := string(metadata.get("agent_class"))) else {},
        )
        yield StrandStarted(strand=strand, line=record.line, about=about)
        desk = TaskReader(strand, record.line, keys)
        for event in past:
            yield from desk.take(event)


def _events(entry: JsonObject) -> list[JsonObject]:
    """Return the events of a task; the oldest files hold pairs of an action and its result."""
    found: list[JsonObject] = []
    for each in sequence(entry.get("history")):
        found.extend(mappings(each) if is_array(each) else [mapping(each)])
    return [event for event in found if event]


def undivided(whole: Usage, past: Sequence[JsonObject]) -> Usage | None:
    """Return what a task cost, without what its answers say themselves."""
    if any(_response(event).get("usage") for event in past):
        whole = Usage(cost=whole.cost)
    return None if whole == Usage() else whole


class TaskReader:
    """Yields the events of one task."""

    def __init__(self, strand: str, line: int, keys: KeyAllocator) -> None:
        """Begin with no event."""
        self._place = (strand, line)
        self._keys = keys
        self._replies: set[str] = set()
        """The answers that a part was told of."""
        self._calls = _Calls()
        self._view = WindowTracker[object]()
        self._number = 0
        self._summary = ""

    def take(self, event: JsonObject) -> Iterator[Event]:
        """Yield the events of one event."""
        self._number += 1
        name = string(event.get("observation")) or string(event.get("action"))
        if "observation" in event and name not in _QUIET:
            about, is_users = mapping(event.get("extras")) or event, event.get("source") == "user"
            call_id = self._calls.answered_by(event)
            if name == "error" and not call_id and not is_users:
                # The model is told so, and that it is no word of the user.
                about = {"metadata": {"suffix": _FAILED}}
            content = printed(event.get("content"), about)
            if not call_id:
                observed = Message(Role.USER, content)
            else:
                failed = event.get("observation") == "error"
                observed = Message(Role.TOOL, (ToolResult(call_id, content, is_error=failed),))
            yield from self._tell(event, observed, SourceMetadata(at=_time(event)))
        elif name == "condensation":
            # What an agent forgot; of several summaries it sees the newest only.
            arguments = _arguments(event)
            # Those that it names are forgotten, or those between two.
            start, end = (arguments.get(f"forgotten_events_{name}_id") for name in ("start", "end"))
            if isinstance(start, int) and isinstance(end, int):
                gone: Container[int] = range(start, end + 1)
            else:
                ids = sequence(arguments.get("forgotten_event_ids"))
                gone = frozenset(each for each in ids if isinstance(each, int))
            self._view.keep(lambda event: not (isinstance(event, int) and event in gone))
            at, text = _time(event), string(arguments.get("summary"))
            if text:
                self._view.keep(lambda event: event != self._summary)
                summary = self._message(event, summarized(text, "openhands"), SourceMetadata(at=at))
                yield summary
                self._summary = summary.key
                self._view.put(arguments.get("summary_offset"), self._summary, summary.key)
            key = self._summary if text else self._keys.take("", self._place[1])
            strand, line = self._place
            yield CompactionEvent(
                strand=strand, line=line, id=f"{key}/fold", shows=self._view.shows, at=at
            )
        elif name not in _QUIET:
            yield from self._act(event)
        elif name not in _STATE:
            self._view.add(self._id(event))

    def _act(self, event: JsonObject) -> Iterator[MessageEvent]:
        arguments = _arguments(event)
        content = contents(arguments.get("content"))
        source = event.get("source")
        is_users = source == "user" or (source is None and not self._view.shows)
        match event.get("action"):
            case "system":
                return self._tell(
                    event, Message(Role.SYSTEM, content), SourceMetadata(at=_time(event))
                )
            case "message" if is_users:
                return self._tell(
                    event, Message(Role.USER, content), SourceMetadata(at=_time(event))
                )
            case "message":
                parts: Sequence[Part] = content
            case _:
                parts = tuple(self._called(event, arguments))
        response = _response(event)
        reply, usage = string(response.get("id")), mapping(response.get("usage"))
        native = SourceMetadata(
            reply=reply,
            model=string(response.get("model")),
            usage=None if reply in self._replies else tokens_in(usage),
            at=_time(event),
        )
        if reply:
            self._replies.add(reply)
        return self._tell(event, Message(Role.ASSISTANT, tuple(parts)), native)

    def _called(self, event: JsonObject, arguments: JsonObject) -> Iterator[Part]:
        """Return a call, after what the model thought and said before its first."""
        response = _response(event)
        answer = answer_in(response)
        if string(response.get("id")) not in self._replies:
            yield from thoughts(answer)
            told = string(answer.get("content")) or (
                string(event.get("thought")) or string(mapping(event.get("args")).get("thought"))
            )
            yield from (Text(told),) if told else ()
        about = mapping(event.get("tool_call_metadata"))
        call_id = string(about.get("tool_call_id")) or f"event-{event.get('id', self._number)}"
        name = string(about.get("function_name")) or string(event.get("action"))
        self._calls.open(event.get("id"), call_id)
        made = [each for each in mappings(answer.get("tool_calls")) if each.get("id") == call_id]
        function = mapping(made[0].get("function") if made else None)
        written = string(function.get("arguments"))
        yield ToolCall(call_id, name, written or as_json(dict(arguments)))

    def _tell(
        self, event: JsonObject, message: Message, native: SourceMetadata
    ) -> Iterator[MessageEvent]:
        if not message.parts:
            self._view.add(self._id(event))
            return
        told = self._message(event, message, native)
        self._view.add(self._id(event), told.key)
        yield told

    def _message(self, event: JsonObject, message: Message, native: SourceMetadata) -> MessageEvent:
        strand, line = self._place
        key = self._keys.take(f"{strand}#{self._id(event)}", line)
        own = event.get("id")
        native = structs.replace(native, id=str(own) if isinstance(own, int) else "")
        return MessageEvent(strand=strand, line=line, key=key, message=message, native=native)

    def _id(self, event: JsonObject) -> object:
        found = event.get("id")
        return found if isinstance(found, int) else f"event {self._number}"


class _Calls:
    """Tracks open calls, to find the one that an observation answers."""

    def __init__(self) -> None:
        self._of: dict[int, str] = {}
        self._open: dict[str, None] = {}
        """The calls without an answer, in order."""

    def open(self, event: object, call_id: str) -> None:
        """Remember a call, and the event that made it."""
        if isinstance(event, int):
            self._of[event] = call_id
        self._open[call_id] = None

    def answered_by(self, event: JsonObject) -> str:
        """Return the call that an observation answers; empty if it answers none."""
        about, cause = mapping(event.get("tool_call_metadata")), event.get("cause")
        call_id = string(about.get("tool_call_id"))
        if not call_id and isinstance(cause, int):
            call_id = self._of.get(cause, "")
        if not call_id and "cause" not in event and self._open:
            call_id = next(reversed(self._open))
        self._open.pop(call_id, None)
        return call_id


def _arguments(event: JsonObject) -> JsonObject:
    """Return what an action was called with; the oldest files keep it beside the action's name."""
    nested = event.get("args")
    given = mapping(nested) if nested is not None else event
    return {key: value for key, value in given.items() if key not in _ABOUT}


def _response(event: JsonObject) -> JsonObject:
    return mapping(mapping(event.get("tool_call_metadata")).get("model_response"))


def _time(event: JsonObject) -> int | None:
    return milliseconds(event.get("timestamp"))


OPENHANDS = SessionReader(
    format=Format("openhands", "OpenHands task output, JSONL", "openai", writable=False),
    recognize=recognize,
    read=read,
)


_FOLDERS = frozenset(["events", "event_cache"])


def recognize_folder(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from OpenHands; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if isinstance(entry.get("id"), int) and "timestamp" in entry and is_telling(entry):
            return Sign("an event with a number, an action or an observation")
        if _is_metadata(entry):
            return Sign("what is known of an OpenHands conversation", LIKELY)
    return None


def _is_metadata(entry: JsonObject) -> bool:
    return {"conversation_id", "selected_repository", "title"} <= entry.keys()


def read_folder(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of OpenHands."""
    keys = KeyAllocator()
    for place, group in groupby(records, lambda record: _conversation(record.file)):
        yield from _tell(place, group, keys)


def _conversation(file: str) -> str:
    """Return the folder of a conversation, or the file that holds all of it."""
    folder, _, name = file.replace("\\", "/").rpartition("/")
    above, _, last = folder.rpartition("/")
    if last in _FOLDERS:
        return above
    return folder if name == "metadata.json" else file


def _tell(place: str, records: Iterable[SourceRecord], keys: KeyAllocator) -> Iterator[Event]:
    """Yield the events of one conversation, once all of it is there."""
    metadata: JsonObject = {}
    events: dict[int, JsonObject] = {}
    first = 0
    file = ""
    for record in records:
        first, file = first or record.line, file or record.file
        entry = mapping(record.value)
        number = entry.get("id")
        if _is_metadata(entry):
            metadata = entry
        elif isinstance(number, int) and ("action" in entry or "observation" in entry):
            events.setdefault(number, entry)
        else:
            reason = f"expected an event with its number, found {kind_of(record.value)}"
            yield Problem(record.line, reason, record.file)
    if events:
        past = [events[number] for number in sorted(events)]
        strand = place or MAIN
        name = "" if place == file else place.rpartition("/")[2]
        arguments = (mapping(event.get("args")) for event in past)
        versions = (string(each.get("openhands_version")) for each in arguments)
        repository = string(metadata.get("selected_repository"))
        total = Usage(
            input_tokens=count(metadata.get("prompt_tokens")),
            output_tokens=count(metadata.get("completion_tokens")),
            cost=dollars(metadata.get("accumulated_cost")),
        )
        about = About(
            id=string(metadata.get("conversation_id")) or name,
            title=string(metadata.get("title")),
            model=string(metadata.get("llm_model")),
            git_branch=string(metadata.get("selected_branch")),
            version=next(filter(None, versions), ""),
            started=milliseconds(past[0].get("timestamp")),
            usage=undivided(total, past),
            more={"repository": repository} if repository else {},
        )
        yield StrandStarted(strand=strand, line=first, about=about)
        desk = TaskReader(strand, first, keys)
        for event in past:
            yield from desk.take(event)


OPENHANDS_FOLDER = SessionReader(
    format=Format(
        "openhands-folder", "OpenHands conversation, one file an event", "openai", writable=False
    ),
    recognize=recognize_folder,
    read=read_folder,
    spread=everywhere,
)
