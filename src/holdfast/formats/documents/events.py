"""Tells a transcript as the events of a session file, so that an agent's writer can write it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.content import answer_in, decoded, tokens_in
from holdfast.formats.events import (
    MAIN,
    About,
    CompactionEvent,
    MessageEvent,
    SourceMetadata,
    StrandStarted,
    native_of,
    without_native,
)
from holdfast.formats.hermes.database import exported, is_failure, settings_of
from holdfast.formats.json_access import JsonObject, mapping, moment, string
from holdfast.formats.mini_swe_agent import about_run, answers_known
from holdfast.transcript import Message, Role, Text, Thinking, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.document import Document
    from holdfast.formats.events import Event
    from holdfast.transcript import Part

__all__ = ["document_events", "window_events"]

_IDS = ("session_id", "conversation_id")
_TIMES = ("session_start", "created_at", "created", "started_at", "timestamp")
_UNIQUE = 12
"""How long an id is, at least, that no other file has by chance."""
_TOLD = frozenset(
    {*_IDS, *_TIMES, "title", "model", "cwd", "git_branch", "system_prompt", "system"}
    | {"last_updated", "message_count"}
)
_LONGEST = 200
"""The longest text beside the messages that is kept with the session."""
_NOTHING = SourceMetadata()


def window_events(
    messages: Iterable[Message], about: About, *, strand: str = MAIN
) -> Iterator[Event]:
    """Return the events that lead to a window.

    A summary in it is told as a compaction that left what stands before the summary.
    """
    return _tell((_apart(message) for message in messages), about, strand)


def document_events(
    document: Document, *, strand: str = MAIN, line: int | None = None
) -> Iterator[Event]:
    """Return the events of a provider's document.

    What stands beside the messages says when, where and by which model they were said. A system
    prompt that Hermes keeps there is told first, and an answer that a log of requests keeps there
    is told last. Lists and long texts such as the definitions of tools stay behind.

    Args:
        document: What was read.
        strand: The strand that it becomes.
        line: Where in its file it stands; None when its messages are lines of their own.
    """
    rest = mapping(None if document.envelope is None else document.envelope.rest)
    if document.format == "mini-swe-agent":
        known = answers_known(document.transcript)
        yield from _tell(map(_apart, known), about_run(rest, known), strand, line)
        return
    said = [_dated(message, document.dialect) for message in document.transcript]
    prompt = string(rest.get("system_prompt"))
    if prompt and not (said and said[0][0].role is Role.SYSTEM):
        said.insert(0, (Message(Role.SYSTEM, (Text(prompt),)), _NOTHING))
    if not (said and said[-1][0].role is Role.ASSISTANT):
        said.extend(_answer(rest))
    about = document.about or exported(_about(rest), rest, document.transcript)
    yield from _tell(said, about, strand, line)
    yield from document.problems


def _tell(
    said: Iterable[tuple[Message, SourceMetadata]],
    about: About,
    strand: str,
    line: int | None = None,
) -> Iterator[Event]:
    """Return the events of messages, each with what its agent wrote about it."""
    yield StrandStarted(strand=strand, line=line or 1, about=about)
    shown: list[str] = []
    keys: set[str] = set()
    for place, (message, native) in enumerate(said, 1):
        at = line or place
        key = f"{strand}#{place}"
        if native.id:
            name = f"{strand}/{native.id}" if strand else native.id
            key = key if name in keys else name
        keys.add(key)
        shown.append(key)
        yield MessageEvent(strand=strand, line=at, key=key, message=message, native=native)
        if message.summary is not None:
            fold, seen = f"{key}/fold", tuple(shown)
            yield CompactionEvent(strand=strand, line=at, id=fold, shows=seen, at=native.at)


def _apart(message: Message) -> tuple[Message, SourceMetadata]:
    """Return a message, and what its agent wrote about it."""
    return (without_native(message), native_of(message)) if message.extras else (message, _NOTHING)


def _answer(rest: JsonObject) -> Sequence[tuple[Message, SourceMetadata]]:
    """Return the answer to a request that was logged with it."""
    response = mapping(rest.get("response"))
    answer = answer_in(response)
    found = decoded("openai", answer) if answer else ()
    if not found or isinstance(found, str):
        return ()
    native = SourceMetadata(
        reply=string(response.get("id")),
        model=string(response.get("model")),
        usage=tokens_in(mapping(response.get("usage")), rest.get("cost")),
        at=moment(response.get("created")),
    )
    return [(message, native) for message in found]


def _about(rest: JsonObject) -> About:
    settings = settings_of(rest)
    own_id = string(rest.get("id"))
    # A short one counts the samples of a collection and says nothing elsewhere.
    fallback = own_id if len(own_id) >= _UNIQUE else ""
    times = (moment(rest.get(key)) for key in _TIMES)
    return About(
        id=next((found for key in _IDS if (found := string(rest.get(key)))), fallback),
        title=string(rest.get("title")),
        model=string(rest.get("model")),
        cwd=string(rest.get("cwd")) or string(settings.get("cwd")),
        git_branch=string(rest.get("git_branch")),
        started=next((found for found in times if found is not None), None),
        more={
            key: value
            for key, value in rest.items()
            if key not in _TOLD
            and (isinstance(value, bool | int | float) or 0 < len(string(value)) <= _LONGEST)
        },
    )


def _dated(message: Message, dialect: str) -> tuple[Message, SourceMetadata]:
    """Return a message, and what its own fields say of its id, its time and its result."""
    bare, native = _apart(message)
    fields = mapping(message.extras.get(dialect))
    if message.role is Role.TOOL:
        parts = tuple(_answered(part, fields) for part in bare.parts)
    elif message.role is Role.ASSISTANT and len(bare.parts) > 1:
        # Parts without a thought that stands under two names, as agents store it.
        without_echo: list[Part] = []
        thoughts: set[str] = set()
        for part in bare.parts:
            if isinstance(part, Thinking) and part.signature is None:
                if part.text in thoughts:
                    continue
                thoughts.add(part.text)
            without_echo.append(part)
        parts = tuple(without_echo)
    else:
        parts = bare.parts
    if parts != bare.parts:
        bare = replace(bare, parts=parts)
    if not fields:
        return bare, native
    times = (moment(fields.get(key)) for key in _TIMES if key in fields)
    at = native.at or next((found for found in times if found is not None), None)
    return bare, replace(native, id=native.id or string(fields.get("id")), at=at)


def _answered(part: Part, fields: JsonObject) -> Part:
    """Return a result with its name, which Hermes writes beside it, and whether it failed."""
    if not isinstance(part, ToolResult):
        return part
    known = string(fields.get("tool_name"))
    name = part.name or known
    is_error = part.is_error or fields.get("finish_reason") == "error"
    if known and not is_error:
        is_error = is_failure(known, part.text, fields)
    if name == part.name and is_error == part.is_error:
        return part
    return replace(part, name=name, is_error=is_error)
