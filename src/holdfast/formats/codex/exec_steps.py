"""The items and events that `codex exec --json` prints, each as a step of the agent.

A tool is named as Codex's models call it. An item begins, may change and is completed under one
id; what it asks for is whole at the beginning, except in changes of files and in searches.

Older releases print the events that the program sends its screen, each in an envelope, `{"id":
..., "msg": {"type": ...}}`, behind a line with the settings and one with the prompt. Deltas repeat
what whole events say and are passed over.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, TypeAlias

from holdfast.formats.codex.items import message_of
from holdfast.formats.content import contents
from holdfast.formats.json_access import JsonObject, as_json, mapping, mappings, string, whole
from holdfast.transcript import Media, Message, Role, Text, Thinking

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

SHELL = "shell"
PATCH = "apply_patch"
_FAILED = frozenset(["failed", "declined", "errored"])
_WORDS = frozenset(["agent_message", "assistant_message", "plan"])
"""Items that hold the model's words; the second is what the first was called at the beginning."""
_CALLS = frozenset(["command_execution", "mcp_tool_call", "collab_tool_call"])
_LATE = frozenset(["file_change", "web_search"])
_AGENTS = ("prompt", "receiver_thread_ids", "sender_thread_id")


@dataclass(frozen=True, slots=True)
class MessageStep:
    """A whole message."""

    message: Message


@dataclass(frozen=True, slots=True)
class ToolStarted:
    """A tool was called."""

    id: str
    name: str
    arguments: str


@dataclass(frozen=True, slots=True)
class ToolFinished:
    """A tool is done; the call stands here too, for one whose beginning was not printed."""

    asked: ToolStarted
    content: tuple[Text | Media, ...]
    failed: bool


@dataclass(frozen=True, slots=True)
class PendingItem:
    """An item that has started and whose content comes with its end."""

    id: str
    kind: str


@dataclass(frozen=True, slots=True)
class PlanUpdated:
    """The plan, which is printed again whenever a step of it is done."""

    arguments: str


@dataclass(frozen=True, slots=True)
class ScreenError:
    """An error that the screen showed."""

    reason: str


ExecStep: TypeAlias = (
    MessageStep | ToolStarted | ToolFinished | PendingItem | PlanUpdated | ScreenError
)


def item_steps(phase: str, item: JsonObject) -> Iterator[ExecStep]:
    """Return what an event about an item says.

    Args:
        phase: `started`, `updated` or `completed`.
        item: The item; its type stood under another name in the first releases.
    """
    kind = string(item.get("type")) or string(item.get("item_type"))
    if kind == "todo_list":
        steps = [
            {
                "step": string(each.get("text")),
                "status": "completed" if each.get("completed") is True else "pending",
            }
            for each in mappings(item.get("items"))
        ]
        yield PlanUpdated(as_json({"plan": steps}))
    elif phase == "completed":
        if kind in _WORDS:
            step = spoken_by_model(item.get("text"))
        elif kind == "reasoning":
            step = thought_by_model(item.get("text"))
        elif kind == "web_search":
            step = searched(string(item.get("query")), item.get("action"))
        elif kind == "error":
            step = ScreenError(string(item.get("message")))
        elif kind in _CALLS or kind == "file_change":
            asked = _asked(kind, item)
            failed = string(item.get("status")) in _FAILED or bool(whole(item.get("exit_code")))
            step = ToolFinished(asked, tuple(_result(kind, item)), failed)
        else:
            step = ScreenError(f"an item of type {kind!r} is not known")
        yield step
    elif kind in _LATE:
        yield PendingItem(string(item.get("id")), kind)
    elif kind in _CALLS:
        yield _asked(kind, item)


def _result(kind: str, item: JsonObject) -> Sequence[Text | Media]:
    if kind == "command_execution":
        return printed(string(item.get("aggregated_output")), item.get("exit_code"))
    if kind == "collab_tool_call":
        # Whom a call made is known when it is done; their states mostly name them.
        return (Text(as_json(item.get("agents_states") or item.get("receiver_thread_ids"))),)
    if kind == "mcp_tool_call":
        return answer_of_server(item.get("result"), mapping(item.get("error")).get("message"))
    return (Text(string(item.get("status"))),)


def printed(output: str, code: object) -> tuple[Text, ...]:
    """Return what a command printed; above that of one that failed, as Codex does, its code."""
    number = whole(code)
    return (Text(f"Exit code: {number}\nOutput:\n{output}" if number else output),)


def searched(query: str, action: object) -> MessageStep:
    """Return a search of the web, which has no result of its own, as rollouts hold it."""
    told = mapping(action)
    if string(told.get("type")) in ("", "other"):
        told = {"type": "search", "query": query}
    found = message_of({"type": "web_search_call", "status": "completed", "action": dict(told)})
    return MessageStep(found or Message(Role.ASSISTANT))


def spoken_by_model(text: object) -> MessageStep:
    """Return words of the model."""
    found = string(text)
    return MessageStep(Message(Role.ASSISTANT, (Text(found),) if found else ()))


def thought_by_model(text: object) -> MessageStep:
    """Return what the model thought, as far as it is shown."""
    found = string(text)
    return MessageStep(Message(Role.ASSISTANT, (Thinking(found),) if found else ()))


def tool_of_server(server: object, tool: object) -> str:
    """Return how Codex's models call a tool of a server."""
    return f"mcp__{string(server)}__{string(tool)}" if string(server) else string(tool)


def _asked(kind: str, item: JsonObject) -> ToolStarted:
    id = string(item.get("id"))  # noqa: A001
    if kind == "command_execution":
        return ToolStarted(id, SHELL, as_json({"command": item.get("command")}))
    if kind == "mcp_tool_call":
        name = tool_of_server(item.get("server"), item.get("tool"))
        return ToolStarted(id, name, as_json(item.get("arguments")))
    if kind == "collab_tool_call":
        told = {name: item[name] for name in _AGENTS if item.get(name)}
        return ToolStarted(id, string(item.get("tool")), as_json(told))
    return ToolStarted(id, PATCH, as_json({"changes": item.get("changes")}))


def answer_of_server(result: object, failure: object) -> tuple[Text | Media, ...]:
    """Return what a tool of a server answered: its content, or why there is none."""
    told = mapping(result)
    found = contents(told.get("content"))
    if not found and (structured := told.get("structured_content")) is not None:
        found = (Text(as_json(structured)),)
    return found or contents(string(failure))


EVENTS = frozenset(
    [
        "agent_message",
        "agent_reasoning",
        "exec_command_begin",
        "session_configured",
        "task_started",
        "token_count",
    ]
)
"""The events that give such a stream away."""
_ERRORS = frozenset(["error", "stream_error"])
_THOUGHTS = frozenset(["agent_reasoning", "agent_reasoning_raw_content"])


def event_steps(event: JsonObject) -> Iterator[ExecStep]:
    """Return what an event says of the conversation."""
    kind = string(event.get("type"))
    match kind:
        case "agent_message":
            yield spoken_by_model(event.get("message"))
        case "user_message":
            yield MessageStep(Message(Role.USER, (Text(string(event.get("message"))),)))
        case "plan_update":
            told = {name: event[name] for name in ("explanation", "plan") if event.get(name)}
            yield PlanUpdated(as_json(told))
        case "web_search_end":
            yield searched(string(event.get("query")), event.get("action"))
        case _ if kind in _THOUGHTS:
            yield thought_by_model(event.get("text"))
        case _ if kind in _ERRORS:
            yield ScreenError(string(event.get("message")))
        case _ if kind.endswith("_begin"):
            id = string(event.get("call_id"))  # noqa: A001
            match kind:
                case "exec_command_begin":
                    told = {"command": event.get("command"), "workdir": event.get("cwd")}
                    known = {name: value for name, value in told.items() if value}
                    yield ToolStarted(id, SHELL, as_json(known))
                case "patch_apply_begin":
                    yield ToolStarted(id, PATCH, as_json({"changes": event.get("changes")}))
                case "mcp_tool_call_begin":
                    made = mapping(event.get("invocation")) or event
                    name = tool_of_server(made.get("server"), made.get("tool"))
                    yield ToolStarted(id, name, as_json(made.get("arguments")))
                case _:
                    return
        case _ if kind.endswith("_end"):
            yield from _ended(kind, event)
        case _:
            return


def _ended(kind: str, event: JsonObject) -> Iterator[ToolFinished]:
    id = string(event.get("call_id"))  # noqa: A001
    match kind:
        case "exec_command_end":
            code = event.get("exit_code")
            asked = ToolStarted(id, SHELL, as_json({"command": event.get("command")}))
            yield ToolFinished(asked, printed(_output(event), code), bool(whole(code)))
        case "patch_apply_end":
            asked = ToolStarted(id, PATCH, as_json({"changes": event.get("changes")}))
            yield ToolFinished(asked, (Text(_output(event)),), event.get("success") is False)
        case "mcp_tool_call_end":
            result = mapping(event.get("result"))
            answer = mapping(result.get("Ok")) or result
            made = mapping(event.get("invocation"))
            name = tool_of_server(made.get("server"), made.get("tool"))
            failed = "Err" in result or answer.get("isError") is True
            said = answer_of_server(answer, result.get("Err"))
            yield ToolFinished(ToolStarted(id, name, as_json(made.get("arguments"))), said, failed)
        case _:
            return


def _output(event: JsonObject) -> str:
    """Return what a command printed: all of it in order, or else as two streams."""
    if whole_output := string(event.get("aggregated_output")):
        return whole_output
    streams = (string(event.get(name)) for name in ("stdout", "stderr"))
    return "\n".join(text for text in streams if text) or string(event.get("formatted_output"))
