"""The items of a Codex rollout, and what its first line says of the session.

Codex has no mark for a failed tool. Its shells report the exit code above their output, the
oldest ones in an envelope around it, and a call that never ran is answered in fixed words. Only
these places count: what a command printed may talk about anybody's exit code.
"""

from __future__ import annotations

import re
from dataclasses import replace
from typing import TYPE_CHECKING, cast

from holdfast.errors import DecodeError
from holdfast.formats.content import words
from holdfast.formats.events import About
from holdfast.formats.json_access import (
    as_json,
    count,
    is_array,
    is_object,
    mapping,
    milliseconds,
    string,
)
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Opaque, Role, Text, ToolResult
from holdfast.wire.common import Misfit
from holdfast.wire.responses import NAME as _DIALECT
from holdfast.wire.responses import read_item

if TYPE_CHECKING:
    from holdfast.formats.json_access import JsonObject

CONVERSATION = frozenset(
    [
        "agent_message",
        "compaction",
        "compaction_summary",
        "context_compaction",
        "custom_tool_call",
        "custom_tool_call_output",
        "function_call",
        "function_call_output",
        "image_generation_call",
        "local_shell_call",
        "message",
        "reasoning",
        "tool_search_call",
        "tool_search_output",
        "web_search_call",
    ]
)
"""The items that the model sees; others are notes of the program to itself."""
_INJECTED = (
    "# agents.md instructions",
    "<environment_context>",
    "<permissions",
    "<skill>",
    "<subagent_notification>",
    "<turn_aborted>",
    "<user_instructions>",
    "<user_shell_command>",
)
"""How messages begin that Codex writes in the user's name."""
_LONGEST = max(map(len, _INJECTED))
_HEADS = ("Command: ", "Chunk ID: ", "Wall time: ", "Process exited ", "Exit code: ")
_BODY = "\nOutput:\n"
_EXIT = re.compile(r"^(?:Process exited with code|Exit code:) (-?\d{1,10})$", re.MULTILINE)
_ENVELOPE = re.compile(r"\"metadata\":\s*\{\"exit_code\":\s*(-?\d{1,10})[^{}]*\}\s*\}\s*$")
_ENVELOPE_END = 200
_WRITTEN = {"function_call": "arguments", "custom_tool_call": "input"}
"""Where a call says what it asks for, which is text."""
_REFUSALS = (
    "apply_patch verification failed",
    "exec_command failed",
    "execution error",
    "failed to parse function arguments",
    "unsupported call",
)


def message_of(item: JsonObject, *, failed: object = None) -> Message | None:
    """Return what an item says; None for one that is no part of the conversation.

    Args:
        item: one item of the Responses API.
        failed: whether its result is an error, where the file says more than Codex does.

    Raises:
        DecodeError: when the item is misshapen.
    """
    kind = string(item.get("type"))
    if kind not in CONVERSATION:
        return None
    raw = item if is_object(item) else dict(item)
    written = _WRITTEN.get(kind, "")
    if written and not isinstance(raw.get(written), str):
        raw = {**raw, written: as_json(raw.get(written))}
    if is_object(output := raw.get("output")) and isinstance(output.get("content"), str):
        # The oldest releases answered the model with an object.
        failed = output.get("success") is False if failed is None else failed
        raw = {**raw, "output": output["content"]}
    try:
        message = read_item(raw)
    except Misfit as misfit:
        raise DecodeError(_DIALECT, f"input[0]{misfit.path}", misfit.problem) from None
    match message.parts:
        case (ToolResult() as result,):
            is_error = failed if isinstance(failed, bool) else is_failure(result.text)
            if is_error == result.is_error:
                return message
            return replace(message, parts=(replace(result, is_error=is_error),))
        case (Opaque(readable="") as opaque,):
            said = words(item.get("content"))
            return replace(message, parts=(replace(opaque, readable=said),)) if said else message
        case _:
            return message


def is_failure(output: str) -> bool:
    """Say whether the answer of a tool tells that the call failed."""
    if output.startswith("{"):
        found = _ENVELOPE.findall(output[-_ENVELOPE_END:])
    elif output.startswith(_HEADS):
        found = _EXIT.findall(output.partition(_BODY)[0])
    else:
        return output.startswith(_REFUSALS)
    # A command of several lines stands above what Codex says about it.
    return bool(found) and int(found[-1]) != 0


def is_prompt(message: Message) -> bool:
    """Say whether the user wrote a message, rather than Codex in the user's name."""
    if message.role is not Role.USER or message.summary is not None:
        return False
    return not any(
        text.lstrip()[:_LONGEST].lower().startswith(_INJECTED) for text in texts_of(message)
    )


def spoken(message: Message) -> frozenset[int]:
    """Return what tells the words of a message from all others, as a whole and each by itself."""
    texts = texts_of(message)
    return frozenset(hash(text.strip()) for text in (message.text, "".join(texts), *texts))


def texts_of(message: Message) -> list[str]:
    """Return the texts of a message; the screen shows those of a user as one, without a break."""
    return [part.text for part in message.parts if isinstance(part, Text)]


def agent_item(communication: JsonObject) -> JsonObject:
    """Return the item that the model sees of what another agent wrote to this one."""
    said = mapping(communication)
    content = [{"type": "input_text", "text": string(said.get("content"))}]
    return {"type": "agent_message", **dict(said), "content": content}


NOTED = ("id", "cwd", "git_branch", "version", "parent")
"""The texts that a note may say where Codex has no room for them."""
_MORE = (
    "agent_nickname",
    "agent_role",
    "git",
    "model_provider",
    "originator",
    "source",
    "thread_source",
)


def about_of(meta: JsonObject, note: JsonObject, written: object) -> About:
    """Return what the first line of a rollout tells.

    Args:
        meta: its payload.
        note: what we wrote beside it.
        written: the time of the line, for a payload without one.
    """
    subagent = mapping(mapping(meta.get("source")).get("subagent"))
    spawned = mapping(subagent.get("thread_spawn")).get("parent_thread_id")
    caller = string(meta.get("parent_thread_id")) or string(spawned)
    shared = mapping(meta.get("history_base")).get("thread_id")
    parent = caller or string(meta.get("forked_from_id")) or string(shared)
    branched = Fork.BRANCH if parent else None
    git = mapping(meta.get("git"))
    about = About(
        id=string(meta.get("id")) or string(meta.get("session_id")),
        cwd=string(meta.get("cwd")),
        git_branch=string(git.get("branch")),
        version=string(meta.get("cli_version")),
        started=milliseconds(meta.get("timestamp")) or milliseconds(written),
        parent=parent,
        fork=Fork.DELEGATION if caller else branched,
        more={name: meta[name] for name in _MORE if meta.get(name)},
    )
    added = mapping(note.get("about"))
    fields: dict[str, object] = {
        name: value for name in NOTED if isinstance(value := added.get(name), str)
    }
    if (fork := string(added.get("fork"))) in set(Fork):
        fields["fork"] = Fork(fork)
    return replace(about, **cast("dict[str, str]", fields)) if fields else about  # type: ignore[arg-type]


def spent_in(counts: JsonObject, note: JsonObject) -> Usage:
    """Return what one answer cost: what was sent counts what came from the cache as well."""
    noted = note.get("usage")
    if is_array(noted) and len(noted) == 2:
        exact, cost = mapping(noted[0]), noted[1]
        price = float(cost) if isinstance(cost, int | float) else 0.0
        return replace(_usage(exact), calls=count(exact.get("calls")), cost=price)
    return _usage(counts)


def _usage(counts: JsonObject) -> Usage:
    read = count(counts.get("cached_input_tokens"))
    wrote = count(counts.get("cache_write_input_tokens"))
    sent = max(0, count(counts.get("input_tokens")) - read - wrote)
    return Usage(1, sent, count(counts.get("output_tokens")), read, wrote)
