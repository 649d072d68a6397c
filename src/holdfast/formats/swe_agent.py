"""Reads SWE-agent trajectories.

`history` is the conversation; the steps of `trajectory` repeat it, each with its whole prompt. A
file is one conversation, or several when a line holds one each. Agents without native tools write
their command into the text and get its output as a user's message: it is told as it was said.
Demonstrations are told as well, marked by `is_demo`, because the model saw them.

A run that tries a task several times keeps every attempt, and repeats the best of them beside
the others: each is a conversation of its own. Older releases let an agent call others, whose
messages stand in the midst of its own and were never seen by it: they are sub-agents.

Nothing in a file tells one run of a task from another, so a session has no id of its own. What
it cost is known of the whole run only.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from holdfast.formats.content import contents, thoughts
from holdfast.formats.events import (
    MAIN,
    About,
    MessageEvent,
    Problem,
    SourceMetadata,
    StrandStarted,
)
from holdfast.formats.json_access import (
    as_json,
    count,
    mapping,
    mappings,
    parsed,
    sequence,
    string,
    usage_in,
)
from holdfast.formats.reader import Format, SessionReader, Sign
from holdfast.session import Fork
from holdfast.transcript import NO_EXTRAS, Message, Role, ToolCall, ToolResult

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Sequence

    from holdfast.formats.events import Event
    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord

_KEPT = ("agent", "message_type", "is_demo")


@dataclass(frozen=True, slots=True)
class _Run:
    """One attempt at a task."""

    strand: str
    entry: JsonObject
    config: JsonObject
    """How it was set up."""
    attempt: int = 0
    more: JsonObject = NO_EXTRAS
    """Which attempt it is, where there are several."""


def recognize(records: Sequence[SourceRecord]) -> Sign | None:
    """Say why records are from SWE-agent; None when they are not."""
    for record in records:
        entry = mapping(record.value)
        if _is_run(entry):
            return Sign("an object with `trajectory` and a `history` of roles")
        attempts = mappings(entry.get("attempts"))
        if attempts and all(map(_is_run, attempts)):
            return Sign("an object with `attempts`, each with `trajectory` and `history`")
    return None


def _is_run(entry: JsonObject) -> bool:
    past = mappings(entry.get("history"))
    return bool(past) and "trajectory" in entry and all("role" in each for each in past)


def read(records: Iterable[SourceRecord]) -> Iterator[Event]:
    """Return the events of the records of SWE-agent."""
    for number, record in enumerate(records):
        for run in _runs(mapping(record.value), str(number) if number else MAIN):
            yield StrandStarted(strand=run.strand, line=record.line, about=_about(run))
            crew = _Agents(run.strand)
            for place, each in enumerate(sequence(run.entry.get("history"))):
                fields = mapping(each)
                message = _message(fields)
                if message is None:
                    yield Problem(record.line, f"history[{place}] has no known role", record.file)
                    continue
                if not message.parts:
                    continue
                strand = crew.strand_of(fields, place)
                if strand not in crew.begun:
                    crew.begun.add(strand)
                    about = About(title=string(fields.get("agent")))
                    fork = Fork.DELEGATION
                    yield StrandStarted(
                        strand=strand, line=record.line, about=about, of=run.strand, fork=fork
                    )
                native = SourceMetadata(more={key: fields[key] for key in _KEPT if fields.get(key)})
                key = f"{run.strand}#{place}"
                yield MessageEvent(
                    strand=strand, line=record.line, key=key, message=message, native=native
                )


def _runs(entry: JsonObject, strand: str) -> Iterator[_Run]:
    config = _config(entry)
    attempts = mappings(entry.get("attempts"))
    if not attempts:
        yield _Run(strand, entry, config)
    best = mapping(entry.get("info")).get("best_attempt_idx")
    for number, attempt in enumerate(attempts):
        more: dict[str, object] = {"attempt": number}
        if best == number:
            more["is_best"] = True
        name = f"{strand}@{number}" if number else strand
        yield _Run(name, attempt, _config(attempt) or config, number, more)


class _Agents:
    """Assigns messages to the agents of a run."""

    def __init__(self, main: str) -> None:
        self.begun = {main}
        """The strands that were begun."""
        self._main = main
        self._first = ""
        """The agent that the run is of: the first who speaks."""
        self._latest = ("", main)
        """The agent that spoke last, and its strand."""

    def strand_of(self, entry: JsonObject, place: int) -> str:
        """Return where a message is told; an agent that is called again begins anew."""
        agent = string(entry.get("agent"))
        self._first = self._first or agent
        if not agent or agent == self._first or entry.get("is_demo"):
            self._latest = (agent, self._main)
        elif agent != self._latest[0] or entry.get("role") == "system":
            self._latest = (agent, f"{self._main}/{agent}#{place}")
        return self._latest[1]


def _about(run: _Run) -> About:
    info = mapping(run.entry.get("info"))
    problem = mapping(run.config.get("problem_statement"))
    stats = mapping(info.get("model_stats"))
    names = ("tokens_sent", "tokens_received", "", "")
    whole = usage_in(stats, names, stats.get("instance_cost"))
    usage = None if whole is None else replace(whole, calls=count(stats.get("api_calls")))
    # The model of an attempt; several agents take turns.
    agent = mapping(run.config.get("agent"))
    several = mappings(agent.get("agent_configs"))
    chosen = several[run.attempt % len(several)] if several else agent
    return About(
        title=string(problem.get("id")),
        model=string(mapping(chosen.get("model")).get("name")),
        version=string(info.get("swe_agent_version")),
        usage=usage,
        more={
            key: found
            for key, value in (
                ("exit_status", info.get("exit_status")),
                ("environment", run.entry.get("environment")),
            )
            if (found := string(value))
        }
        | {**run.more},
    )


def _config(entry: JsonObject) -> JsonObject:
    """Return how the run was set up, which newer files hold as text."""
    written = entry.get("replay_config")
    return mapping(parsed(written) if isinstance(written, str) else written)


def _message(entry: JsonObject) -> Message | None:
    content = contents(entry.get("content"))
    match entry.get("role"):
        case "system":
            return Message(Role.SYSTEM, content)
        case "user":
            return Message(Role.USER, content)
        case "assistant":
            found: list[ToolCall] = []
            for call in mappings(entry.get("tool_calls")):
                function = mapping(call.get("function"))
                name, arguments = string(function.get("name")), as_json(function.get("arguments"))
                found.append(ToolCall(string(call.get("id")), name, arguments))
            return Message(Role.ASSISTANT, (*thoughts(entry), *content, *tuple(found)))
        case "tool":
            ids = [each for each in sequence(entry.get("tool_call_ids")) if isinstance(each, str)]
            results = tuple(ToolResult(each, content) for each in ids)
            return Message(Role.TOOL, results) if results else Message(Role.USER, content)
        case _:
            return None


SWE_AGENT = SessionReader(
    format=Format("swe-agent", "SWE-agent trajectory, JSON", "openai", writable=False),
    recognize=recognize,
    read=read,
)
