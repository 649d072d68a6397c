"""Reads SWE-agent trajectories.

`history` is the conversation; the steps of `trajectory` repeat it, each with its whole prompt. A
file is one conversation, or several when a line holds one each. Agents without native tools write
their command into the text and get its output as a user's message: it is told as it was said.
Demonstrations are told as well, marked by `is_demo`, because the model saw them.

Nothing in a file tells one run of a task from another, so a session has no id of its own. What
it cost is known of the whole run only.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from holdfast.formats.chronicle import MAIN, About, Begun, Native, Told
from holdfast.formats.document import Format, Problem
from holdfast.formats.loose import as_json, mapping, mappings, parsed, sequence, string
from holdfast.formats.sessions.figures import count, usage_in
from holdfast.formats.sessions.litellm import thoughts
from holdfast.formats.sessions.reader import SessionReader, Sign, contents
from holdfast.transcript import Message, Role, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.chronicle import Event
    from holdfast.formats.source import Record
    from holdfast.session import Usage

__all__ = ["SWE_AGENT"]

_KEPT = ("agent", "message_type", "is_demo")


def _recognize(records: Sequence[Record]) -> Sign | None:
    for record in records:
        entry = mapping(record.value)
        past = mappings(entry.get("history"))
        if past and "trajectory" in entry and all("role" in each for each in past):
            return Sign("an object with `trajectory` and a `history` of roles")
    return None


def _read(records: Iterable[Record]) -> Iterator[Event]:
    for number, record in enumerate(records):
        yield from _task(record, str(number) if number else MAIN)


def _task(record: Record, strand: str) -> Iterator[Event]:
    entry = mapping(record.value)
    yield Begun(strand=strand, line=record.line, about=_about(entry))
    for place, each in enumerate(sequence(entry.get("history"))):
        fields = mapping(each)
        message = _message(fields)
        if message is None:
            yield Problem(record.line, f"history[{place}] has no known role", record.file)
            continue
        if not message.parts:
            continue
        native = Native(more={key: fields[key] for key in _KEPT if fields.get(key)})
        key = f"{strand}#{place}"
        yield Told(strand=strand, line=record.line, key=key, message=message, native=native)


def _about(entry: Mapping[str, object]) -> About:
    info = mapping(entry.get("info"))
    config = _config(entry)
    problem, model = mapping(config.get("problem_statement")), mapping(config.get("agent"))
    return About(
        title=string(problem.get("id")),
        model=string(mapping(model.get("model")).get("name")),
        version=string(info.get("swe_agent_version")),
        usage=_usage(mapping(info.get("model_stats"))),
        more={
            key: found
            for key, value in (
                ("exit_status", info.get("exit_status")),
                ("environment", entry.get("environment")),
            )
            if (found := string(value))
        },
    )


def _config(entry: Mapping[str, object]) -> Mapping[str, object]:
    """Return how the run was set up, which newer files hold as text."""
    written = entry.get("replay_config")
    return mapping(parsed(written) if isinstance(written, str) else written)


def _usage(stats: Mapping[str, object]) -> Usage | None:
    names = ("tokens_sent", "tokens_received", "", "")
    whole = usage_in(stats, names, stats.get("instance_cost"))
    return None if whole is None else replace(whole, calls=count(stats.get("api_calls")))


def _message(entry: Mapping[str, object]) -> Message | None:
    content = contents(entry.get("content"))
    match entry.get("role"):
        case "system":
            return Message(Role.SYSTEM, content)
        case "user":
            return Message(Role.USER, content)
        case "assistant":
            return Message(Role.ASSISTANT, (*thoughts(entry), *content, *_calls(entry)))
        case "tool":
            ids = [each for each in sequence(entry.get("tool_call_ids")) if isinstance(each, str)]
            results = tuple(ToolResult(each, content) for each in ids)
            return Message(Role.TOOL, results) if results else Message(Role.USER, content)
        case _:
            return None


def _calls(entry: Mapping[str, object]) -> tuple[ToolCall, ...]:
    found: list[ToolCall] = []
    for call in mappings(entry.get("tool_calls")):
        function = mapping(call.get("function"))
        name, arguments = string(function.get("name")), as_json(function.get("arguments"))
        found.append(ToolCall(string(call.get("id")), name, arguments))
    return tuple(found)


SWE_AGENT = SessionReader(
    format=Format("swe-agent", "SWE-agent trajectory, JSON", "openai", writable=False),
    recognize=_recognize,
    read=_read,
)
