"""ShareGPT conversations, as training sets and Hermes trajectories write them.

Almost everything here is text. What can be read out of it with certainty becomes thinking, calls
and results; what cannot stays text. A turn that would come out differently keeps the original
beside the parts, and it is written back as long as the parts say the same. A conversation whose
turns are lists of parts is written as one again.

What this dialect cannot say: media (a placeholder), whether a result is an error, call ids of
calls, and reasoning of another provider.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from msgspec.structs import replace

from holdfast.errors import DecodeError
from holdfast.transcript import (
    NO_EXTRAS,
    Media,
    Message,
    Role,
    Text,
    ToolCall,
    ToolResult,
    Violation,
)
from holdfast.wire.common import (
    Body,
    Misfit,
    Wire,
    known_string,
    leftover,
    own,
    placeholder,
    record,
    records,
    string,
)
from holdfast.wire.markers import OPENINGS, read
from holdfast.wire.message_text import SIGNS, as_string, compose, marked_texts, portable
from holdfast.wire.sharegpt.text import (
    NAME,
    ROLE_NAMES,
    ROLES,
    has_parts,
    is_words,
    parse_answers,
    parse_call,
    parse_reply,
    parse_thought,
    parts_in,
    render_answers,
    render_call,
    render_parts,
    render_reply,
    results_in,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from holdfast.transcript import Extras, Part, Transcript

__all__ = ["NAME", "ROLES", "decode", "encode", "validate"]

_USUAL = {Role.SYSTEM: "system", Role.USER: "human", Role.ASSISTANT: "gpt", Role.TOOL: "tool"}
_KNOWN = frozenset({"from", "value"})
_KNOWN_PARTS = frozenset({"role", "content"})
_TURN = f"{NAME}:turn"


def decode(body: Body) -> Transcript:
    """Read the turns of a conversation, and the system prompt that may stand beside them."""
    reader = _Reader()
    messages: list[Message] = []
    if isinstance(body.system, str):
        prompt = Message(Role.SYSTEM, (Text(body.system),), extras={_TURN: {"beside": True}})
        messages.append(prompt)
    elif body.system is not None:
        raise DecodeError(NAME, "system", "expected text")
    turns = body.messages
    for index, turn in enumerate(turns):
        following = turns[index + 1] if index + 1 < len(turns) else None
        try:
            messages.append(reader.read(record(turn), following))
        except Misfit as misfit:
            path = f"conversations[{index}]{misfit.path}"
            raise DecodeError(NAME, path, misfit.problem) from None
    return tuple(messages)


class _Reader:
    """Reads turns in order, and knows which calls still wait for their results."""

    def __init__(self) -> None:
        self._count = 0
        self._waiting: list[ToolCall] = []

    def read(self, raw: Wire, following: Wire | None) -> Message:
        """Return the message of one turn; calls count only where results follow."""
        if has_parts(raw):
            return self._in_parts(raw, following)
        speaker, value = string(raw, "from"), string(raw, "value")
        role = ROLES.get(speaker)
        if role is None:
            raise Misfit(".from", f"unknown role {speaker!r}")
        extras = leftover(raw, _KNOWN, NAME) if len(raw) > 2 else NO_EXTRAS
        if speaker != _USUAL[role]:
            extras = {**extras, _TURN: {"from": speaker}}
        if _is_plain(role, speaker, value):
            # Most turns are such, and nothing of them has to be compared with its original.
            self._waiting = []
            return Message(role, (Text(value),), extras=extras)
        if role is Role.TOOL:
            results = parse_answers(value)
            if results is None and len(self._waiting) >= 1:
                results = [ToolResult("", (Text(value),), extras={NAME: {"bare": True}})]
            message = self._paired(results, value, extras)
        else:
            message = self._spoken(role, speaker, value, following)
            if extras:
                message = replace(message, extras={**message.extras, **extras})
            self._waiting = list(message.calls)
        rendered = _value(message)
        if rendered == value:
            return message
        noted = {**own(message.extras, _TURN), "value": value, "rendering": rendered}
        return replace(message, extras={**message.extras, _TURN: noted})

    def _in_parts(self, raw: Wire, following: Wire | None) -> Message:
        """Return the message of a turn that is a list of parts."""
        speaker = string(raw, "role")
        role = ROLES.get(speaker)
        if role is None:
            raise Misfit(".role", f"unknown role {speaker!r}")
        parts = parts_in(raw)
        extras = leftover(raw, _KNOWN_PARTS, NAME)
        noted: Wire = {"parts": True, "from": speaker}
        if role is Role.TOOL:
            words = "\n".join(part.text for part in parts if isinstance(part, Text))
            answers = results_in(words, len(self._waiting)) if self._waiting else None
            message = self._paired(answers, words, {**extras, _TURN: noted})
        else:
            is_answered = _is_answered(following)
            named = tuple(
                self._named(part)
                if is_answered
                else (Text(render_call(part)) if isinstance(part, ToolCall) else part)
                for part in parts
            )
            message = compose(role, named, "", {**extras, _TURN: noted})
            self._waiting = list(message.calls)
        rendered = render_parts(_sayable(message))
        if rendered == raw["content"]:
            return message
        noted = {**own(message.extras, _TURN), "value": raw["content"], "rendering": rendered}
        return replace(message, extras={**message.extras, _TURN: noted})

    def _spoken(self, role: Role, speaker: str, value: str, following: Wire | None) -> Message:
        plain = compose(role, (Text(value),))
        if role is not Role.ASSISTANT:
            return plain
        if speaker == "function_call":
            parts = parse_call(value)
        elif value.startswith(OPENINGS):
            parts = _after_summary(value)
        elif (thought := parse_thought(value))[1].startswith(OPENINGS):
            parts = [*thought[0], *(_after_summary(thought[1]) or (Text(thought[1]),))]
        else:
            parts = parse_reply(value)
        if parts is None:
            return plain
        named = tuple(self._named(part) for part in parts)
        message = Message(role, named, synthetic=plain.synthetic, extras=plain.extras)
        return message if not message.calls or _is_answered(following) else plain

    def _named(self, part: Part) -> Part:
        if not isinstance(part, ToolCall):
            return part
        self._count += 1
        return ToolCall(f"{NAME}_{self._count}_{part.name}", part.name, part.arguments, part.extras)

    def _paired(self, results: list[ToolResult] | None, value: str, extras: Extras) -> Message:
        if results is None or len(results) > len(self._waiting):
            # An answer to nothing that was read as a call: its words are kept as words.
            noted = {"from": "tool", **own(extras, _TURN)}
            return compose(Role.USER, (Text(value),), "", {**extras, _TURN: noted})
        calls, self._waiting = self._waiting[: len(results)], self._waiting[len(results) :]
        paired = tuple(
            ToolResult(call.id, found.content, name=found.name or call.name, extras=found.extras)
            for found, call in zip(results, calls, strict=True)
        )
        return Message(Role.TOOL, paired, extras=extras)


def _is_plain(role: Role, speaker: str, value: str) -> bool:
    """Say whether the words of a turn are one text that is written as it was read."""
    if role is Role.TOOL or value.startswith(SIGNS):
        return False
    return role is not Role.ASSISTANT or (speaker != "function_call" and is_words(value))


def _is_answered(following: Wire | None) -> bool:
    """Say whether results may follow a turn: the next turn is a tool's, or none came yet."""
    if following is None:
        return True
    speaker = known_string(following, "from") or known_string(following, "role")
    return ROLES.get(speaker) is Role.TOOL


def _after_summary(text: str) -> list[Part] | None:
    """Return a reply that begins like a summary, with the calls in the words after that."""
    marked = read(text)
    if marked is None or not marked.rest:
        return None
    parts = parse_reply(marked.rest)
    if parts is None or not any(isinstance(part, ToolCall) for part in parts):
        return None
    return [Text(text.removesuffix(marked.rest).rstrip()), *parts]


def encode(transcript: Transcript) -> Body:
    """Write the turns of a conversation."""
    system: str | None = None
    turns: list[Wire] = []
    in_parts = any(own(message.extras, _TURN).get("parts") for message in transcript)
    write = write_parts_turn if in_parts else write_turn
    for message in _together(transcript):
        if own(message.extras, _TURN).get("beside") and not turns:
            system = _value(message)
        else:
            turns += [write(each) for each in _apart(message)]
    return Body(turns, system)


def _together(transcript: Transcript) -> list[Message]:
    """Return the messages with those that add calls to a waiting one joined to it."""
    joined: list[Message] = []
    for message in transcript:
        last = joined[-1] if joined else None
        if last and last.calls and last.role is message.role is Role.ASSISTANT:
            joined[-1] = Message(Role.ASSISTANT, last.parts + message.parts)
        else:
            joined.append(message)
    return joined


def _apart(message: Message) -> list[Message]:
    """Return the messages that become turns: results stand apart from everything else."""
    if message.role is Role.TOOL or message.results:
        answers = replace(message, role=Role.TOOL, parts=message.results)
        found = [answers] if answers.parts else []
        rest = tuple(part for part in message.parts if not isinstance(part, ToolResult))
        role = Role.USER if message.role is Role.TOOL else message.role
        return [*found, Message(role, rest)] if rest else found
    if message.parts and not portable(message, NAME):
        return []
    return [message]


def write_parts_turn(message: Message) -> Wire:
    """Write a message as a turn that is a list of parts."""
    noted = own(message.extras, _TURN)
    content: object = render_parts(_sayable(message))
    if "value" in noted and noted["rendering"] == content:
        content = noted["value"]
    speaker = known_string(noted, "from") if noted.get("parts") else ""
    speaker = speaker or ROLE_NAMES[message.role]
    return {"role": speaker, "content": content, **own(message.extras, NAME)}


def _sayable(message: Message) -> tuple[Part, ...]:
    """Return the parts of a message in words, reasoning, calls and results."""
    if message.results:
        return tuple(_worded(result) for result in message.results)
    return _texts(marked_texts(message, portable(message, NAME)))


def write_turn(message: Message) -> Wire:
    """Write a message as a turn of text."""
    noted = own(message.extras, _TURN)
    speaker = known_string(noted, "from") or _USUAL[message.role]
    if speaker == "function_call" and message.calls and len(message.parts) > 1:
        speaker = "gpt"
    value = _value(message)
    if "value" in noted and noted["rendering"] == value:
        value = known_string(noted, "value")
    return {"from": speaker, "value": value, **own(message.extras, NAME)}


def _value(message: Message) -> str:
    match message.parts:
        case (ToolCall() as call,) if own(message.extras, _TURN).get("from") == "function_call":
            return render_call(call)
        case (ToolResult(extras=extras) as result,) if own(extras, NAME).get("bare"):
            return result.text
        case (ToolResult(), *_):
            return render_answers([_worded(result) for result in message.results])
        case _:
            parts = portable(message, NAME)
    text = as_string(message, parts, NAME)
    if text is not None:
        return text
    texts = _texts(marked_texts(message, parts))
    if message.role is Role.ASSISTANT:
        return render_reply(texts)
    return "\n\n".join(part.text for part in texts if isinstance(part, Text))


def _worded(result: ToolResult) -> ToolResult:
    parts = _texts(portable(Message(Role.TOOL, result.content), NAME))
    return replace(result, content=tuple(part for part in parts if isinstance(part, Text)))


def _texts(parts: Sequence[Part]) -> tuple[Part, ...]:
    return tuple(Text(placeholder(part)) if isinstance(part, Media) else part for part in parts)


def validate(body: Body) -> tuple[Violation, ...]:
    """Name every turn that a reader of ShareGPT cannot use, and the rule it breaks."""
    found: list[Violation] = []
    before: Role | None = None
    for index, turn in enumerate(body.messages):
        in_parts = has_parts(turn)
        speaker = turn.get("role" if in_parts else "from")
        role = ROLES.get(speaker) if isinstance(speaker, str) else None
        if role is None:
            found.append(Violation(index, "unknown-role", f"there is no role {speaker!r}"))
        if in_parts:
            if not all("type" in part and "value" in part for part in records(turn["content"])):
                problem = "a part of a turn has a type and a value"
                found.append(Violation(index, "shape", problem))
        elif not isinstance(turn.get("value"), str):
            found.append(Violation(index, "shape", "the value of a turn is text"))
        if role is Role.TOOL and before not in (Role.ASSISTANT, Role.TOOL):
            problem = "a result must follow the turn that called"
            found.append(Violation(index, "ordering", problem))
        before = role
    return tuple(found)
