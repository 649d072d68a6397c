"""What older releases printed for `codex exec --json`: the events that the program sent its screen.

Each stands in an envelope, `{"id": ..., "msg": {"type": ...}}`, behind a line with the settings
and one with the prompt. Deltas repeat what whole events say and are passed over.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from holdfast.formats.codex.exec_steps import (
    PATCH,
    SHELL,
    Answered,
    Asked,
    Planned,
    Said,
    Trouble,
    answer_of_server,
    printed,
    searched,
    spoken_by_model,
    thought_by_model,
    tool_of_server,
)
from holdfast.formats.figures import whole
from holdfast.formats.loose import as_json, mapping, string
from holdfast.transcript import Message, Role, Text

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from holdfast.formats.codex.exec_steps import Step

__all__ = ["EVENTS", "event_steps"]

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


def event_steps(event: Mapping[str, object]) -> Iterator[Step]:
    """Return what an event says of the conversation."""
    kind = string(event.get("type"))
    match kind:
        case "agent_message":
            yield spoken_by_model(event.get("message"))
        case "user_message":
            yield Said(Message(Role.USER, (Text(string(event.get("message"))),)))
        case "plan_update":
            told = {name: event[name] for name in ("explanation", "plan") if event.get(name)}
            yield Planned(as_json(told))
        case "web_search_end":
            yield searched(string(event.get("query")), event.get("action"))
        case _ if kind in _THOUGHTS:
            yield thought_by_model(event.get("text"))
        case _ if kind in _ERRORS:
            yield Trouble(string(event.get("message")))
        case _ if kind.endswith("_begin"):
            yield from _begun(kind, event)
        case _ if kind.endswith("_end"):
            yield from _ended(kind, event)
        case _:
            return


def _begun(kind: str, event: Mapping[str, object]) -> Iterator[Asked]:
    id = string(event.get("call_id"))  # noqa: A001
    match kind:
        case "exec_command_begin":
            told = {"command": event.get("command"), "workdir": event.get("cwd")}
            known = {name: value for name, value in told.items() if value}
            yield Asked(id, SHELL, as_json(known))
        case "patch_apply_begin":
            yield Asked(id, PATCH, as_json({"changes": event.get("changes")}))
        case "mcp_tool_call_begin":
            made = mapping(event.get("invocation")) or event
            name = tool_of_server(made.get("server"), made.get("tool"))
            yield Asked(id, name, as_json(made.get("arguments")))
        case _:
            return


def _ended(kind: str, event: Mapping[str, object]) -> Iterator[Answered]:
    id = string(event.get("call_id"))  # noqa: A001
    match kind:
        case "exec_command_end":
            code = event.get("exit_code")
            asked = Asked(id, SHELL, as_json({"command": event.get("command")}))
            yield Answered(asked, printed(_output(event), code), bool(whole(code)))
        case "patch_apply_end":
            asked = Asked(id, PATCH, as_json({"changes": event.get("changes")}))
            yield Answered(asked, (Text(_output(event)),), event.get("success") is False)
        case "mcp_tool_call_end":
            result = mapping(event.get("result"))
            answer = mapping(result.get("Ok")) or result
            made = mapping(event.get("invocation"))
            name = tool_of_server(made.get("server"), made.get("tool"))
            failed = "Err" in result or answer.get("isError") is True
            said = answer_of_server(answer, result.get("Err"))
            yield Answered(Asked(id, name, as_json(made.get("arguments"))), said, failed)
        case _:
            return


def _output(event: Mapping[str, object]) -> str:
    """Return what a command printed: all of it in order, or else as two streams."""
    if whole_output := string(event.get("aggregated_output")):
        return whole_output
    streams = (string(event.get(name)) for name in ("stdout", "stderr"))
    return "\n".join(text for text in streams if text) or string(event.get("formatted_output"))
