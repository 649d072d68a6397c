"""What a mini-swe-agent trajectory tells besides its messages: OpenAI's, or items of Responses.

The file stays a provider's document, so that it can be written back into its own container. Here
its answers get what the agent kept of them under `extra`: their id, model, time, cost and
reasoning. The rest of `extra` repeats the message and stays behind. Without native tools a command
stands in a fence of the answer and its output in the next user message: both are told as said.
"""

from __future__ import annotations

import dataclasses
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.formats.content import answer_in, summarized, thoughts, tokens_in
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    Problem,
    RewindEvent,
    SourceMetadata,
    StrandStarted,
    native_of,
    with_native,
)
from holdfast.formats.json_access import JsonObject, count, mapping, milliseconds, string, usage_in
from holdfast.formats.reader import Format, SessionReader, Sign
from holdfast.formats.window_tracking import WindowTracker
from holdfast.transcript import NO_EXTRAS, Message, Part, Role, Text, Thinking, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.source import SourceRecord

_DIALECT = "openai"


def answers_known(messages: Iterable[Message]) -> list[Message]:
    """Return the messages of a trajectory with what the agent kept of each answer."""
    return [_known(message) for message in messages]


def about_run(rest: JsonObject, messages: Iterable[Message]) -> About:
    """Return what is known of a run.

    A task is worked on in many runs, so a run is known by its task and its first answer.

    The messages are as `answers_known` returns them.
    """
    info = mapping(rest.get("info"))
    task = string(rest.get("instance_id"))
    natives = [native_of(message) for message in messages]
    first = next((native.reply for native in natives if native.reply), "")
    configured = mapping(mapping(info.get("config")).get("model")).get("model_name")
    more = {
        "trajectory_format": rest.get("trajectory_format"),
        "exit_status": info.get("exit_status"),
    }
    # What a whole run cost, for answers that do not say it themselves.
    stats = mapping(info.get("model_stats"))
    usage = usage_in({}, (), stats.get("instance_cost"))
    if usage is not None:
        is_told = any(each.usage for each in natives)
        usage = None if is_told else dataclasses.replace(usage, calls=count(stats.get("api_calls")))
    return About(
        id=f"{task}/{first}" if first else "",
        title=task,
        model=string(configured) or next((each.model for each in natives if each.model), ""),
        version=string(info.get("mini_version")),
        started=next((each.at for each in natives if each.at is not None), None),
        usage=usage,
        more={key: found for key, value in more.items() if (found := string(value))},
    )


def _known(message: Message) -> Message:
    if message.role is Role.TOOL and (found := _resulted(message)) is not None:
        return found
    fields = mapping(message.extras.get(_DIALECT))
    extra = mapping(fields.get("extra"))
    if not extra:
        return message
    own = {key: value for key, value in fields.items() if key != "extra"}
    rest = {key: value for key, value in message.extras.items() if key != _DIALECT}
    extras = {**rest, _DIALECT: own} if own else rest
    bare = replace(message, extras=extras or NO_EXTRAS)
    if message.role is Role.TOOL:
        failed = extra.get("returncode") not in (None, 0)
        bare = replace(bare, parts=tuple(_answered(part, failed=failed) for part in bare.parts))
    response = mapping(extra.get("response"))
    at = milliseconds(extra.get("timestamp")) or milliseconds(response.get("created"))
    if message.role is not Role.ASSISTANT:
        return with_native(bare, SourceMetadata(at=at))
    usage = mapping(response.get("usage"))
    native = SourceMetadata(
        reply=string(response.get("id")),
        model=string(response.get("model")),
        usage=tokens_in(usage, extra.get("cost") or usage.get("cost")),
        at=at,
    )
    # What the model thought, unless the message says it already.
    reasoning: tuple[Thinking, ...]
    if any(isinstance(part, Thinking) for part in bare.parts):
        reasoning = ()
    else:
        reasoning = tuple(thoughts(answer_in(response)))
    return with_native(replace(bare, parts=(*reasoning, *bare.parts)), native)


def _resulted(message: Message) -> Message | None:
    """Return an item with a result, where the agent wrote how it ended; None for all others."""
    match message.parts:
        case (ToolResult() as result,):
            fields = mapping(result.extras.get("responses"))
        case _:
            return None
    if not (extra := mapping(fields.get("extra"))):
        return None
    rest = {key: value for key, value in fields.items() if key != "extra"}
    bare = replace(result, extras={"responses": rest} if rest else NO_EXTRAS)
    part = _answered(bare, failed=extra.get("returncode") not in (None, 0))
    return with_native(
        replace(message, parts=(part,)),
        SourceMetadata(at=milliseconds(extra.get("timestamp"))),
    )


def _answered(part: Part, *, failed: bool) -> Part:
    is_result = isinstance(part, ToolResult)
    return replace(part, is_error=True) if is_result and failed else part


_FIELDS = frozenset(["input", "output", "message_count", "step_count", "model_name"])
_HEADING = re.compile(r"^\[Message (\d+)\] (system|user|assistant):$", re.MULTILINE)
_MARK = "[Previous work summary]"
_FIRST, _LAST = 2, 4
"""How many messages a compression leaves at either end."""


@dataclass(frozen=True, slots=True)
class _Line:
    """One message of a window."""

    role: Role
    text: str


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from mini-swe-agent; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if entry.keys() >= _FIELDS and string(entry.get("input")).startswith("[Message 0] "):
            return Sign("a compression with the window before it and the summary after it")
    return None


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of mini-swe-agent."""
    desk = _LogReader()
    for record in records:
        yield from desk.take(mapping(record.value), record)


class _LogReader:
    """Yields the events of a log, and tracks the window that each compression left."""

    def __init__(self) -> None:
        self._window = WindowTracker[_Line]()
        self._is_begun = False
        self._count = 0

    def take(self, entry: JsonObject, record: SourceRecord) -> Iterator[Event]:
        """Yield the events of one compression."""
        at = milliseconds(entry.get("timestamp"))
        if not self._is_begun:
            self._is_begun = True
            more = {"summarizer": string(entry.get("model_name"))}
            about = About(title=string(entry.get("instance_name")), more=more)
            yield StrandStarted(strand=MAIN, line=record.line, about=about)
        lines = list(_lines(string(entry.get("input"))))
        if not lines:
            yield Problem(record.line, "a compression without messages", record.file)
            return
        # How many messages of a window stand at the beginning of the next.
        window = self._window.entries
        pairs = zip(window, lines, strict=False)
        differing = (place for place, ((old, _), line) in enumerate(pairs) if old != line)
        known = next(differing, min(len(window), len(lines)))
        if known < len(window):
            shows = self._window.show(window[:known])
            yield RewindEvent(strand=MAIN, line=record.line, shows=shows, at=at)
        place, native = record.line, SourceMetadata(at=at)
        for line in lines[known:]:
            key = f"#{place}.{self._count}"
            self._count += 1
            self._window.add(line, key)
            said = Message(line.role, (Text(line.text),))
            yield MessageEvent(strand=MAIN, line=place, key=key, message=said, native=native)
        text = string(entry.get("output")).strip()
        key = f"#{place}.{self._count}"
        self._count += 1
        message = summarized(text, "mini-swe-agent")
        yield MessageEvent(strand=MAIN, line=place, key=key, message=message, native=native)
        first, rest = self._window.entries[:_FIRST], self._window.entries[_FIRST:]
        summary = (_Line(Role.USER, f"{_MARK}\n{text}"), key)
        shows = self._window.show([*first, summary, *rest[-_LAST:]])
        yield CompactionEvent(
            strand=MAIN, line=place, id=f"{key}/fold", shows=shows, at=at, trigger="auto"
        )


def _lines(text: str) -> Iterator[_Line]:
    """Return the messages of a window; headings count up, and others are words of a message."""
    headings: list[re.Match[str]] = []
    for found in _HEADING.finditer(text):
        if found.group(1) == str(len(headings)):
            headings.append(found)
    ends = (*(found.start() for found in headings[1:]), len(text))
    for found, end in zip(headings, ends, strict=False):
        yield _Line(Role(found.group(2)), text[found.end() : end].strip())


MINI_SWE_AGENT_LOG = SessionReader(
    format=Format(
        "mini-swe-agent-log", "mini-swe-agent compression log, JSONL", "openai", writable=False
    ),
    recognize=recognize,
    read=read,
)
