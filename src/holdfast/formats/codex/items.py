"""The items of a Codex rollout, what its first line says of the session, and what its model sees.

Codex has no mark for a failed tool. Its shells report the exit code above their output, the
oldest ones in an envelope around it, and a call that never ran is answered in fixed words. Only
these places count: what a command printed may talk about anybody's exit code.

A rollout names no parents: what a compaction or a rollback leaves follows from what stood in the
window before it. A compaction names no message either. It repeats in full what the model goes on
with, and what it repeats is found again by its words; the oldest ones repeat nothing and keep the
prompts. What we write ourselves names the messages in a note.
"""

from __future__ import annotations

import dataclasses
import re
from collections import Counter
from dataclasses import dataclass
from typing import TYPE_CHECKING, cast

from msgspec.structs import replace

from holdfast.errors import DecodeError
from holdfast.formats.content import summarized, words
from holdfast.formats.events import MAIN, About, CompactionEvent, Problem, RewindEvent
from holdfast.formats.json_access import (
    as_json,
    count,
    is_array,
    is_object,
    mapping,
    mappings,
    milliseconds,
    sequence,
    string,
)
from holdfast.session import Fork, Usage
from holdfast.transcript import Message, Opaque, Role, Text, Thinking, ToolCall, ToolResult
from holdfast.wire.common import Misfit
from holdfast.wire.responses import NAME as _DIALECT
from holdfast.wire.responses import read_item

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

    from holdfast.formats.json_access import JsonObject
    from holdfast.formats.source import SourceRecord


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
    return dataclasses.replace(about, **cast("dict[str, str]", fields)) if fields else about  # type: ignore[arg-type]


def spent_in(counts: JsonObject, note: JsonObject) -> Usage:
    """Return what one answer cost: what was sent counts what came from the cache as well."""
    noted = note.get("usage")
    if is_array(noted) and len(noted) == 2:
        exact, cost = mapping(noted[0]), noted[1]
        price = float(cost) if isinstance(cost, int | float) else 0.0
        return dataclasses.replace(_usage(exact), calls=count(exact.get("calls")), cost=price)
    return _usage(counts)


def _usage(counts: JsonObject) -> Usage:
    read = count(counts.get("cached_input_tokens"))
    wrote = count(counts.get("cache_write_input_tokens"))
    sent = max(0, count(counts.get("input_tokens")) - read - wrote)
    return Usage(1, sent, count(counts.get("output_tokens")), read, wrote)


_PROMPT = "prompt"
_CONTEXT = "context"
_ANSWER = "answer"
_SILENT = (Thinking, ToolCall)


class RolloutWindow:
    """The names of the messages that the model sees, in order."""

    def __init__(self) -> None:
        """Show nothing yet."""
        self._kinds: dict[str, str] = {}
        self._shown: list[str] = []
        self.instructions: tuple[str, ...] = ()
        """The name of the prompt that stands beside every request, whatever is compacted."""

    @property
    def keys(self) -> tuple[str, ...]:
        """Return what is shown."""
        return tuple(self._shown)

    def add(self, key: str, message: Message) -> None:
        """Show one more message."""
        if is_prompt(message):
            kind = _PROMPT
        elif message.role in (Role.SYSTEM, Role.USER) and message.summary is None:
            kind = _CONTEXT
        else:
            kind = _ANSWER
        self._kinds[key] = kind
        self._shown.append(key)

    def show(self, keys: Iterable[str]) -> tuple[str, ...]:
        """Show these messages and no others, and return those of them that were ever told."""
        self._shown = [key for key in dict.fromkeys(keys) if key in self._kinds]
        return tuple(self._shown)

    def without_answers(self) -> tuple[str, ...]:
        """Return what a compaction of the oldest kind leaves: instructions and prompts."""
        return tuple(key for key in self._shown if self._kinds[key] != _ANSWER)

    def prompts_after(self, place: int) -> int:
        """Return how many prompts are shown from a place on."""
        return sum(self._kinds[key] == _PROMPT for key in self._shown[place:])

    def without_turns(self, count: int) -> tuple[str, ...]:
        """Return what is left when the user takes the newest turns back.

        What stands before the first prompt stays. What was injected for a turn goes with it.
        """
        prompts = [at for at, key in enumerate(self._shown) if self._kinds[key] == _PROMPT]
        if count <= 0 or not prompts:
            return self.keys
        cut = prompts[-count] if count <= len(prompts) else prompts[0]
        while cut > prompts[0] and self._kinds[self._shown[cut - 1]] == _CONTEXT:
            cut -= 1
        return tuple(self._shown[:cut])


@dataclass(frozen=True, slots=True)
class _Reply:
    """An answer of the model while it goes on."""

    id: str
    has_words: bool
    has_calls: bool


class AnswerTracker:
    """Tells which messages are one answer: thoughts, words, and calls made together.

    An answer holds words once, because each spoken item has fields of its own.
    """

    def __init__(self) -> None:
        """Wait for the first answer."""
        self._open: _Reply | None = None
        self._count = 0

    def joins(self, message: Message) -> str:
        """Return the answer that a message of the model goes on with; "" for a new one."""
        return self._joined(speaks=_speaks(message.parts))

    def _joined(self, *, speaks: bool) -> str:
        reply = self._open
        if reply is None or (speaks and (reply.has_words or reply.has_calls)):
            return ""
        return reply.id

    def take(self, message: Message, noted: object = None) -> str:
        """Return the answer that a message belongs to, and go on from there.

        Args:
            message: what was told.
            noted: the answer that the file says it belongs to; empty for one of its own.
        """
        if message.role is not Role.ASSISTANT:
            self.close()
            return ""
        speaks = _speaks(message.parts)
        joined = self._joined(speaks=speaks)
        if isinstance(noted, str) and noted != joined:
            self._open = None
            joined = noted
        before = self._open if joined else None
        self._count += not joined
        reply = joined or f"answer-{self._count}"
        self._open = _Reply(
            reply,
            has_words=speaks or (before is not None and before.has_words),
            has_calls=bool(message.calls) or (before is not None and before.has_calls),
        )
        return reply

    def close(self) -> None:
        """End the answer: what comes next begins another."""
        self._open = None


def _speaks(parts: Sequence[object]) -> bool:
    for part in parts:  # noqa: SIM110
        if not isinstance(part, _SILENT):
            return True
    return False


@dataclass(frozen=True, slots=True)
class NewMessage:
    """A message that first stands in a compaction."""

    message: Message
    id: str = ""


@dataclass(frozen=True, slots=True)
class CompactionLine:
    """A line that changes what the model sees."""

    record: SourceRecord
    note: JsonObject

    @staticmethod
    def of(record: SourceRecord) -> CompactionLine:
        """Return the compaction of a line."""
        note = mapping(mapping(record.value).get("holdfast"))
        return CompactionLine(record, mapping(note.get("fold")))

    def event(self, shows: tuple[str, ...]) -> CompactionEvent | RewindEvent:
        """Return the event, from what the model sees after it."""
        entry, note, line = mapping(self.record.value), self.note, self.record.line
        at = milliseconds(entry.get("timestamp"))
        if note.get("rewound") is True:
            return RewindEvent(strand=MAIN, line=line, shows=shows, at=at)
        window = string(mapping(entry.get("payload")).get("window_id"))
        return CompactionEvent(
            strand=MAIN,
            line=line,
            id=string(note.get("id")) or window or f"#{line}",
            shows=shows,
            at=at,
            trigger=string(note.get("trigger")),
            tokens_before=count(note.get("before")) or None,
            tokens_after=count(note.get("after")) or None,
        )


def replacement(
    payload: JsonObject,
    fold: CompactionLine,
    heard: Mapping[int, Sequence[str]],
    window: RolloutWindow,
) -> Iterator[str | NewMessage | Problem]:
    """Return what the model sees after a compaction, in its order.

    Args:
        payload: what Codex wrote.
        fold: the line it stood on.
        heard: the names of messages, by what they say.
        window: what the model saw before.
    """
    items = payload.get("replacement_history")
    said = string(payload.get("message"))
    if "shows" in fold.note:
        listed = mappings(items)
        place = fold.note.get("summary")
        summary = listed[place : place + 1] if isinstance(place, int) and place >= 0 else ()
        for key in sequence(fold.note.get("shows")):
            if isinstance(key, str):
                yield key
            else:
                yield from _read(summary, "", fold)
    elif is_array(items):
        yield from window.instructions
        # The names of messages that were told before; of equal ones, the newest.
        given = _read(mappings(items), said, fold)
        words = [
            hash(each.message.text.strip())
            if isinstance(each, NewMessage)
            and each.message.role in (Role.USER, Role.SYSTEM)
            and each.message.summary is None
            else 0
            for each in given
        ]
        counts = Counter(words)
        known = {each: iter(heard.get(each, ())[-count:]) for each, count in counts.items() if each}
        for each, wording in zip(given, words, strict=True):
            yield next(known.get(wording, iter(())), each)
    elif said.strip():
        yield from window.without_answers()
        yield NewMessage(summarized(said, "codex"))


def _read(
    items: Sequence[JsonObject], said: str, fold: CompactionLine
) -> Sequence[NewMessage | Problem]:
    """Return the messages of a compaction, one of them its summary where it has one in words."""
    found: list[NewMessage | Problem] = []
    for item in items:
        try:
            message = message_of(item)
        except DecodeError as error:
            reason = f"replacement_history: {error.path}: {error.problem}"
            found.append(Problem(fold.record.line, reason, fold.record.file))
            continue
        if message is not None and message.parts:
            found.append(NewMessage(message, string(item.get("id"))))
    given = [each for each in found if isinstance(each, NewMessage)]
    if said.strip() and all(each.message.summary is None for each in given):
        # The last message with the words of the summary is the summary.
        summary = NewMessage(summarized(said, "codex"))
        for place in range(len(found) - 1, -1, -1):
            each = found[place]
            if not isinstance(each, NewMessage) or each.message.role is not Role.USER:
                continue
            if each.message.text.strip().endswith(said.strip()):
                found[place] = dataclasses.replace(each, message=summary.message)
                break
        else:
            found.append(summary)
    return found
