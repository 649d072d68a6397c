"""Tells a transcript as the events of a session file, so that an agent's writer can write it."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import (
    MAIN,
    About,
    Begun,
    Folded,
    Native,
    Told,
    native_of,
    with_native,
    without_native,
)
from holdfast.formats.loose import mapping, string
from holdfast.formats.moments import moment
from holdfast.formats.sessions.decoding import decoded
from holdfast.formats.sessions.litellm import answer_in, tokens_in
from holdfast.formats.sessions.mini_swe_agent import about_run, answers_known
from holdfast.transcript import Message, Role, Text, Thinking, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.document import Document
    from holdfast.transcript import Part

__all__ = ["tell_document", "tell_window"]

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


def tell_window(
    messages: Iterable[Message], about: About, *, strand: str = MAIN
) -> Iterator[Event]:
    """Return the events that lead to a window.

    A summary in it is told as a compaction that left what stands before the summary.
    """
    yield Begun(strand=strand, line=1, about=about)
    shown: list[str] = []
    keys: set[str] = set()
    for place, message in enumerate(messages, 1):
        native = native_of(message)
        name = f"{strand}/{native.id}" if strand else native.id
        key = name if native.id and name not in keys else f"{strand}#{place}"
        keys.add(key)
        shown.append(key)
        bare = without_native(message)
        yield Told(strand=strand, line=place, key=key, message=bare, native=native)
        if message.summary is not None:
            at, fold = native.at, f"{key}/fold"
            yield Folded(strand=strand, line=place, id=fold, shows=tuple(shown), at=at)


def tell_document(document: Document, *, strand: str = MAIN) -> Iterator[Event]:
    """Return the events of a provider's document.

    What stands beside the messages says when, where and by which model they were said. A system
    prompt that Hermes keeps there is told first, and an answer that a log of requests keeps there
    is told last. Lists and long texts such as the definitions of tools stay behind.
    """
    rest = mapping(None if document.envelope is None else document.envelope.rest)
    if document.format == "mini-swe-agent":
        known = answers_known(document.transcript)
        yield from tell_window(known, about_run(rest, known), strand=strand)
        return
    messages = [_dated(message, document.dialect) for message in document.transcript]
    prompt = string(rest.get("system_prompt"))
    if prompt and not (messages and messages[0].role is Role.SYSTEM):
        messages.insert(0, Message(Role.SYSTEM, (Text(prompt),)))
    messages.extend(_answer(messages, rest))
    yield from tell_window(messages, document.about or _about(rest), strand=strand)
    yield from document.problems


def _answer(messages: Sequence[Message], rest: Mapping[str, object]) -> tuple[Message, ...]:
    """Return the answer to a request that was logged with it, if it is not among the messages."""
    response = mapping(rest.get("response"))
    found = decoded("openai", answer_in(response))
    is_known = bool(messages) and messages[-1].role is Role.ASSISTANT
    if is_known or isinstance(found, str):
        return ()
    native = Native(
        reply=string(response.get("id")),
        model=string(response.get("model")),
        usage=tokens_in(mapping(response.get("usage")), rest.get("cost")),
        at=moment(response.get("created")),
    )
    return tuple(with_native(message, native) for message in found)


def _about(rest: Mapping[str, object]) -> About:
    settings = mapping(rest.get("model_config"))
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
        more={key: value for key, value in rest.items() if key not in _TOLD and _is_small(value)},
    )


def _is_small(value: object) -> bool:
    if isinstance(value, str):
        return 0 < len(value) <= _LONGEST
    return isinstance(value, bool | int | float)


def _dated(message: Message, dialect: str) -> Message:
    """Return a message with what its own fields say of its id, its time and its result."""
    native = native_of(message)
    fields = mapping(message.extras.get(dialect))
    if message.role is Role.TOOL:
        message = replace(message, parts=tuple(_answered(part, fields) for part in message.parts))
    elif message.role is Role.ASSISTANT:
        message = replace(message, parts=tuple(_without_echo(message.parts)))
    times = (moment(fields.get(key)) for key in _TIMES)
    at = native.at or next((found for found in times if found is not None), None)
    name = native.id or string(fields.get("id"))
    return with_native(message, replace(native, id=name, at=at))


def _without_echo(parts: Iterable[Part]) -> Iterator[Part]:
    """Return parts without a thought that stands under two names, as agents store it."""
    thoughts: set[str] = set()
    for part in parts:
        if isinstance(part, Thinking) and part.signature is None:
            if part.text in thoughts:
                continue
            thoughts.add(part.text)
        yield part


def _answered(part: Part, fields: Mapping[str, object]) -> Part:
    """Return a result with the name and the failure that Hermes writes beside it."""
    if not isinstance(part, ToolResult):
        return part
    is_error = part.is_error or fields.get("finish_reason") == "error"
    return replace(part, name=part.name or string(fields.get("tool_name")), is_error=is_error)
